//! The types of window functions.

use crate::call::{WindowCall, WindowFunc};
use crate::{Expr, common, convert};
use types::codes::*;
use types::{DataType, Result, SqlError, TypeKind};

impl WindowCall {
    /// The type of the result. Error 1267 when LAG's or LEAD's default does not go with its expression.
    pub fn result_type(&self) -> Result<DataType> {
        let count = DataType { length: 21, ..DataType::new(TypeKind::BigInt).unsigned().not_null() };
        Ok(match &self.func {
            WindowFunc::RowNumber | WindowFunc::Rank | WindowFunc::DenseRank | WindowFunc::Ntile(_) => count,
            WindowFunc::PercentRank | WindowFunc::CumeDist => {
                DataType { length: 23, ..DataType::new(TypeKind::Double).not_null() }
            }
            WindowFunc::Lag(_) | WindowFunc::Lead(_) => {
                let all: Vec<&Expr> = self.args.iter().collect();
                let ty = widened(common::common_type(&all, "lag")?);
                // A default stands in for the rows that there are not.
                let nullable = self.args.len() < 2 || self.args.iter().any(|e| e.ty.nullable);
                DataType { unsigned: ty.unsigned && ty.kind != TypeKind::Decimal, nullable, ..ty }
            }
            WindowFunc::FirstValue | WindowFunc::LastValue | WindowFunc::NthValue(_) => {
                let Some(e) = self.args.first() else {
                    return Err(SqlError::new(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, "Incorrect parameter count"));
                };
                widened(e.ty)
            }
            WindowFunc::Aggregate(call) => DataType { nullable: call.ty.nullable, ..widened(call.ty) },
        })
    }
}

/// A value that was kept in a temporary table: MySQL has integers of two sizes there.
fn widened(ty: DataType) -> DataType {
    use TypeKind as K;
    let kind = match ty.kind {
        k if k.is_integer() && ty.length >= 10 => {
            let unsigned = convert::is_unsigned(&ty);
            return DataType { kind: K::BigInt, nullable: true, unsigned, zerofill: false, ..ty };
        }
        k if k.is_integer() || k == K::Year => K::Int,
        K::Char | K::Enum | K::Set => K::VarChar,
        K::Binary => K::VarBinary,
        K::TinyText => return DataType { nullable: true, ..DataType::string(K::VarChar, 255, ty.collation) },
        K::TinyBlob => return DataType { nullable: true, ..DataType::string(K::VarBinary, 255, ty.collation) },
        k => k,
    };
    let zerofill = ty.zerofill && !ty.kind.is_numeric() && ty.kind != K::Year;
    DataType { kind, nullable: true, unsigned: convert::is_unsigned(&ty), zerofill, ..ty }
}
