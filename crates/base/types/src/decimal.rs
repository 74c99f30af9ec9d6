//! Exact DECIMAL(65,30).

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {}
