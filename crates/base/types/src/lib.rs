//! SQL values and types: what a column can hold, how it compares, coerces, prints and is laid out as
//! bytes in keys and rows. Pure functions over data, but for the question whether to go on ([`work`]); no locks, no files, no sockets.

pub mod base64;
pub mod charset;
pub mod collation;
pub mod compare;
pub mod convert;
pub mod datatype;
pub mod decimal;
pub mod error;
pub mod gtid;
pub mod json;
pub mod key;
pub mod number;
pub mod row;
pub mod sql_mode;
pub mod store;
pub mod temporal;
pub mod value;
pub mod work;

pub use charset::Charset;
pub use collation::CollationId;
pub use compare::{compare, compare_nulls_first};
pub use datatype::{DECIMALS_NOT_FIXED, DataType, TypeKind};
pub use decimal::Decimal;
pub use error::{Level, Result, SqlError, Warning, codes};
pub use key::KeyPart;
pub use row::RowLayout;
pub use sql_mode::SqlMode;
pub use store::{StoreContext, coerce_for_store, show_bytes};
pub use temporal::{Date, DateTime, Time};
pub use value::Value;

/// `a == b`, for tables that the compiler looks things up in.
pub const fn const_eq(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}
