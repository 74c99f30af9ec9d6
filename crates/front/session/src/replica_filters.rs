//! Which statements of a replication source the channel's filters let through (manual, 19.2.5).

use catalog::Version;
use replica::Filters;
use sql::ast::{
    Assignment, Delete, Expr, Grant, ObjectName, Parsed, PrivilegeLevel, RevokeWhat, Statement, TableFactor,
};

/// What a statement changes, as filters ask.
enum Changes {
    /// Nothing that they have rules about.
    Other,
    Database(String),
    /// None: it only reads tables, or what it is about is not here.
    Tables(Vec<(String, String)>),
}

/// Does a statement that ran in `database` pass the filters? Rules about databases go by that one, but for statements that make, alter and
/// drop databases.
pub(crate) fn is_taken(parsed: &Parsed, database: &str, filters: &Filters, version: &Version) -> bool {
    match changes(parsed, database, version) {
        Changes::Database(name) => filters.takes_definition(&name),
        _ if !filters.takes_database(database) => false,
        Changes::Other => true,
        Changes::Tables(tables) => {
            let names = tables.iter().map(|(schema, table)| (schema.as_str(), table.as_str()));
            filters.takes_tables(names)
        }
    }
}

fn changes(parsed: &Parsed, database: &str, version: &Version) -> Changes {
    use Statement as S;
    let named = |name: &ObjectName| {
        let schema = name.schema.map_or(database, |schema| parsed.name(schema));
        (schema.to_string(), parsed.name(name.name).to_string())
    };
    let one = |name: &ObjectName| Changes::Tables(vec![named(name)]);
    let all = |names: &[ObjectName]| Changes::Tables(names.iter().map(named).collect());
    match &parsed.statement {
        S::CreateDatabase(create) => Changes::Database(parsed.name(create.name).to_string()),
        S::AlterDatabase(alter) => Changes::Database(alter.name.map_or(database, |name| parsed.name(name)).to_string()),
        S::DropDatabase { name, .. } => Changes::Database(parsed.name(*name).to_string()),
        S::CreateTable(create) => one(&create.name),
        S::AlterTable(alter) => one(&alter.name),
        // Also where its creation was left out: nothing happens then.
        S::DropTable { temporary: true, if_exists: true, .. } => Changes::Other,
        S::DropTable { names, .. } | S::DropView { names, .. } => all(names),
        S::RenameTable(pairs) => {
            Changes::Tables(pairs.iter().flat_map(|(from, to)| [named(from), named(to)]).collect())
        }
        S::TruncateTable(name) => one(name),
        S::CreateIndex(create) => one(&create.table),
        S::DropIndex(drop) => one(&drop.table),
        S::CreateView(create) => one(&create.name),
        S::CreateTrigger(create) => one(&create.table),
        S::DropProgram { kind: sql::ast::ProgramKind::Trigger, name, .. } => {
            let (schema, trigger) = named(name);
            // Where there is none, it was left out when it was made.
            let table = version.trigger(&schema, &trigger).map(|(table, _)| (schema, table.name.to_string()));
            Changes::Tables(table.into_iter().collect())
        }
        S::Grant(grant) => match &**grant {
            // Of a routine, too.
            Grant::Privileges { level: PrivilegeLevel::Object(name), .. } => one(name),
            _ => Changes::Other,
        },
        S::Revoke(revoke) => match &revoke.what {
            RevokeWhat::Privileges { level: PrivilegeLevel::Object(name), .. } => one(name),
            _ => Changes::Other,
        },
        S::Insert(insert) => one(&insert.table),
        S::LoadData(load) => one(&load.table),
        S::Update(update) => {
            let factors = parsed.factors(update.tables);
            let written = match &factors[..] {
                [only] => vec![*only],
                several => assigned(parsed, &update.set, several, |factor| named(&factor.name), version),
            };
            Changes::Tables(written.iter().map(|factor| named(&factor.name)).collect())
        }
        S::Delete(delete) => Changes::Tables(deleted(parsed, delete).iter().map(named).collect()),
        S::Query(_) | S::Do(_) if !parsed.table_refs().is_empty() => Changes::Tables(Vec::new()),
        _ => Changes::Other,
    }
}

/// Is this the table that a column or the head of a DELETE names?
fn is_named(parsed: &Parsed, factor: &TableFactor, schema: Option<&str>, name: &str) -> bool {
    let own = parsed.name(factor.alias.unwrap_or(factor.name.name));
    let in_schema = match (schema, factor.name.schema) {
        (Some(asked), Some(schema)) => asked == parsed.name(schema),
        _ => true,
    };
    in_schema && own == name
}

/// Of the tables of a multi-table UPDATE those that it assigns to. A column without a table is looked for in the tables here.
fn assigned<'a>(
    parsed: &Parsed,
    set: &[Assignment],
    factors: &[&'a TableFactor],
    named: impl Fn(&TableFactor) -> (String, String),
    version: &Version,
) -> Vec<&'a TableFactor> {
    let mut is_written = vec![false; factors.len()];
    for assignment in set {
        let Expr::Column { schema, table, column } = &parsed[assignment.column] else { continue };
        for (factor, is_written) in factors.iter().zip(&mut is_written) {
            *is_written |= match table {
                Some(table) => is_named(parsed, factor, schema.map(|s| parsed.name(s)), parsed.name(*table)),
                None => {
                    let (schema, table) = named(factor);
                    let column = parsed.name(*column);
                    version
                        .base_table(&schema, &table)
                        .is_some_and(|table| table.columns.iter().any(|c| c.name.eq_ignore_ascii_case(column)))
                }
            };
        }
    }
    factors.iter().zip(is_written).filter(|(_, is_written)| *is_written).map(|(factor, _)| *factor).collect()
}

/// Tables that a DELETE takes rows of.
fn deleted(parsed: &Parsed, delete: &Delete) -> Vec<ObjectName> {
    let factors = parsed.factors(delete.from);
    if delete.targets.is_empty() {
        return factors.iter().map(|factor| factor.name).collect();
    }
    let of_target = |target: &ObjectName| {
        let (schema, name) = (target.schema.map(|s| parsed.name(s)), parsed.name(target.name));
        let factor = factors.iter().find(|factor| is_named(parsed, factor, schema, name));
        factor.map_or(*target, |factor| factor.name)
    };
    delete.targets.iter().map(of_target).collect()
}
