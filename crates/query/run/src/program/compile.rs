//! From a routine of the dictionary to what runs.

use super::LocalType;
use crate::context::Around;
use catalog::eq_name;
use catalog::mdl::Pin;
use catalog::routine::{Routine, RoutineKind};
use catalog::{Column, Event, Table, Trigger};
use expr::error::parse_error;
use expr::lexer_mode;
use plan::column_type::column_type;
use sql::ast::{CreateColumnType, Expr, Local, Op, Parsed, Program, RowImage, Statement};
use sql::print::quote_name;
use std::sync::Arc;
use types::codes::*;
use types::collation::CollationId;
use types::sql_mode::SqlMode;
use types::{DataType, Result, TypeKind, err};

/// A routine as sessions run it.
pub struct Compiled {
    pub routine: RoutineName,
    /// The metadata lock of who calls it; of a trigger, nobody takes it.
    pub pin: Pin,
    source: Source,
    /// What each variable holds, by number; the value that a CASE compares has a column of no type.
    pub columns: Vec<Column>,
    pub types: Arc<[LocalType]>,
    /// What a function gives.
    pub returns: Option<Column>,
    /// What it is planned and run under.
    pub sql_mode: u64,
    pub connection_collation: CollationId,
    pub definer: String,
    pub invoker: bool,
    /// Some statement answers the client with rows.
    pub answers: bool,
    /// It does nothing but compute: see [`super::at_hand`].
    pub computes: bool,
    /// Of a trigger: the variables that are columns of its rows.
    pub row_columns: Vec<RowColumn>,
}

/// A session's hold on what all share: the sessions that call a routine count its users each for itself, and no word passes between
/// them.
#[derive(Clone)]
pub struct Own(Arc<Held>);

struct Held {
    compiled: Arc<Compiled>,
}

impl Own {
    /// The first owner of a compiled program.
    pub fn new(compiled: Arc<Compiled>) -> Own {
        Own(Arc::new(Held { compiled }))
    }

    /// Is it of that program?
    pub fn is(&self, other: &Compiled) -> bool {
        std::ptr::eq(&**self, other)
    }
}

impl std::ops::Deref for Own {
    type Target = Compiled;

    fn deref(&self) -> &Compiled {
        &self.0.compiled
    }
}

/// A variable of a trigger that is a column of NEW or OLD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowColumn {
    pub local: usize,
    pub image: RowImage,
    /// Its place in the table.
    pub column: usize,
    /// Some expression reads it; some SET or CALL sets it.
    pub is_read: bool,
    pub is_set: bool,
}

/// Where the instructions are.
enum Source {
    /// The whole CREATE statement, of a routine, a trigger or an event.
    Routine(Parsed),
    Statement(Program),
}

/// How a routine is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutineName {
    pub schema: String,
    pub kind: RoutineKind,
    pub name: String,
}

impl Compiled {
    /// The routine's compiled form, made by whoever asks first. Errors: those of its text, which was read when it was made.
    pub fn of(routine: &Routine) -> Result<Arc<Compiled>> {
        if let Some(compiled) = routine.compiled.get().and_then(|c| Arc::clone(c).downcast::<Compiled>().ok()) {
            return Ok(compiled);
        }
        let text = text_of(routine);
        let mode = SqlMode(routine.sql_mode);
        let parsed = sql::parse(text.as_bytes(), lexer_mode(mode)).map_err(|e| parse_error(&e))?;
        let Statement::CreateRoutine(create) = &parsed.statement else { return Err(types::error::syntax_error()) };
        let collation = CollationId::by_name(&routine.database_collation);
        let columns = columns_of(&parsed, &create.program, collation.unwrap_or(CollationId::UTF8MB4_0900_AI_CI), mode)?;
        let name = RoutineName { schema: routine.schema.clone(), kind: routine.kind, name: routine.name.clone() };
        let compiled = Compiled {
            pin: Pin::of_routine(name.kind, &name.schema, &name.name),
            routine: name,
            types: local_types(&columns, &[]),
            columns,
            returns: routine.returns.clone(),
            sql_mode: routine.sql_mode,
            connection_collation: CollationId::by_name(&routine.connection_collation)
                .unwrap_or(CollationId::UTF8MB4_0900_AI_CI),
            definer: routine.definer.clone(),
            invoker: routine.invoker,
            answers: answers(&create.program),
            computes: false,
            row_columns: Vec::new(),
            source: Source::Routine(parsed),
        };
        let compiled = Arc::new(compiled.find_computes());
        // Whoever was first has made the same.
        let _ = routine.compiled.set(Arc::clone(&compiled) as Arc<_>);
        Ok(compiled)
    }

    /// The same, if somebody has asked before.
    pub fn made(routine: &Routine) -> Option<&Compiled> {
        routine.compiled.get()?.downcast_ref()
    }

