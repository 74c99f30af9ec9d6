//! JSON_ARRAYAGG and JSON_OBJECTAGG: the value of one row, and the document of all.

use types::Value;
use types::json::{Json, Object};

pub fn array<'a>(list: Vec<Json>) -> Value<'a> {
    Value::from_json(&Json::Array(list))
}

/// Of a key that several rows have, the last one's value counts.
pub fn object<'a>(members: Vec<(String, Json)>) -> Value<'a> {
    Value::from_json(&Json::Object(Object::from_members(members)))
}
