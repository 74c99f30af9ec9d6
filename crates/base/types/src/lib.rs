//! SQL values and types: what a column can hold, how it compares, coerces, prints and is laid out as
//! bytes in keys and rows. Pure functions over data; no locks, no files, no sockets.

pub mod datatype;
pub mod decimal;
pub mod error;
pub mod key;
pub mod row;
pub mod temporal;
pub mod value;

pub use datatype::{DataType, TypeKind};
pub use decimal::Decimal;
pub use error::{Result, SqlError};
pub use temporal::{Date, DateTime, Time};
pub use value::Value;
