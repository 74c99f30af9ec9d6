//! JSON_ARRAYAGG and JSON_OBJECTAGG: the value of one row, and the document of all.

use super::made;
use types::json::{Json, Object};
use types::{Result, Value};

/// Error 3157.
pub fn array<'a>(list: Vec<Json>) -> Result<Value<'a>> {
    made(&Json::Array(list))
}

/// Of a key that several rows have, the last one's value counts. Error 3157.
pub fn object<'a>(members: Vec<(String, Json)>) -> Result<Value<'a>> {
    made(&Json::Object(Object::from_members(members)))
}
