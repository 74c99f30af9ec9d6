//! Predicates: IS, LIKE, BETWEEN, IN, AND, OR.

use crate::constant::is_known;
use crate::parameter::Otherwise;
use crate::{Planner, parameter};
use expr::compare;
use expr::operator::CmpOp;
use expr::{Expr, Node, adapt, between, boolean_type, convert, escape, functions, list as lists, moment, operand};
use sql::ast::{self, Expr as Ast, ExprId, ExprList};
use types::codes::*;
use types::{Result, TypeKind, Value, err};

const BETWEEN_DOCUMENTS: &str =
    "This version of MySQL doesn't yet support 'comparison of JSON in the BETWEEN operator'";

impl Planner<'_> {
    pub(super) fn connective(&mut self, conditions: ExprList, make: fn(Vec<Expr>) -> Node) -> Result<Expr> {
        let parsed = self.parsed;
        let integer = parameter::integer_type();
        let list: Result<Vec<Expr>> = parsed.list(conditions).iter().map(|e| self.expr_like(*e, &integer)).collect();
        let list: Vec<Expr> = list?.into_iter().map(|e| self.truth(e)).collect();
        let ty = boolean_type(list.iter().any(|e| e.ty.nullable));
        Ok(Expr::new(make(list), ty))
    }

    /// IS [NOT] NULL, TRUE, FALSE, UNKNOWN.
    pub(super) fn is_test(&mut self, operand: ExprId, negated: bool, test: ast::Truth) -> Result<Expr> {
        let operand = self.expr(operand)?;
        let asks_null = matches!(test, ast::Truth::Null | ast::Truth::Unknown);
        let rolls_up = self.scope.blocks.last().is_some_and(|block| block.rolls_up);
        if asks_null && !negated && is_known(&operand) && !operand.ty.nullable && !rolls_up {
            // What is never NULL is not asked.
            return Ok(Expr::new(Node::Const(Value::Int(0)), boolean_type(false)));
        }
        let operand = Box::new(if asks_null { operand } else { self.truth(operand) });
        let node = match test {
            _ if asks_null && !negated => return Ok(self.asked_early(Node::IsNull { negated, operand })),
            ast::Truth::Null | ast::Truth::Unknown => Node::IsNull { negated, operand },
            ast::Truth::True => Node::IsTruth { negated, truth: true, operand },
            ast::Truth::False => Node::IsTruth { negated, truth: false, operand },
        };
        Ok(Expr::new(node, boolean_type(false)))
    }

    /// Errors 1210 of ESCAPE, 1267.
    pub(super) fn like(
        &mut self,
        operand: ExprId,
        negated: bool,
        pattern: ExprId,
        escape: Option<ExprId>,
    ) -> Result<Expr> {
        let (a, b) = (self.expr(operand)?, self.expr(pattern)?);
        let escape = escape.map(|e| self.expr_like(e, &self.text_parameter())).transpose()?;
        let all: Vec<&Expr> = [&a, &b].into_iter().chain(&escape).collect();
        let collation = compare::collation_for(&all, "like")?;
        let (a, b) = (compare::in_charset(a, collation), compare::in_charset(b, collation));
        let (b, escape) = match escape {
            Some(e) if !matches!(e.node, Node::Const(_)) && !escape::depends_on_row(&e) => {
                (escape::of_pattern(b, e), Some(escape::KNOWN_ESCAPE))
            }
            escape => (b, escape_character(escape)?),
        };
        let nullable = a.ty.nullable || b.ty.nullable;
        let node = Node::Like { negated, operands: Box::new([a, b]), escape, collation };
        Ok(Expr::new(node, boolean_type(nullable)))
    }

    pub(super) fn between(&mut self, operand: ExprId, negated: bool, low: ExprId, high: ExprId) -> Result<Expr> {
        let operands = self.alike(&[operand, low, high], &self.text_parameter())?;
        let [e, low, high]: [Expr; 3] = operands.try_into().expect("three operands");
        let is_document = |e: &&Expr| e.ty.kind == TypeKind::Json;
        let [e, low, high] = match [&e, &low, &high].iter().any(is_document) {
            true => {
                self.warnings.literal_warnings.push((ER_NOT_SUPPORTED_YET, BETWEEN_DOCUMENTS.to_string()));
                functions::json::between([e, low, high])
            }
            false => [e, low, high],
        };
        if e.ty.kind == TypeKind::Time {
            self.note_parameters([&low, &high], Otherwise::Midnight);
        }
        let were_moments = [&low, &high].map(|e| e.ty.kind.is_temporal());
        let (low, high) = (self.beside_bound(low, &e)?, self.beside_bound(high, &e)?);
        let are_moments = [&low, &high].map(|e| e.ty.kind.is_temporal());
        let held = [0, 1].map(|i| are_moments[i] && !were_moments[i]);
        let (low, high) = (adapt::beside_moment(low, &e), adapt::beside_moment(high, &e));
        // Beside a number texts are numbers, whatever their collations are.
        let has_number = [&e, &low, &high].iter().any(|e| e.ty.kind.is_numeric());
        let collation = match has_number {
            true => self.settings.literal_collation,
            false => compare::collation_for(&[&e, &low, &high], "between")?,
        };
        let [e, low, high] = between::in_one_domain([e, low, high], held);
        let (low, high) = (adapt::adapt(low, &e), adapt::adapt(high, &e));
        let operands = [e, low, high];
        let are_texts = !has_number && !operands[0].ty.kind.is_temporal();
        let [e, low, high] = operands.map(|e| if are_texts { compare::in_charset(e, collation) } else { e });
        let nullable = e.ty.nullable || low.ty.nullable || high.ty.nullable;
        let node = Node::Between { negated, operands: Box::new([e, low, high]), collation };
        Ok(Expr::new(node, boolean_type(nullable)))
    }

    pub(super) fn in_list(&mut self, operand: ExprId, negated: bool, list: ExprList) -> Result<Expr> {
        let parsed = self.parsed;
        if let Ast::Row(members) = &parsed[operand] {
            return self.row_in(*members, list, negated);
        }
        let all: Vec<ExprId> = std::iter::once(operand).chain(parsed.list(list).iter().copied()).collect();
        let mut list = self.alike(&all, &self.text_parameter())?;
        let e = list.remove(0);
        if list.len() == 1 {
            let op = if negated { CmpOp::Ne } else { CmpOp::Eq };
            return self.compare_pair(op, e, list.remove(0));
        }
        // A document makes documents of all, not numbers.
        let has_document = list.iter().chain([&e]).any(|e| e.ty.kind == TypeKind::Json);
        let are_numbers = !has_document && list.iter().all(compare::is_number);
        let has_two_faces = e.members().is_some() || convert::is_hex_literal(&e);
        if !are_numbers && has_two_faces && list.iter().any(compare::is_number) {
            return super::rows::listed_each(e, list, negated);
        }
        let (e, list) = moment::text_in_moments(e, list);
        let e = adapt::year_in_texts(e, &list);
        let e = if are_numbers { operand::number_of_long(e) } else { e };
        // Beside numbers a hexadecimal literal is one, and an ENUM or a SET.
        let e = if are_numbers { operand::enum_number(e) } else { e };
        self.note_list(&e, &list)?;
        let list = if has_document { list } else { self.listed_beside(&e, list) };
        let (e, list) = functions::json::in_one_domain(e, list);
        let mut all = vec![&e];
        all.extend(list.iter());
        // A number is looked for among numbers, whatever the collations of texts are.
        let collation = match e.ty.kind.is_numeric() {
            true => self.settings.literal_collation,
            false => compare::collation_for(&all, " IN ")?,
        };
        let nullable = e.ty.nullable || list.iter().any(|e| e.ty.nullable);
        let e = compare::in_charset(e, collation);
        let list = list.into_iter().map(|e| compare::in_charset(e, collation)).collect();
        let list = self.once_listed(&e, list);
        let kept = if lists::is_kept(&list) { self.next_once() } else { 0 };
        let node = Node::In { negated, operand: Box::new(e), list, collation, kept };
        Ok(Expr::new(node, boolean_type(nullable)))
    }
}

/// Error 1210 of an ESCAPE that is no constant of at most one character.
fn escape_character(escape: Option<Expr>) -> Result<Option<char>> {
    let (value, ty) = match escape.map(|e| (e.node, e.ty)) {
        None | Some((Node::Const(Value::Null), _)) => return Ok(Some('\\')),
        Some((Node::Const(value), ty)) => (value, ty),
        Some(_) => return Err(err!(ER_WRONG_ARGUMENTS, "ESCAPE")),
    };
    let text = convert::text(&value, &ty);
    let bytes = ty.collation.charset().to_utf8(&text);
    let text = String::from_utf8_lossy(&bytes);
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (first, None) => Ok(first),
        _ => Err(err!(ER_WRONG_ARGUMENTS, "ESCAPE")),
    }
}
