//! performance_schema: variables and status as tables; row locks are in `locks`.

use crate::columns::{Compute, computed, varchar};
use crate::{Context, Row, text, word};
use catalog::Schema;
use std::sync::Arc;
use types::Result;
use types::collation::CollationId;

pub(crate) fn schema() -> Schema {
    let mut schema = Schema::new("performance_schema", CollationId::UTF8MB4_0900_AI_CI);
    let columns = [("VARIABLE_NAME", varchar(64)), ("VARIABLE_VALUE", varchar(1024))];
    let tables: [(&str, Compute); 3] = [
        ("global_variables", global_variables),
        ("session_variables", session_variables),
        ("global_status", global_status),
    ];
    for (name, compute) in tables {
        let table = computed(&schema.name, name, &columns, compute);
        schema.tables.insert(name.to_string(), Arc::new(table));
    }
    crate::locks::add_to_performance_schema(&mut schema);
    schema
}

fn global_variables(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.source.global_variables().into_iter().map(|(name, value)| vec![word(name), text(value)]));
    Ok(())
}

fn session_variables(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.session_variables.iter().map(|(name, value)| vec![word(name), text(value.clone())]));
    Ok(())
}

fn global_status(cx: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(cx.status().into_iter().map(|(name, value)| vec![text(name), text(value)]));
    Ok(())
}
