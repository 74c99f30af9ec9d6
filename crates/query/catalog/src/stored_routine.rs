//! Routines as they are stored, as JSON.

use crate::routine::{Parameter, ParameterMode, Routine, RoutineAccess, RoutineKind};
use crate::stored::{self, FORMAT, PLAIN_FORMAT, StoredColumn};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// A [`Routine`] as it is stored, with the same fields.
#[derive(Serialize, Deserialize)]
struct StoredRoutine {
    format: u32,
    kind: RoutineKind,
    name: String,
    parameters: Vec<(ParameterMode, StoredColumn)>,
    parameter_text: String,
    returns: Option<StoredColumn>,
    body: String,
    access: RoutineAccess,
    deterministic: bool,
    invoker: bool,
    definer: String,
    comment: String,
    sql_mode: u64,
    client_charset: String,
    connection_collation: String,
    database_collation: String,
    created: u64,
    altered: u64,
}

pub fn write(routine: &Routine) -> Vec<u8> {
    let parameter = |p: &Parameter| (p.mode, stored::store_column(&p.column));
    let stored = StoredRoutine {
        format: PLAIN_FORMAT,
        kind: routine.kind,
        name: routine.name.clone(),
        parameters: routine.parameters.iter().map(parameter).collect(),
        parameter_text: routine.parameter_text.clone(),
        returns: routine.returns.as_ref().map(stored::store_column),
        body: routine.body.clone(),
        access: routine.access,
        deterministic: routine.deterministic,
        invoker: routine.invoker,
        definer: routine.definer.clone(),
        comment: routine.comment.clone(),
        sql_mode: routine.sql_mode,
        client_charset: routine.client_charset.clone(),
        connection_collation: routine.connection_collation.clone(),
        database_collation: routine.database_collation.clone(),
        created: routine.created,
        altered: routine.altered,
    };
    serde_json::to_vec(&stored).expect("texts become JSON")
}

/// `None`: not a routine that this version can read.
pub fn read(schema: &str, json: &[u8]) -> Option<Routine> {
    let stored: StoredRoutine = serde_json::from_slice(json).ok()?;
    if stored.format > FORMAT {
        return None;
    }
    let mut parameters = Vec::with_capacity(stored.parameters.len());
    for (mode, column) in stored.parameters {
        parameters.push(Parameter { mode, column: stored::load_column(column)? });
    }
    Some(Routine {
        schema: schema.to_string(),
        name: stored.name,
        kind: stored.kind,
        parameters,
        parameter_text: stored.parameter_text,
        returns: match stored.returns {
            Some(column) => Some(stored::load_column(column)?),
            None => None,
        },
        body: stored.body,
        access: stored.access,
        deterministic: stored.deterministic,
        invoker: stored.invoker,
        definer: stored.definer,
        comment: stored.comment,
        sql_mode: stored.sql_mode,
        client_charset: stored.client_charset,
        connection_collation: stored.connection_collation,
        database_collation: stored.database_collation,
        created: stored.created,
        altered: stored.altered,
        compiled: OnceLock::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;
    use types::{DataType, TypeKind};

    #[test]
    fn routines_are_read_as_they_were_written() {
        let column = |name: &str| Column::new(name, DataType::new(TypeKind::Int));
        let routine = Routine {
            schema: "s".to_string(),
            name: "P".to_string(),
            kind: RoutineKind::Function,
            parameters: vec![Parameter { mode: ParameterMode::InOut, column: column("x") }],
            parameter_text: "x INT".to_string(),
            returns: Some(column("")),
            body: "RETURN 'ü'".to_string(),
            access: RoutineAccess::ReadsSqlData,
            deterministic: true,
            invoker: true,
            definer: "root@localhost".to_string(),
            comment: "c".to_string(),
            sql_mode: 4,
            client_charset: "utf8mb4".to_string(),
            connection_collation: "utf8mb4_bin".to_string(),
            database_collation: "latin1_swedish_ci".to_string(),
            created: 7,
            altered: 8,
            compiled: OnceLock::new(),
        };
        let json = write(&routine);
        let again = read("s", &json).expect("it was written so");
        assert_eq!(write(&again), json);
        assert_eq!((again.name, again.parameters[0].mode), ("P".to_string(), ParameterMode::InOut));
        let later = String::from_utf8(json).expect("it is JSON").replace("\"format\":3", "\"format\":5");
        assert!(read("s", later.as_bytes()).is_none());
    }
}
