//! SHOW PROFILES, SHOW PROFILE and information_schema.PROFILING: what a session's statements were at, and what its thread used meanwhile.

use crate::columns::{int, varchar};
use crate::rows::Rows;
use crate::{Context, Row, text, uint, word};
use io::Usage;
use std::sync::Arc;
use types::{DataType, Decimal, Result, TypeKind, Value};

/// A stage begins.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    pub stage: &'static str,
    pub at_ns: u64,
    /// What the thread had used until then.
    pub usage: Usage,
}

/// A statement that was profiled.
#[derive(Clone, Debug)]
pub struct Profile {
    pub id: u64,
    pub text: String,
    /// The last one is no stage: the statement's end.
    pub marks: Vec<Mark>,
}

impl Profile {
    /// Of a statement without a stage there is no duration.
    fn took_ns(&self) -> u64 {
        let ends = self.marks.first().zip(self.marks.last());
        ends.map_or(0, |(first, last)| last.at_ns.saturating_sub(first.at_ns))
    }

    /// A row a stage, as PROFILING has it.
    fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        self.marks.windows(2).enumerate().map(|(at, pair)| {
            let ([from, to], id) = ([&pair[0], &pair[1]], self.id as i64);
            let grown =
                |figure: fn(&Usage) -> u64| Value::Int(figure(&to.usage).saturating_sub(figure(&from.usage)) as i64);
            let seconds = |figure: fn(&Usage) -> u64| decimal(figure(&to.usage).saturating_sub(figure(&from.usage)));
            let took_us = to.at_ns.saturating_sub(from.at_ns).div_ceil(1000);
            // MySQL numbers from 2.
            let mut row = vec![Value::Int(id), Value::Int(at as i64 + 2), word(from.stage), decimal(took_us)];
            row.extend([seconds(|u| u.user_us), seconds(|u| u.system_us)]);
            row.extend([grown(|u| u.switches_voluntary), grown(|u| u.switches_involuntary)]);
            row.extend([grown(|u| u.blocks_in), grown(|u| u.blocks_out)]);
            // Messages: Linux counts none.
            row.extend([Value::Int(0), Value::Int(0)]);
            row.extend([grown(|u| u.faults_major), grown(|u| u.faults_minor)]);
            // Swaps: Linux counts none. Places in sources are told by no stage.
            row.extend([Value::Int(0), Value::Null, Value::Null, Value::Null]);
            row
        })
    }
}

/// Microseconds as seconds with six decimals.
fn decimal(us: u64) -> Value<'static> {
    let (number, _) = Decimal::parse(format!("{}.{:06}", us / 1_000_000, us % 1_000_000).as_bytes());
    Value::Decimal(number)
}

/// information_schema.PROFILING
pub(crate) fn profiling(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.profiles.iter().flat_map(|profile| profile.rows()));
    Ok(())
}

/// SHOW PROFILES
pub fn profiles(kept: &[Arc<Profile>]) -> Rows {
    let seconds = DataType { decimals: 8, ..DataType::new(TypeKind::Double).unsigned() };
    let row = |p: &Arc<Profile>| {
        let took = p.took_ns().div_ceil(10) as f64 / 1e8;
        vec![uint(p.id), Value::Double(took), text(p.text.chars().take(300).collect::<String>())]
    };
    let columns = [("Query_ID", int().unsigned()), ("Duration", seconds), ("Query", varchar(300))];
    Rows::new(&columns, kept.iter().map(row).collect())
}

/// SHOW PROFILE: the columns of the types asked for, in their own order. `profile`: the one asked for, if it is kept.
pub fn profile(profile: Option<&Profile>, types: &[&str]) -> Rows {
    const BY_TYPE: [(&str, &[(&str, usize)]); 7] = [
        ("CPU", &[("CPU_user", 4), ("CPU_system", 5)]),
        ("CONTEXT SWITCHES", &[("Context_voluntary", 6), ("Context_involuntary", 7)]),
        ("BLOCK IO", &[("Block_ops_in", 8), ("Block_ops_out", 9)]),
        ("IPC", &[("Messages_sent", 10), ("Messages_received", 11)]),
        ("PAGE FAULTS", &[("Page_faults_major", 12), ("Page_faults_minor", 13)]),
        ("SWAPS", &[("Swaps", 14)]),
        ("SOURCE", &[("Source_function", 15), ("Source_file", 16), ("Source_line", 17)]),
    ];
    let asked = BY_TYPE.iter().filter(|(kind, _)| types.contains(kind) || types.contains(&"ALL"));
    let chosen: Vec<(&str, usize)> = [("Status", 2), ("Duration", 3)]
        .into_iter()
        .chain(asked.flat_map(|(_, columns)| columns.iter().copied()))
        .collect();
    let column = |&(name, _): &(&'static str, usize)| match name {
        "Duration" | "CPU_user" | "CPU_system" => (name, DataType::decimal(9, 6)),
        "Status" | "Source_function" => (name, varchar(30)),
        "Source_file" => (name, varchar(20)),
        _ => (name, int()),
    };
    let rows = profile.into_iter().flat_map(Profile::rows);
    let rows = rows.map(|row| chosen.iter().map(|(_, at)| row[*at].clone()).collect()).collect();
    Rows::new(&chosen.iter().map(column).collect::<Vec<_>>(), rows)
}
