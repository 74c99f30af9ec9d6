//! A source's changes: where the applier is, and the tables that they go to.

use crate::Server;
use binlog::decode::{Fit, SourceColumn, SourceTable};
use catalog::Column;
use catalog::dictionary::{self, Kind};
use engine::Transaction;
use replica::{Mark, Origin, Position};
use run::Run;
use run::apply::RowApplier;
use std::cell::RefCell;
use std::collections::HashMap;
use types::codes::*;
use types::collation::CollationId;
use types::gtid::Gtid;
use types::{DataType, Result, StoreContext, TypeKind, Value, err};

/// The dictionary entry of a channel that says where its next transaction begins. Of commits out of order each applier has one of its own,
/// `position.3`, so that none waits for another one's, and the last counts.
pub(crate) const POSITION_ENTRY: &str = "position";

/// `ahead.binlog.000007.1234`: the end of a transaction that is committed behind such a position.
pub(crate) const AHEAD_ENTRY: &str = "ahead.";

pub(crate) fn ahead_entry(end: &Position) -> String {
    format!("{AHEAD_ENTRY}{}.{}", end.file, end.offset)
}

/// What a session that applies has beside others.
pub(crate) struct Applied {
    pub channel: String,
    /// Among the channel's appliers.
    pub number: usize,
    pub origin: Origin,
    /// What the next commit stores, once.
    pub mark: RefCell<Option<Mark>>,
    /// What was stored last: where the transaction at hand begins.
    pub stored: RefCell<Position>,
}

impl Applied {
    pub fn gtid(&self) -> Option<Gtid> {
        self.origin.head.gtid
    }

    pub fn server_id(&self) -> u32 {
        self.origin.server_id
    }

    /// When it was committed first, microseconds since 1970, and the version of the server that did; 0: not known.
    pub fn original(&self) -> (u64, u32) {
        (self.origin.head.original_commit_us, self.origin.head.original_version)
    }

    /// Before a commit of `tx`: the position behind what it does, if it has not been stored.
    pub fn store(&self, server: &Server, tx: &mut Transaction) -> Result<()> {
        let Some(mark) = self.mark.borrow_mut().take() else { return Ok(()) };
        let tree = server.engine.dictionary();
        let mut put =
            |name: &str, value: &[u8]| dictionary::put(tx, tree, Kind::Replication, &self.channel, name, value);
        match mark.is_own {
            true => put(&format!("{POSITION_ENTRY}.{}", self.number), &mark.low.encode())?,
            false => put(POSITION_ENTRY, &mark.low.encode())?,
        }
        if let Some(end) = &mark.ahead {
            put(&ahead_entry(end), &end.encode())?;
        }
        for end in &mark.passed {
            put(&ahead_entry(end), &[])?;
        }
        *self.stored.borrow_mut() = mark.low;
        Ok(())
    }
}

/// One column of a source's table.
pub(crate) struct Mapped {
    /// Its place here; `None`: there is no such column.
    pub place: Option<usize>,
    pub fit: Fit,
}

/// A source's table and the one here that it is written to.
pub(crate) struct Target {
    pub rows: RowApplier,
    /// [`catalog::Version::number`] that it was made for.
    pub number: u64,
    pub source: SourceTable,
    pub columns: Vec<Mapped>,
}

/// Tables that row events are of and where their rows go here, by the numbers of one source.
#[derive(Default)]
pub(crate) struct Targets(pub(crate) HashMap<u64, Target>);

/// Brings an image into the order and the types of the table here. Generated columns are computed here.
pub(crate) fn place<'v>(
    row: &mut Vec<Option<Value<'v>>>,
    theirs: &[SourceColumn],
    mapped: &[Mapped],
    ours: &[Column],
    out: &mut Vec<Option<Value<'v>>>,
    run: &Run<'_>,
) -> Result<()> {
    out.clear();
    out.resize_with(ours.len(), || None);
    for ((value, mapped), theirs) in row.drain(..).zip(mapped).zip(theirs) {
        let (Some(value), Some(place)) = (value, mapped.place) else { continue };
        out[place] = Some(stored(value, &theirs.data_type, mapped.fit, &ours[place], run)?);
    }
    Ok(())
}

/// A value as the column here stores it. Bytes that are no text of its character set, and numbers of members that it has not, stay
/// outside, whoever sent them. Error 1366.
pub(crate) fn stored<'v>(
    value: Value<'v>,
    theirs: &DataType,
    fit: Fit,
    ours: &Column,
    run: &Run<'_>,
) -> Result<Value<'v>> {
    let incorrect =
        |kind: &str, shown: String| Err(err!(ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, kind, shown, ours.name, 1));
    match (&value, ours.data_type.kind) {
        (Value::Bytes(bytes), kind) if kind.is_text() => {
            let valid = ours.data_type.collation.charset().valid_up_to(bytes);
            if valid < bytes.len() {
                return incorrect("string", types::show_bytes(&bytes[valid..]));
            }
        }
        (Value::UInt(n), TypeKind::Enum) if *n > ours.members.len() as u64 => {
            return incorrect("integer", n.to_string());
        }
        (Value::UInt(n), TypeKind::Set) if n.checked_shr(ours.members.len() as u32).unwrap_or(0) != 0 => {
            return incorrect("integer", n.to_string());
        }
        _ => {}
    }
    match (value, ours.data_type.kind) {
        (Value::Null, _) if !ours.data_type.nullable => Ok(expr::store::implicit_default(&ours.data_type)),
        (Value::Null, _) => Ok(Value::Null),
        // Their zeros at the end stay at the source.
        (Value::Bytes(bytes), TypeKind::Binary) if fit == Fit::Same => {
            let mut bytes = bytes.into_owned();
            bytes.resize(ours.data_type.length as usize, 0);
            Ok(Value::Bytes(bytes.into()))
        }
        (value @ Value::Bytes(_), TypeKind::Json) => convert(value, theirs, ours, run),
        (value, _) if fit == Fit::Same => Ok(value),
        (value, _) => convert(value, theirs, ours, run),
    }
}

pub(crate) fn convert<'v>(value: Value<'v>, theirs: &DataType, ours: &Column, run: &Run<'_>) -> Result<Value<'v>> {
    let context = StoreContext { mode: run.evaluation.sql_mode, column: &ours.name, row: 1, members: &ours.members };
    // Texts come in the character set that the column here has.
    let theirs = match (&value, ours.data_type.kind.is_text()) {
        (Value::Bytes(_), true) => DataType { collation: ours.data_type.collation, kind: TypeKind::VarChar, ..*theirs },
        (Value::Bytes(_), false) if ours.data_type.kind == TypeKind::Json => {
            DataType { collation: CollationId::UTF8MB4_0900_AI_CI, kind: TypeKind::LongText, ..*theirs }
        }
        _ => *theirs,
    };
    types::coerce_for_store(value, &theirs, &ours.data_type, &context).map(|(value, _)| value)
}