    /// A statement of the client's that the interpreter runs: CALL, SIGNAL, RESIGNAL, GET DIAGNOSTICS.
    pub fn of_statement(parsed: Arc<Parsed>) -> Own {
        let program = Program { parts: vec![parsed], code: vec![Op::Run(0)], ..Program::default() };
        let nothing = String::new;
        Own::new(Arc::new(Compiled {
            routine: RoutineName { schema: nothing(), kind: RoutineKind::Procedure, name: nothing() },
            pin: Pin::of_routine(RoutineKind::Procedure, "", ""),
            source: Source::Statement(program),
            columns: Vec::new(),
            types: Arc::from([]),
            returns: None,
            sql_mode: 0,
            connection_collation: CollationId::UTF8MB4_0900_AI_CI,
            definer: nothing(),
            invoker: true,
            answers: false,
            computes: false,
            row_columns: Vec::new(),
        }))
    }

    /// A trigger of this version of its table. Errors: 1054 for columns that have gone.
    pub fn of_trigger(table: &Table, trigger: &Trigger) -> Result<Arc<Compiled>> {
        if let Some(compiled) = trigger.compiled.get().and_then(|c| Arc::clone(c).downcast::<Compiled>().ok()) {
            return Ok(compiled);
        }
        let (name, on) = (quote_name(&trigger.name), quote_name(&table.name));
        let (timing, event) = (trigger.timing(), trigger.event.word());
        let text = format!("CREATE TRIGGER {name} {timing} {event} ON {on} FOR EACH ROW\n{}", trigger.body);
        let mode = SqlMode(trigger.sql_mode);
        let parsed = sql::parse(text.as_bytes(), lexer_mode(mode)).map_err(|e| parse_error(&e))?;
        let Statement::CreateTrigger(create) = &parsed.statement else { return Err(types::error::syntax_error()) };
        let collation = CollationId::by_name(&trigger.database_collation);
        let collation = collation.unwrap_or(CollationId::UTF8MB4_0900_AI_CI);
        let (columns, row_columns) = trigger_columns(&parsed, &create.program, table, collation, mode)?;
        let (kind, name) = (RoutineKind::Trigger, trigger.name.clone());
        let compiled = Compiled {
            pin: Pin::of_routine(kind, &table.schema, &name),
            routine: RoutineName { schema: table.schema.clone(), kind, name },
            types: local_types(&columns, &row_columns),
            columns,
            returns: None,
            sql_mode: trigger.sql_mode,
            connection_collation: CollationId::by_name(&trigger.connection_collation)
                .unwrap_or(CollationId::UTF8MB4_0900_AI_CI),
            definer: trigger.definer.clone(),
            invoker: false,
            answers: false,
            computes: false,
            row_columns,
            source: Source::Routine(parsed),
        };
        let compiled = Arc::new(compiled.find_computes());
        let _ = trigger.compiled.set(Arc::clone(&compiled) as Arc<_>);
        Ok(compiled)
    }

    /// An event. Errors: those of its text, which was read when it was made.
    pub fn of_event(event: &Event) -> Result<Arc<Compiled>> {
        if let Some(compiled) = event.compiled.get().and_then(|c| Arc::clone(c).downcast::<Compiled>().ok()) {
            return Ok(compiled);
        }
        let text = format!("CREATE EVENT {} ON SCHEDULE AT 1 DO\n{}", quote_name(&event.name), event.body);
        let mode = SqlMode(event.settings.sql_mode);
        let parsed = sql::parse(text.as_bytes(), lexer_mode(mode)).map_err(|e| parse_error(&e))?;
        let Statement::CreateEvent(create) = &parsed.statement else { return Err(types::error::syntax_error()) };
        let collation = CollationId::by_name(&event.settings.database_collation);
        let columns = columns_of(&parsed, &create.program, collation.unwrap_or(CollationId::UTF8MB4_0900_AI_CI), mode)?;
        let (kind, name) = (RoutineKind::Event, event.name.clone());
        let compiled = Compiled {
            pin: Pin::of_routine(kind, &event.schema, &name),
            routine: RoutineName { schema: event.schema.clone(), kind, name },
            types: local_types(&columns, &[]),
            columns,
            returns: None,
            sql_mode: event.settings.sql_mode,
            connection_collation: CollationId::by_name(&event.settings.connection_collation)
                .unwrap_or(CollationId::UTF8MB4_0900_AI_CI),
            definer: event.definer.clone(),
            invoker: false,
            // Nobody reads them.
            answers: false,
            computes: false,
            row_columns: Vec::new(),
            source: Source::Routine(parsed),
        };
        let compiled = Arc::new(compiled.find_computes());
        let _ = event.compiled.set(Arc::clone(&compiled) as Arc<_>);
        Ok(compiled)
    }

    /// What it is planned and run under.
    pub fn around(&self, user: Option<String>) -> Around<'_> {
        let (schema, sql_mode) = (self.routine.schema.as_str(), self.sql_mode);
        Around { schema, sql_mode, collation: self.connection_collation, user }
    }

    /// The operations.
    pub fn program(&self) -> &Program {
        match &self.source {
            Source::Statement(program) => program,
            Source::Routine(parsed) => match &parsed.statement {
                Statement::CreateRoutine(create) => &create.program,
                Statement::CreateTrigger(create) => &create.program,
                Statement::CreateEvent(create) => &create.program,
                _ => unreachable!("looked at when it was compiled"),
            },
        }
    }
}

