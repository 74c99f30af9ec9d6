//! The values of IN beside the operand that is looked for among them.

use crate::parameter::Otherwise;
use crate::{Planner, constant};
use expr::{Expr, Node, adapt, compare, convert, moment, operand};
use types::{Result, TypeKind};

impl Planner<'_> {
    /// Literals that are read as dates, each once. Errors 1292.
    pub(super) fn note_list(&mut self, operand: &Expr, list: &[Expr]) -> Result<()> {
        let is_day = |e: &Expr| {
            constant::is_text(e) || matches!(e.ty.kind, TypeKind::Date | TypeKind::Null) && !compare::is_number(e)
        };
        let days = list.iter().all(|e| constant::is_known(e) && is_day(e));
        list.iter().try_for_each(|e| self.note_listed(e, operand, days))
    }

    /// Two and more values, none of them a document. Constants are converted once where all are constants.
    pub(super) fn listed_beside(&mut self, operand: &Expr, list: Vec<Expr>) -> Vec<Expr> {
        let are_known = list.iter().all(constant::is_known);
        if are_known {
            self.note_listed_parameters(operand, &list);
        }
        // With numbers, dates or columns among them a TIME is compared with each by itself, and what is no time is none of them.
        let is_date = |e: &Expr| e.ty.kind.is_temporal() && e.ty.kind != TypeKind::Time;
        let is_mixed = !are_known || list.iter().any(|e| compare::is_number(e) || is_date(e));
        let mut all = Vec::with_capacity(list.len());
        for e in list {
            let is_given = matches!(e.node, Node::Const(_) | Node::Param(_));
            let e = match operand.ty.kind {
                // A YEAR is not compared with years of two digits here.
                TypeKind::Year if convert::is_hex_literal(&e) || e.members().is_some() => operand::enum_number(e),
                TypeKind::Year => e,
                TypeKind::Time
                    if constant::is_text(&e) && e.ty.kind != TypeKind::Json && !self.is_open_parameter(&e) =>
                {
                    if is_mixed {
                        moment::sought_time(e)
                    } else {
                        moment::listed_time(e)
                    }
                }
                TypeKind::Date if are_known && is_given && !self.is_open_parameter(&e) => moment::listed_date(e),
                _ => adapt::adapt(adapt::beside_moment(e, operand), operand),
            };
            all.push(if are_known { self.kept_value(e) } else { e });
        }
        all
    }

    /// Does `?` stand for it? Its value has become one of the parameter's type.
    fn is_open_parameter(&self, e: &Expr) -> bool {
        matches!(e.node, Node::Param(n) if self.is_of_client(n))
    }

    /// What is given for `?` among constants and is no date or time equals none, or is midnight.
    fn note_listed_parameters(&mut self, operand: &Expr, list: &[Expr]) {
        let otherwise = match operand.ty.kind {
            TypeKind::Date => Otherwise::Nobody,
            TypeKind::Time => Otherwise::Midnight,
            _ => return,
        };
        self.note_parameters(list, otherwise);
    }
}
