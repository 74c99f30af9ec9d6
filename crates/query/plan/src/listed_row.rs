//! Rows in lists: `(a, b) IN ((1, 2), (3, 4))`. MySQL compares each member as the type that it has on the left, whatever stands in
//! the list: beside an integer 1.4 is 1, beside a text a number is its digits.

use crate::Planner;
use crate::comparison::compare_members;
use expr::operator::CmpOp;
use expr::{Expr, Node, boolean_type, moment, operand};
use types::codes::*;
use types::{CollationId, DataType, Decimal, Result, TypeKind, err};

const DOCUMENT_IN_ROW: &str =
    "This version of MySQL doesn't yet support 'comparison of JSON within a ROW in the IN operator'";

/// Digits behind the point of a DECIMAL that a text is read as.
const SCALE_MAX: u8 = 30;

impl Planner<'_> {
    /// A row and one of a list, which may be `alone` in it: then MySQL compares two rows, but brings no constant to a column. Errors
    /// 1241, 1267, 1292, 1525.
    pub(super) fn listed_row(&mut self, a: Vec<Expr>, b: Vec<Expr>, alone: bool) -> Result<Expr> {
        if a.len() != b.len() {
            return Err(err!(ER_OPERAND_COLUMNS, a.len()));
        }
        let nullable = a.iter().chain(&b).any(|e| e.ty.nullable);
        if alone {
            self.note_literals(&a, &b)?;
            let pairs = a.into_iter().zip(b);
            let all: Vec<Expr> = pairs.map(|(x, y)| compare_members(CmpOp::Eq, x, y)).collect::<Result<_>>()?;
            return Ok(Expr::new(Node::And(all), boolean_type(nullable)));
        }
        let mut all = Vec::with_capacity(a.len());
        for (x, y) in a.into_iter().zip(b) {
            let y = self.listed_member(&x, y)?;
            let x = if x.ty.kind == TypeKind::Json { self.text_of(x, CollationId::UTF8MB4_BIN) } else { x };
            let y = under_collation_of(&x, y);
            all.push(compare_members(CmpOp::Eq, x, y)?);
        }
        Ok(Expr::new(Node::And(all), boolean_type(nullable)))
    }

    /// A member of a listed row as the type that its fellow on the left has.
    fn listed_member(&mut self, left: &Expr, e: Expr) -> Result<Expr> {
        use TypeKind as K;
        let is_document = [left, &e].iter().any(|e| e.ty.kind == K::Json);
        if is_document && !self.warnings.literal_warnings.iter().any(|(code, _)| *code == ER_NOT_SUPPORTED_YET) {
            self.warnings.literal_warnings.push((ER_NOT_SUPPORTED_YET, DOCUMENT_IN_ROW.to_string()));
        }
        // Of a decimal literal that was lifted nothing is known but that it is not NULL.
        let kind = if e.ty.kind == K::Null && !e.ty.nullable { K::Decimal } else { e.ty.kind };
        let is_text = kind.is_text() || kind.is_bytes();
        let is_double = matches!(kind, K::Float | K::Double);
        let nullable = e.ty.nullable;
        Ok(match left.ty.kind {
            _ if kind == K::Null => e,
            K::Date | K::DateTime | K::Timestamp => {
                self.note_bound(&e, left)?;
                match kind.is_numeric() {
                    true => self.conversion(moment::of(e)),
                    false => e,
                }
            }
            K::Time if is_text => self.conversion(moment::listed_time(e)),
            K::Time if kind.is_temporal() && kind != K::Time => {
                let text = self.text_of(e, CollationId::UTF8MB4_0900_AI_CI);
                self.conversion(moment::listed_time(text))
            }
            K::Decimal if is_text || is_double || kind.is_temporal() => {
                self.listed_as(e, DataType::decimal(Decimal::MAX_PRECISION, SCALE_MAX))
            }
            K::Float | K::Double if is_text || kind.is_temporal() => {
                self.listed_as(operand::enum_number(e), DataType { length: 23, ..DataType::new(K::Double) })
            }
            K::Decimal | K::Float | K::Double | K::Time => e,
            own if own.is_integer() || matches!(own, K::Year | K::Bit) => {
                let e = operand::enum_number(e);
                let is_integer = e.ty.kind.is_integer() || matches!(e.ty.kind, K::Year | K::Bit);
                let ty = DataType { length: 21, nullable, ..DataType::new(K::BigInt) };
                if is_integer { e } else { self.listed_as(e, ty) }
            }
            K::Json if kind == K::Json || !is_text => self.text_of(e, CollationId::UTF8MB4_BIN),
            _ if kind == K::Json || !is_text => self.text_of(e, left.ty.collation),
            _ => e,
        })
    }

    fn listed_as(&mut self, e: Expr, ty: DataType) -> Expr {
        let ty = DataType { nullable: true, ..ty };
        self.conversion(Expr::new(Node::Cast(Box::new(e)), ty))
    }

    fn text_of(&mut self, e: Expr, collation: CollationId) -> Expr {
        let ty = DataType { nullable: e.ty.nullable, ..DataType::string(TypeKind::LongText, u32::MAX, collation) };
        self.conversion(Expr::new(Node::Cast(Box::new(e)), ty))
    }

    /// In the select list MySQL converts for each row, in a condition once.
    fn conversion(&mut self, e: Expr) -> Expr {
        if self.scope.clause == "field list" { e } else { self.kept_value(e) }
    }
}

/// A text that is listed beside one of the same character set: the left one's collation decides, whatever the other's is.
fn under_collation_of(left: &Expr, e: Expr) -> Expr {
    let is_text = |e: &Expr| e.ty.kind.is_text() && e.ty.kind != TypeKind::Json;
    let (own, other) = (left.ty.collation, e.ty.collation);
    if !is_text(left) || !is_text(&e) || own == other || own.charset() != other.charset() {
        return e;
    }
    let ty = DataType { kind: TypeKind::VarChar, length: u32::MAX, collation: own, ..e.ty };
    Expr::new(Node::Cast(Box::new(e)), ty)
}
