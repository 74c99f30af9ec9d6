//! ANALYZE TABLE ... UPDATE HISTOGRAM and DROP HISTOGRAM. What is wrong with a table or a column is a line of the result, as in
//! MySQL; the other columns get their histograms.

use crate::needs::Action;
use crate::session::{Done, Session};
use crate::variables::{VarId, id};
use catalog::eq_name;
use catalog::histogram::{BUCKETS_DEFAULT, BUCKETS_MAX, Domain};
use catalog::{Histogram, Table};
use ddl::histogram::{Wanted, collect};
use engine::Isolation;
use expr::Env;
use protocol::Output;
use sql::ast::{self, Parsed, TableMaintenance};
use std::sync::Arc;
use types::codes::*;
use types::{DateTime, Result, SqlError, err, json};

const MEMORY: VarId = id("histogram_generation_max_mem_size");

/// (Msg_type, Msg_text)
type Line = (&'static str, String);

/// What is to become of the histograms of some columns.
enum Change<'s> {
    Update { buckets: u64, auto_update: bool },
    Data(&'s [u8]),
    Drop,
}

impl Session {
    pub(crate) fn maintain_histograms(
        &mut self,
        parsed: &Parsed,
        statement: &TableMaintenance,
        asked: &ast::Histogram,
        out: &mut Output,
    ) -> Result<Done> {
        let names: Vec<&str> = asked.columns.iter().map(|n| parsed.name(*n)).collect();
        let again = |(i, n): &(usize, &&str)| names[..*i].iter().any(|other| eq_name(other, n));
        if let Some((_, name)) = names.iter().enumerate().find(again) {
            return Err(err!(ER_DUP_FIELDNAME, name));
        }
        if asked.buckets.is_some_and(|n| !(1..=BUCKETS_MAX).contains(&n)) {
            return Err(err!(ER_DATA_OUT_OF_RANGE, "Number of buckets", "ANALYZE TABLE"));
        }
        let change = match (asked.drop, asked.data) {
            (true, _) => Change::Drop,
            (_, Some(data)) => Change::Data(parsed.bytes(data)),
            _ => Change::Update {
                buckets: asked.buckets.unwrap_or(BUCKETS_DEFAULT),
                auto_update: asked.auto_update.unwrap_or(false),
            },
        };
        self.commit_all()?;
        let tables: Result<Vec<(String, String)>> = statement.tables.iter().map(|n| self.object(parsed, *n)).collect();
        let tables = tables?;
        for (i, (schema, table)) in tables.iter().enumerate() {
            if tables[..i].iter().any(|t| t.0 == *schema && t.1 == *table) {
                return Err(err!(ER_NONUNIQ_TABLE, table));
            }
            if schema != "mysql" {
                self.refuse_system_schema(schema)?;
            }
            self.need_on(Action::Analyze, schema, table)?;
        }
        let (title, lines) = match &tables[..] {
            [(schema, table)] => (format!("{schema}.{table}"), self.change_histograms(schema, table, &names, &change)?),
            _ => {
                let one = "Only one table can be specified while modifying histogram statistics.";
                (String::new(), vec![("Error", one.to_string())])
            }
        };
        self.log_maintenance(parsed, statement)?;
        let rows = lines.into_iter().map(|(kind, text)| [title.clone(), "histogram".into(), kind.into(), text]);
        self.send_maintained(rows.collect(), out)
    }

    /// What there is to say of one table.
    fn change_histograms(
        &mut self,
        schema: &str,
        table: &str,
        names: &[&str],
        change: &Change<'_>,
    ) -> Result<Vec<Line>> {
        let refused = if self.is_temporary(schema, table) {
            Some("Cannot create histogram statistics for a temporary table.")
        } else if schema == "mysql" {
            Some("Histograms are not supported on the MySQL system schema.")
        } else if matches!(change, Change::Data(_)) && names.len() > 1 {
            Some("Only one column can be specified while modifying histogram statistics with JSON data.")
        } else if !matches!(change, Change::Drop) && self.is_encrypted(schema, table) {
            Some("Cannot create histogram statistics for an encrypted table.")
        } else {
            None
        };
        if let Some(refused) = refused {
            return Ok(vec![("Error", refused.to_string())]);
        }
        let made = match change {
            Change::Drop => self.drop_histograms(schema, table, names),
            Change::Update { buckets, auto_update } => {
                self.update_histograms(schema, table, names, *buckets, *auto_update)
            }
            Change::Data(data) => self.set_histogram(schema, table, names[0], data),
        };
        match made {
            Err(e) if e.code == ER_WRONG_OBJECT => {
                Ok(vec![("Error", "Cannot create histogram statistics for a view.".to_string())])
            }
            Err(e) if matches!(e.code, ER_TABLE_NOT_LOCKED_FOR_WRITE | ER_TABLE_NOT_LOCKED | ER_NO_SUCH_TABLE) => {
                Ok(vec![("Error", e.message)])
            }
            made => made,
        }
    }

    fn drop_histograms(&mut self, schema: &str, table: &str, names: &[&str]) -> Result<Vec<Line>> {
        let mut names = names.to_vec();
        names.sort_unstable();
        self.define(|ddl| {
            let old = ddl.lock_to_sample(schema, table)?;
            let found = |name: &&str| old.column_position(name).filter(|c| old.columns[*c].histogram.is_some());
            let lines = names.iter().map(|name| match found(name) {
                Some(_) => ("status", format!("Histogram statistics removed for column '{name}'.")),
                None if old.column_position(name).is_none() => ("Error", no_column(name)),
                None => ("Error", format!("No histogram statistics found for column '{name}'.")),
            });
            let lines = lines.collect();
            let positions: Vec<usize> = names.iter().filter_map(found).collect();
            if !positions.is_empty() {
                ddl.alter_table(&old, |t| positions.iter().for_each(|c| t.columns[*c].histogram = None))?;
            }
            Ok(lines)
        })
    }

    fn update_histograms(
        &mut self,
        schema: &str,
        table: &str,
        names: &[&str],
        buckets: u64,
        auto_update: bool,
    ) -> Result<Vec<Line>> {
        let wanted = |table: &Table| {
            let (mut wanted, mut lines) = (Vec::new(), Vec::new());
            for name in names {
                let at = usable_column(table, name);
                let name = table.column_position(name).map_or(*name, |c| &table.columns[c].name);
                let line = match at {
                    Ok(column) => {
                        wanted.push(Wanted { column, buckets, auto_update });
                        ("status", format!("Histogram statistics created for column '{name}'."))
                    }
                    Err(wrong) => ("Error", wrong),
                };
                lines.push((name.to_string(), line));
            }
            lines.sort_by(|(a, _), (b, _)| a.cmp(b));
            (wanted, lines.into_iter().map(|(_, line)| line).collect())
        };
        self.sample_histograms(schema, table, wanted)
    }

    /// Makes those anew that were made with AUTO UPDATE.
    pub(crate) fn refresh_histograms(&mut self, table: &Table) -> Result<()> {
        let automatic = |table: &Table| -> (Vec<Wanted>, Vec<Line>) {
            let columns = table.columns.iter().enumerate().filter_map(|(i, c)| Some((i, c.histogram.as_deref()?)));
            let automatic = columns.filter(|(_, h)| h.auto_update);
            let wanted =
                automatic.map(|(column, h)| Wanted { column, buckets: h.buckets_specified, auto_update: true });
            (wanted.collect(), Vec::new())
        };
        if automatic(table).0.is_empty() || table.temporary {
            return Ok(());
        }
        self.sample_histograms(&table.schema, &table.name, automatic).map(drop)
    }

    /// Reads the rows once for all of the histograms. Writers go on: the rows are those of one snapshot.
    fn sample_histograms(
        &mut self,
        schema: &str,
        table: &str,
        wanted: impl FnOnce(&Table) -> (Vec<Wanted>, Vec<Line>),
    ) -> Result<Vec<Line>> {
        let memory = self.state.vars.uint(MEMORY);
        self.define_at(Isolation::RepeatableRead, |ddl, state| {
            let old = ddl.lock_to_sample(schema, table)?;
            let (wanted, lines) = wanted(&old);
            if wanted.is_empty() {
                return Ok(lines);
            }
            let estimate = ddl.engine().estimate(old.indexes[0].tree);
            let (rows, _) = estimate.map_err(catalog::error::from_engine)?;
            let made = collect(ddl.tx(), state, &old, &wanted, (rows, memory))?;
            ddl.alter_table(&old, |t| {
                for (w, histogram) in wanted.iter().zip(made) {
                    t.columns[w.column].histogram = Some(Arc::new(histogram));
                }
            })?;
            Ok(lines)
        })
    }

    /// USING DATA
    fn set_histogram(&mut self, schema: &str, table: &str, name: &str, data: &[u8]) -> Result<Vec<Line>> {
        let data = json::parse::parse(data);
        self.define_with(|ddl, state| {
            let old = ddl.lock_to_sample(schema, table)?;
            let at = match usable_column(&old, name) {
                Ok(at) => at,
                Err(wrong) => return Ok(vec![("Error", wrong)]),
            };
            let name = &old.columns[at].name;
            let unable = (
                "Error",
                format!("Unable to build histogram statistics for column '{name}' in table '{schema}'.'{table}'"),
            );
            let document = match data {
                Ok(document) => document,
                Err(failure) => {
                    let malformed = malformed(&failure);
                    return Ok(vec![("Error", malformed.message), unable, ("Error", "JSON format error.".to_string())]);
                }
            };
            let us = state.now_us();
            let now = DateTime::from_unix(us.div_euclid(1_000_000), us.rem_euclid(1_000_000) as u32);
            let now = now.unwrap_or(DateTime::ZERO);
            match Histogram::of_data(&document, &old.columns[at], now) {
                Err(wrong) => Ok(vec![unable, ("Error", wrong)]),
                Ok(made) => {
                    let line = ("status", format!("Histogram statistics created for column '{name}'."));
                    ddl.alter_table(&old, |t| t.columns[at].histogram = Some(Arc::new(made)))?;
                    Ok(vec![line])
                }
            }
        })
    }
}

/// Error 3141 as the function that reads the text would say it.
fn malformed(failure: &json::parse::Failure) -> SqlError {
    err!(ER_INVALID_JSON_TEXT_IN_PARAM, 1, "UPDATE HISTOGRAM", format!("\"{}\"", failure.message), failure.at, "")
}

fn no_column(name: &str) -> String {
    format!("The column '{name}' does not exist.")
}

/// A column that may have a histogram, or why it has none.
fn usable_column(table: &Table, name: &str) -> std::result::Result<usize, String> {
    let at = table.column_position(name).ok_or_else(|| no_column(name))?;
    let column = &table.columns[at];
    if Domain::of(&column.data_type).is_none() {
        return Err(format!("The column '{}' has an unsupported data type.", column.name));
    }
    if table.is_unique_alone(at) {
        return Err(format!("The column '{}' is covered by a single-part unique index.", column.name));
    }
    Ok(at)
}
