//! Conversions of values in expressions: to integers, doubles, DECIMAL, temporals and text, as MySQL's `Item::val_*` do.

use crate::{DataType, Decimal, Value};

impl Value<'_> {
    /// As a signed integer (64 bits): decimals and doubles round, strings take their leading integer, out of range saturates.
    /// NULL is 0.
    pub fn to_i64(&self) -> i64 {
        todo!()
    }

    /// As an unsigned integer; negative numbers saturate to 0.
    pub fn to_u64(&self) -> u64 {
        todo!()
    }

    /// NULL is 0; strings take their leading number.
    pub fn to_f64(&self) -> f64 {
        todo!()
    }

    pub fn to_decimal(&self) -> Decimal {
        todo!()
    }

    /// Truth value; `None` for NULL.
    pub fn to_bool(&self) -> Option<bool> {
        todo!()
    }

    /// Appends the value as a client of the text protocol sees it (and CAST AS CHAR makes it). NULL appends nothing.
    /// `data_type` gives zerofill width, scale, fractional seconds digits, FLOAT.
    pub fn write_text(&self, _data_type: &DataType, _out: &mut Vec<u8>) {
        todo!()
    }
}
