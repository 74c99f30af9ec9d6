//! The types of parameters, from where they stand.
//!
//! An expression is *open* when it has no type of its own: a `?`, a user variable that nothing was assigned to, or arithmetic or a
//! choice of nothing else. Operators plan their
//! other operands first and say what an open one is to be: the type of the operand beside it, what a function takes, or what stands
//! for itself where nothing is known (a double for arithmetic, a text for all else). Values that have arrived give their own types
//! instead:
//! see [`super`].

use crate::Planner;
use crate::comparison::compare_case;
use crate::expression::{case, negate};
use crate::parameter::{self, Otherwise, Parameter, Takes};
use expr::functions::json;
use expr::functions::parameters::arguments_of;
use expr::{Expr, Node, variable, written};
use sql::ast::{BinaryOp, Builtin, Expr as Ast, ExprId, ExprList, IntervalUnit, UnaryOp};
use types::{DataType, Result, TypeKind};

impl Planner<'_> {
    /// Does the expression take its type from where it stands?
    pub(crate) fn is_open(&self, id: ExprId) -> bool {
        match &self.parsed[id] {
            Ast::Param(n) => self.params.get(*n as usize).is_none_or(|t| t.kind == TypeKind::Null && t.nullable),
            Ast::UserVar(name) => self.type_of_variable(*name).kind == TypeKind::Null,
            Ast::Unary { op: UnaryOp::Plus | UnaryOp::Neg, operand } => self.is_open(*operand),
            Ast::Binary { op, left, right } => is_arithmetic(*op) && self.is_open(*left) && self.is_open(*right),
            Ast::Row(list) if list.len() == 1 => self.is_open(self.parsed.list(*list)[0]),
            // One of several values that are all open.
            Ast::Call { schema: None, name, args } => {
                is_choice(self.parsed.name(*name)) && self.are_open(self.parsed.list(*args))
            }
            Ast::Builtin { func: Builtin::Coalesce, args } => self.are_open(self.parsed.list(*args)),
            Ast::Builtin { func: Builtin::If, args } => match self.parsed.list(*args) {
                [_, then, otherwise] => self.are_open(&[*then, *otherwise]),
                _ => false,
            },
            Ast::Case { whens, otherwise, .. } => {
                let thens: Vec<ExprId> = self.parsed.list(*whens).iter().skip(1).step_by(2).copied().collect();
                self.are_open(&thens) && otherwise.is_none_or(|e| self.is_open(e))
            }
            _ => false,
        }
    }

    fn are_open(&self, ids: &[ExprId]) -> bool {
        !ids.is_empty() && ids.iter().all(|id| self.is_open(*id))
    }

    /// The expression; one that is open is of type `like`.
    pub(crate) fn expr_like(&mut self, id: ExprId, like: &DataType) -> Result<Expr> {
        self.open_expr(id, like, Takes::Own)
    }

    /// The same where values of any type are taken, and converted here.
    pub(crate) fn expr_for(&mut self, id: ExprId, like: &DataType, takes: Takes) -> Result<Expr> {
        self.open_expr(id, like, takes)
    }

    /// An expression whose value is shown as it is.
    pub(crate) fn shown_expr(&mut self, id: ExprId) -> Result<Expr> {
        match self.parsed[id] {
            Ast::Param(_) => self.expr_like(id, &self.text_parameter()),
            _ => self.expr(id),
        }
    }

    fn open_expr(&mut self, id: ExprId, like: &DataType, takes: Takes) -> Result<Expr> {
        let parsed = self.parsed;
        match &parsed[id] {
            Ast::Param(n) => Ok(self.parameter(*n as usize, like, takes)),
            Ast::UserVar(name) if self.is_open(id) => Ok(self.typed_variable(*name, &variable::kept_type(like))),
            Ast::Unary { op: UnaryOp::Plus, operand } if self.is_open(*operand) => {
                self.open_expr(*operand, like, takes)
            }
            Ast::Unary { op: UnaryOp::Neg, operand } if self.is_open(*operand) => {
                Ok(negate(self.expr_like(*operand, like)?))
            }
            Ast::Binary { op, left, right } if self.is_open(id) => {
                let (a, b) = (self.expr_like(*left, like)?, self.expr_like(*right, like)?);
                self.operation(*op, a, b)
            }
            Ast::Row(list) if list.len() == 1 => self.open_expr(parsed.list(*list)[0], like, takes),
            Ast::Call { schema, name, args } if self.is_open(id) => self.call_of(*schema, *name, *args, like),
            Ast::Builtin { func, args } if self.is_open(id) => {
                let args = self.builtin_args(*func, *args, like)?;
                self.builtin(*func, args)
            }
            Ast::Case { operand, whens, otherwise } if self.is_open(id) => {
                self.case_of(*operand, parsed.list(*whens), *otherwise, like)
            }
            _ => self.expr(id),
        }
    }

    /// `?`, and a literal that was lifted out of the text, whose type is known.
    pub(crate) fn parameter(&mut self, n: usize, like: &DataType, takes: Takes) -> Expr {
        let told = match self.params.get(n) {
            Some(given) if given.kind != TypeKind::Null || !given.nullable => *given,
            _ => *like,
        };
        if let Some(known) = self.parameters.known.get_mut(n) {
            *known = Parameter { data_type: told, place: like.kind, takes, otherwise: Otherwise::Null };
        }
        // A document arrives as its text.
        let ty = match told.kind {
            TypeKind::Json => {
                DataType { nullable: told.nullable, ..parameter::text_type(self.settings.literal_collation) }
            }
            _ => told,
        };
        Expr::new(Node::Param(n), ty)
    }

    /// A parameter of which nothing is known.
    pub(crate) fn text_parameter(&self) -> DataType {
        parameter::text_type(self.settings.literal_collation)
    }

    /// Operands of one type: that of the first one that has one, else `otherwise`.
    pub(crate) fn alike(&mut self, ids: &[ExprId], otherwise: &DataType) -> Result<Vec<Expr>> {
        self.alike_for(ids, otherwise, Takes::Own)
    }

    pub(crate) fn alike_for(&mut self, ids: &[ExprId], otherwise: &DataType, takes: Takes) -> Result<Vec<Expr>> {
        if !ids.iter().any(|id| self.is_open(*id)) {
            return ids.iter().map(|id| self.operand(*id)).collect();
        }
        let mut known = Vec::with_capacity(ids.len());
        for id in ids {
            known.push(if self.is_open(*id) { None } else { Some(self.operand(*id)?) });
        }
        let first = known.iter().flatten().next();
        let like = first.map_or(*otherwise, |e| parameter::widest(&e.ty, self.settings.literal_collation));
        let takes = if first.is_some() { takes } else { Takes::Own };
        let pairs = ids.iter().zip(known);
        pairs.map(|(id, e)| e.map_or_else(|| self.expr_for(*id, &like, takes), Ok)).collect()
    }

    /// Says of the parameters among these what a value counts as that is none of their type.
    pub(crate) fn note_parameters<'e>(&mut self, among: impl IntoIterator<Item = &'e Expr>, otherwise: Otherwise) {
        for e in among {
            if let Node::Param(n) = e.node
                && let Some(known) = self.parameters.known.get_mut(n)
            {
                known.otherwise = otherwise;
            }
        }
    }

    pub(crate) fn two_alike(&mut self, a: ExprId, b: ExprId, otherwise: &DataType) -> Result<(Expr, Expr)> {
        let [a, b]: [Expr; 2] = self.alike(&[a, b], otherwise)?.try_into().expect("two operands");
        Ok((a, b))
    }

    /// The operands of an operator that is no comparison.
    pub(crate) fn operator_args(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> Result<(Expr, Expr)> {
        use BinaryOp as B;
        let ids = [left, right];
        let operands = match op {
            _ if !ids.iter().any(|id| self.is_open(*id)) => return Ok((self.expr(left)?, self.expr(right)?)),
            op if is_arithmetic(op) => self.alike(&ids, &parameter::double_type())?,
            B::BitOr | B::BitAnd | B::BitXor => self.alike_for(&ids, &parameter::binary_type(), Takes::Any)?,
            B::ShiftLeft | B::ShiftRight => {
                let left = self.expr_like(left, &parameter::binary_type())?;
                vec![left, self.expr_for(right, &parameter::integer_type(), Takes::Any)?]
            }
            B::Xor => {
                let integer = parameter::integer_type();
                vec![self.expr_like(left, &integer)?, self.expr_like(right, &integer)?]
            }
            _ => {
                let text = self.text_parameter();
                vec![self.expr_like(left, &text)?, self.expr_like(right, &text)?]
            }
        };
        let [a, b]: [Expr; 2] = operands.try_into().expect("two operands");
        Ok((a, b))
    }

    /// CASE: what is compared is of one type, and what it gives.
    pub(crate) fn case_of(
        &mut self,
        operand: Option<ExprId>,
        whens: &[ExprId],
        otherwise: Option<ExprId>,
        like: &DataType,
    ) -> Result<Expr> {
        let text = self.text_parameter();
        let conditions = whens.iter().step_by(2).copied();
        let mut compared = match operand {
            Some(o) => self.alike(&std::iter::once(o).chain(conditions).collect::<Vec<_>>(), &text)?,
            None => conditions.map(|id| self.expr(id)).collect::<Result<_>>()?,
        };
        let first = operand.map(|_| compared.remove(0));
        let results: Vec<ExprId> = whens.iter().skip(1).step_by(2).copied().chain(otherwise).collect();
        let mut results = self.alike(&results, like)?;
        let otherwise = otherwise.and_then(|_| results.pop()).map(Box::new);
        let mut out = Vec::with_capacity(compared.len());
        let is_kept = compared.len() > 1 && first.as_ref().is_some_and(written::is_volatile);
        let number = if is_kept { self.next_once() } else { 0 };
        for (i, (when, then)) in compared.into_iter().zip(results).enumerate() {
            let when = match &first {
                Some(operand) => {
                    let operand = operand.clone();
                    let operand = if is_kept { written::operand(operand, number, i == 0) } else { operand };
                    let (a, b) = json::as_texts(operand, when);
                    let b = if a.ty.kind.is_numeric() { self.asked_each_time(b) } else { b };
                    compare_case(a, b)?
                }
                None => json::as_number(when),
            };
            out.push((when, then));
        }
        case(out, otherwise)
    }

    pub(crate) fn builtin_args(&mut self, function: Builtin, args: ExprList, like: &DataType) -> Result<Vec<Expr>> {
        match (function, self.parsed.list(args)) {
            (Builtin::If, [condition, then, otherwise]) => {
                let (then, otherwise) = (*then, *otherwise);
                let condition = self.expr_like(*condition, &parameter::integer_type())?;
                let (then, otherwise) = self.two_alike(then, otherwise, like)?;
                Ok(vec![condition, then, otherwise])
            }
            (Builtin::Mod, ids) => self.alike(ids, &parameter::double_type()),
            _ => self.arguments(function.name(), args, like),
        }
    }

    /// The arguments of a function.
    pub(crate) fn arguments(&mut self, function: &str, args: ExprList, like: &DataType) -> Result<Vec<Expr>> {
        let ids = self.parsed.list(args);
        if !ids.iter().any(|id| self.is_open(*id)) {
            return self.exprs(args);
        }
        let taken = arguments_of(function);
        let text = self.text_parameter();
        if taken.letter(0).is_none() {
            return self.alike(ids, like);
        }
        let named = |letter| match letter {
            'B' => parameter::binary_type(),
            'I' => parameter::integer_type(),
            'D' => parameter::decimal_type(),
            'F' => parameter::double_type(),
            'A' => parameter::moment_type(TypeKind::Date),
            'T' => parameter::moment_type(TypeKind::Time),
            'M' => parameter::moment_type(TypeKind::DateTime),
            'J' => expr::convert::json_type(),
            _ => text,
        };
        let wanted = |i| named(taken.letter(i).unwrap_or('S'));
        let args: Result<Vec<Expr>> = ids.iter().enumerate().map(|(i, id)| self.expr_like(*id, &wanted(i))).collect();
        let args = args?;
        if let Some(otherwise) = moments_of(function) {
            let moments = args.iter().enumerate().filter(|(i, _)| matches!(taken.letter(*i), Some('A' | 'M')));
            self.note_parameters(moments.map(|(_, e)| e), otherwise);
        }
        Ok(args)
    }

    /// The date and the amount of an addition.
    pub(crate) fn date_and_amount(&mut self, date: ExprId, amount: ExprId, unit: IntervalUnit) -> Result<(Expr, Expr)> {
        use IntervalUnit as U;
        let kind = match unit {
            U::Day | U::Week | U::Month | U::Quarter | U::Year | U::YearMonth => TypeKind::Date,
            _ => TypeKind::DateTime,
        };
        let number = match unit {
            U::Second => parameter::decimal_type(),
            U::Microsecond | U::Minute | U::Hour | U::Day | U::Week | U::Month | U::Quarter | U::Year => {
                parameter::integer_type()
            }
            _ => self.text_parameter(),
        };
        let date = self.expr_like(date, &parameter::moment_type(kind))?;
        self.note_parameters([&date], Otherwise::WholeDate);
        Ok((date, self.expr_like(amount, &number)?))
    }

    /// What EXTRACT takes a unit of.
    pub(crate) fn extracted(&mut self, operand: ExprId, unit: IntervalUnit) -> Result<Expr> {
        use IntervalUnit as U;
        let operand = self.expr_like(operand, &parameter::moment_type(TypeKind::DateTime))?;
        let has_date = matches!(unit, U::Year | U::Quarter | U::Month | U::Week | U::Day | U::YearMonth);
        if !has_date {
            self.note_parameters([&operand], Otherwise::TimeOfDay);
        }
        Ok(operand)
    }
}

/// What the dates that a function takes are, where `?` stands for them; `None`: nothing else than elsewhere.
fn moments_of(function: &str) -> Option<Otherwise> {
    Some(match function.to_ascii_lowercase().as_str() {
        "unix_timestamp" => Otherwise::ZeroDate,
        "day" | "dayofmonth" | "last_day" | "month" | "monthname" | "quarter" | "year" => Otherwise::PartOfDate,
        "adddate" | "date" | "datediff" | "dayname" | "dayofweek" | "dayofyear" | "subdate" | "to_days" | "week"
        | "weekday" | "weekofyear" | "yearweek" => Otherwise::WholeDate,
        "hour" | "microsecond" | "minute" | "second" | "time" => Otherwise::TimeOfDay,
        _ => return None,
    })
}

/// Does the function give one of its arguments?
fn is_choice(function: &str) -> bool {
    ["ifnull", "nullif", "greatest", "least"].iter().any(|name| function.eq_ignore_ascii_case(name))
}

pub(crate) fn is_arithmetic(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::IntDiv | BinaryOp::Mod)
}
