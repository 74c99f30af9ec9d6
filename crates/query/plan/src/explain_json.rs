//! EXPLAIN FORMAT=JSON: the table's lines as a document.

use super::explain::Row;
use std::fmt::Write as _;

/// The table's lines as a JSON document.
pub fn json(rows: &[Row]) -> String {
    let quoted = |s: &str| format!("\"{}\"", s.replace('\\', "\\\\").replace('"', "\\\""));
    let mut blocks: Vec<(u64, Vec<&Row>)> = Vec::new();
    for row in rows {
        let id = row.id.unwrap_or(0);
        match blocks.iter_mut().find(|(i, _)| *i == id) {
            Some((_, list)) => list.push(row),
            None => blocks.push((id, vec![row])),
        }
    }
    let table = |row: &Row, indent: &str| {
        let mut fields = Vec::new();
        let list = |l: &[String]| {
            let items: Vec<String> = l.iter().map(|s| format!("{indent}    {}", quoted(s))).collect();
            format!("[\n{}\n{indent}  ]", items.join(",\n"))
        };
        if let Some(t) = &row.table {
            fields.push(format!("\"table_name\": {}", quoted(t)));
        }
        if let Some(a) = row.access {
            fields.push(format!("\"access_type\": {}", quoted(a)));
        }
        if !row.possible_keys.is_empty() {
            fields.push(format!("\"possible_keys\": {}", list(&row.possible_keys)));
        }
        if let (Some(key), Some(length)) = (&row.key, &row.key_len) {
            fields.push(format!("\"key\": {}", quoted(key)));
            fields.push(format!("\"key_length\": {}", quoted(length)));
        }
        if !row.refs.is_empty() {
            fields.push(format!("\"ref\": {}", list(&row.refs)));
        }
        if let (Some(rows), Some(filtered)) = (row.rows, row.filtered) {
            fields.push(format!("\"rows_examined_per_scan\": {rows}"));
            fields.push(format!("\"rows_produced_per_join\": {}", (rows * filtered).round()));
            fields.push(format!("\"filtered\": \"{:.2}\"", filtered * 100.0));
        }
        for (extra, name) in [
            ("Using index", "using_index"),
            ("Using MRR", "using_MRR"),
            ("Using index for skip scan", "using_index_for_skip_scan"),
            ("Using temporary", "using_temporary_table"),
            ("Using filesort", "using_filesort"),
            ("Backward index scan", "backward_index_scan"),
        ] {
            if row.extra.contains(&extra) {
                fields.push(format!("\"{name}\": true"));
            }
        }
        if row.extra.contains(&"Not exists") {
            fields.push("\"not_exists\": true".to_string());
        }
        if let Some(table) = &row.first_match {
            fields.push(format!("\"first_match\": {}", quoted(table)));
        }
        let buffer = row.extra.iter().find_map(|e| e.strip_prefix("Using join buffer (")?.strip_suffix(')'));
        if let Some(how) = buffer {
            fields.push(format!("\"using_join_buffer\": {}", quoted(how)));
        }
        for message in ["No tables used", "Select tables optimized away"] {
            if row.extra.contains(&message) {
                fields.push(format!("\"message\": {}", quoted(message)));
            }
        }
        let by = format!(",\n{indent}  ");
        format!("{{\n{indent}  {}\n{indent}}}", fields.join(&by))
    };
    let block = |(id, list): &(u64, Vec<&Row>), indent: &str| {
        let inner = format!("{indent}  ");
        let tables = match &list[..] {
            [one] if one.table.is_none() => {
                format!("\"message\": {}", quoted(one.extra.first().unwrap_or(&"")))
            }
            [one] => format!("\"table\": {}", table(one, &inner)),
            many => {
                let deep = format!("{inner}    ");
                let item = |r: &&Row| format!("{inner}  {{\n{deep}\"table\": {}\n{inner}  }}", table(r, &deep));
                let items: Vec<String> = many.iter().map(item).collect();
                format!("\"nested_loop\": [\n{}\n{inner}]", items.join(",\n"))
            }
        };
        format!("{{\n{inner}\"select_id\": {id},\n{inner}{tables}\n{indent}}}")
    };
    let Some((first, rest)) = blocks.split_first() else { return "{}".to_string() };
    let mut out = format!("{{\n  \"query_block\": {}", block(first, "  "));
    if !rest.is_empty() {
        let items: Vec<String> =
            rest.iter().map(|b| format!("    {{\n      \"query_block\": {}\n    }}", block(b, "      "))).collect();
        let _ = write!(out, ",\n  \"other_query_blocks\": [\n{}\n  ]", items.join(",\n"));
    }
    out + "\n}"
}
