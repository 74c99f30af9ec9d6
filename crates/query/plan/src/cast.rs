//! CAST and CONVERT: the type that they make, AT TIME ZONE.

use crate::Planner;
use crate::parameter::{self, Takes};
use expr::error::unsupported;
use expr::{Expr, Node, common, convert, functions, operand, wide};
use sql::ast::{self, CastType};
use types::codes::*;
use types::datatype::DECIMALS_NOT_FIXED;
use types::{CollationId, DataType, Result, SqlError, TypeKind, Value, err};

impl Planner<'_> {
    pub(super) fn cast(&mut self, cast: &ast::Cast) -> Result<Expr> {
        if cast.array {
            let where_else = "outside of functional index in CREATE(non-SELECT)/ALTER TABLE or in general expressions";
            return Err(unsupported(&format!("Use of CAST( .. AS .. ARRAY) {where_else}")));
        }
        if let Some(zone) = cast.time_zone {
            return self.cast_at_time_zone(cast, zone);
        }
        let e = operand::enum_text_or_number(
            self.expr_for(cast.operand, &self.operand_type(cast.to), Takes::Any)?,
            matches!(
                cast.to,
                CastType::Signed
                    | CastType::Unsigned
                    | CastType::Decimal(..)
                    | CastType::Double
                    | CastType::Float(_)
                    | CastType::Year
            ),
        );
        let mut ty = self.cast_type(cast.to, &e.ty)?;
        // A YEAR that is no column's is a number for a TIME.
        let is_number = ty.kind == TypeKind::Time && e.ty.kind == TypeKind::Year && e.own_column().is_none();
        let e = if is_number { common::to_type(e, parameter::integer_type()) } else { e };
        let e = if ty.kind.is_text() || ty.kind.is_bytes() { e } else { wide::plain(e) };
        let mut e = e;
        if ty.kind == TypeKind::Json && expr::document::is_boolean(&e) {
            // A cast sees the type alone.
            e.ty.length = 1;
        }
        let is_real = matches!(ty.kind, TypeKind::Double | TypeKind::Float);
        let is_shifted = ty.kind == TypeKind::Decimal && operand::is_shifted_text(&e);
        let e = if is_real || is_shifted { operand::number_of_long(e) } else { e };
        let strict = || types::SqlMode(self.env.sql_mode()).is_strict();
        let of_bytes = ty.kind.is_text() && e.ty.collation.is_binary() && e.ty.kind.is_bytes();
        let may_fail =
            matches!(ty.kind, TypeKind::Year | TypeKind::Json) || (ty.kind.is_bytes() || of_bytes) && strict();
        ty.nullable = e.ty.nullable || ty.kind.is_temporal() || may_fail;
        if ty.kind == TypeKind::Date
            && let Node::Const(Value::Bytes(text)) = &e.node
            && let Some(date) = convert::plain_date(text)
        {
            return Ok(Expr::new(Node::Const(Value::Date(date)), ty));
        }
        Ok(Expr::new(Node::Cast(Box::new(e)), ty))
    }

    /// CAST(moment AT TIME ZONE 'zone' AS DATETIME): of a TIMESTAMP, column or literal, alone. Errors 3998, 1298.
    fn cast_at_time_zone(&mut self, cast: &ast::Cast, zone: ast::Str) -> Result<Expr> {
        let literal =
            matches!(self.parsed[cast.operand], ast::Expr::Temporal { kind: ast::TemporalKind::DateTime, .. });
        let moment = self.expr(cast.operand)?;
        if !literal && !matches!(moment.ty.kind, TypeKind::Timestamp | TypeKind::Null) {
            return Err(err!(ER_INVALID_CAST, "TIMESTAMP WITH TIME ZONE"));
        }
        let name = String::from_utf8_lossy(self.parsed.bytes(zone)).into_owned();
        // Of distances, MySQL takes UTC's alone.
        let known = !name.starts_with(['+', '-']) || name == "+00:00";
        if !known || expr::time_zone::TimeZone::parse(&name).is_none() {
            return Err(err!(ER_UNKNOWN_TIME_ZONE, name));
        }
        let mut ty = self.cast_type(cast.to, &moment.ty)?;
        ty.nullable = true;
        Ok(functions::temporal::at_time_zone(moment, name, ty))
    }

    /// What stands for `?` as the operand of a CAST.
    fn operand_type(&self, to: CastType) -> DataType {
        match to {
            CastType::Signed | CastType::Unsigned => parameter::integer_type(),
            CastType::Decimal(..) => parameter::decimal_type(),
            CastType::Double | CastType::Float(_) => parameter::double_type(),
            CastType::Date => parameter::moment_type(TypeKind::Date),
            CastType::Time(_) | CastType::DateTime(_) => parameter::moment_type(TypeKind::DateTime),
            CastType::Year => DataType { zerofill: false, ..DataType::new(TypeKind::Year).unsigned() },
            CastType::Json => convert::json_type(),
            CastType::Binary(_) => parameter::binary_type(),
            CastType::Char { .. } | CastType::NChar(_) | CastType::Spatial => self.text_parameter(),
        }
    }

    /// The type that CAST makes of a value of type `from`.
    pub(super) fn cast_type(&self, to: CastType, from: &DataType) -> Result<DataType> {
        Ok(match to {
            CastType::Signed => DataType { length: 21, ..DataType::new(TypeKind::BigInt) },
            CastType::Unsigned => DataType { length: 21, ..DataType::new(TypeKind::BigInt).unsigned() },
            // A length that was written is filled up: marked by ZEROFILL.
            CastType::Binary(None) => functions::lengths::whole(from, CollationId::BINARY),
            CastType::Binary(Some(n)) => {
                DataType { zerofill: true, ..DataType::string(TypeKind::VarBinary, n, CollationId::BINARY) }
            }
            CastType::Char { length, charset } => {
                let collation = match charset {
                    Some(c) => self.charset(self.parsed.name(c))?,
                    None => self.settings.literal_collation,
                };
                let kind = if collation.is_binary() { TypeKind::VarBinary } else { TypeKind::VarChar };
                match (from.kind, length) {
                    (TypeKind::Json, None) => DataType::string(TypeKind::LongText, u32::MAX, collation),
                    (_, None) => functions::lengths::whole(from, collation),
                    (_, Some(n)) => DataType::string(kind, n, collation),
                }
            }
            CastType::NChar(None) => functions::lengths::whole(from, CollationId::UTF8MB3_GENERAL_CI),
            CastType::NChar(Some(n)) => DataType::string(TypeKind::VarChar, n, CollationId::UTF8MB3_GENERAL_CI),
            CastType::Date => DataType { length: 10, ..DataType::new(TypeKind::Date) },
            CastType::Time(d @ 7..) | CastType::DateTime(d @ 7..) => {
                return Err(err!(ER_TOO_BIG_PRECISION, d, "CAST", 6));
            }
            CastType::Time(d) => DataType { length: 10, decimals: d, ..DataType::new(TypeKind::Time) },
            CastType::DateTime(d) => DataType { length: 19, decimals: d, ..DataType::new(TypeKind::DateTime) },
            CastType::Year => DataType { zerofill: false, ..DataType::new(TypeKind::Year).unsigned() },
            CastType::Decimal(p, s) => {
                let (p, s) = (p.unwrap_or(10), s.unwrap_or(0));
                if s > p {
                    return Err(SqlError::new(
                        ER_M_BIGGER_THAN_D,
                        "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '').",
                    ));
                }
                DataType::decimal(if p == 0 { 10 } else { p as u32 }, s)
            }
            CastType::Float(p) => {
                if let Some(p) = p
                    && p > 53
                {
                    return Err(err!(ER_TOO_BIG_PRECISION, p, "CAST", 53));
                }
                let kind = if p.is_some_and(|p| p > 24) { TypeKind::Double } else { TypeKind::Float };
                DataType { length: 12, decimals: DECIMALS_NOT_FIXED, ..DataType::new(kind) }
            }
            CastType::Double => DataType { length: 22, ..DataType::new(TypeKind::Double) },
            CastType::Json => convert::json_type(),
            CastType::Spatial => return Err(unsupported("spatial types")),
        })
    }
}