/// The text that the routine is read from again.
fn text_of(routine: &Routine) -> String {
    let returns = match routine.kind {
        // Its type is known, any that is short will do.
        RoutineKind::Function => " RETURNS INT",
        _ => "",
    };
    let (schema, name) = (quote_name(&routine.schema), quote_name(&routine.name));
    format!("CREATE {} {schema}.{name}({}){returns}\n{}", routine.kind.word(), routine.parameter_text, routine.body)
}

fn answers(program: &Program) -> bool {
    let is_answer = |op: &Op| match op {
        Op::Run(part) => {
            let part = &program.parts[*part as usize];
            match &part.statement {
                Statement::Query(query) => part[*query].into.is_none(),
                Statement::Show(_) | Statement::Explain(_) | Statement::DescribeTable { .. } => true,
                Statement::TableMaintenance(_) | Statement::Help(_) => true,
                _ => false,
            }
        }
        _ => false,
    };
    program.code.iter().any(is_answer)
}

/// The variables of a routine or an event as columns. Errors 1074, 1425, 1426, 1115, ...
pub fn columns_of(parsed: &Parsed, program: &Program, collation: CollationId, mode: SqlMode) -> Result<Vec<Column>> {
    program.locals.iter().map(|local| declared(parsed, local, collation, mode)).collect()
}

fn declared(parsed: &Parsed, local: &Local, collation: CollationId, mode: SqlMode) -> Result<Column> {
    match &local.data_type {
        Some(t) => variable(parsed, &local.name, t, collation, mode),
        None => Ok(Column::new("", DataType::new(TypeKind::Null))),
    }
}

/// What plans know of the variables. Messages number those that were declared, and name the others as columns of their row.
fn local_types(columns: &[Column], rows: &[RowColumn]) -> Arc<[LocalType]> {
    let mut declared = 0;
    let of = |(at, column): (usize, &Column)| {
        let row = rows.iter().find(|row| row.local == at);
        let name = match row {
            Some(row) if row.image == RowImage::New => format!("NEW.{}", column.name),
            Some(_) => format!("OLD.{}", column.name),
            // The operand of a CASE.
            None if column.name.is_empty() => String::new(),
            None => {
                declared += 1;
                format!("{}@{}", column.name, declared - 1)
            }
        };
        LocalType { name: name.into(), ..LocalType::of(column) }
    };
    columns.iter().enumerate().map(of).collect()
}

/// The variables of a trigger as columns, and those that are columns of its rows. Errors 1054 and as of [`columns_of`].
pub fn trigger_columns(
    parsed: &Parsed,
    program: &Program,
    table: &Table,
    collation: CollationId,
    mode: SqlMode,
) -> Result<(Vec<Column>, Vec<RowColumn>)> {
    let (mut columns, mut rows) = (Vec::new(), Vec::new());
    for (at, local) in program.locals.iter().enumerate() {
        let Some(image) = local.row else {
            columns.push(declared(parsed, local, collation, mode)?);
            continue;
        };
        let row = if image == RowImage::New { "NEW" } else { "OLD" };
        let column = table.column_position(&local.name).ok_or_else(|| err!(ER_BAD_FIELD_ERROR, local.name, row))?;
        let own = &table.columns[column];
        // NULL is refused in the end, once all triggers have had their say.
        let data_type = DataType { nullable: true, ..own.data_type };
        columns.push(Column { members: own.members.clone(), ..Column::new(&own.name, data_type) });
        let reads = |e: &Expr| matches!(e, Expr::Local(l) if *l as usize == at);
        let is_read = program.parts.iter().any(|part| part.exprs().iter().any(reads));
        let is_set = program.code.iter().any(|op| matches!(op, Op::Set { local, .. } if *local as usize == at));
        rows.push(RowColumn { local: at, image, column, is_read, is_set });
    }
    Ok((columns, rows))
}

/// A variable, parameter or result of such a type as a column.
pub fn variable(
    parsed: &Parsed,
    name: &str,
    t: &CreateColumnType,
    collation: CollationId,
    mode: SqlMode,
) -> Result<Column> {
    let (data_type, members) = column_type(parsed, "", t, collation, !mode.is_strict())?;
    let twice = |(i, m): (usize, &String)| members[..i].iter().any(|other| eq_name(other, m));
    if let Some((_, member)) = members.iter().enumerate().find(|(i, m)| twice((*i, m))) {
        let kind = if data_type.kind == TypeKind::Enum { "ENUM" } else { "SET" };
        return Err(err!(ER_DUPLICATED_VALUE_IN_TYPE, name, member, kind));
    }
    let data_type = DataType { nullable: true, ..data_type };
    Ok(Column { members, ..Column::new(name, data_type) })
}
