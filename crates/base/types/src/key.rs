//! Memory-comparable keys: `a < b` as SQL values of the key's types and collations iff the encoded bytes compare so.

use crate::{DataType, Value};

/// One part of an index key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPart {
    pub data_type: DataType,
    pub descending: bool,
    /// Characters (or bytes for binary strings) of a prefix index; 0: the whole value.
    pub prefix: u32,
}

/// Appends the encoding of one value to `out`. The value has the part's type already (coercion is done before).
pub fn encode_part(_out: &mut Vec<u8>, _part: &KeyPart, _value: &Value<'_>) {
    todo!()
}
