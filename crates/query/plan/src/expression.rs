//! Expressions: syntax to typed nodes.

use crate::Planner;
use crate::comparison::{compare_exprs, comparison};
use crate::names::AliasRule;
use crate::parameter::{self, Otherwise, Takes};
use expr::call::{AggregateCall, AggregateKind};
use expr::compare;
use expr::error::unsupported;
use expr::functions::loadable;
use expr::operator::{ArithOp, BitOp, CmpOp};
use expr::written;
use expr::{Expr, Node, boolean_type, common, constant, convert, functions, number, operand, wide};
use sql::ast::{self, BinaryOp, Expr as Ast, ExprId, ExprList, Name, UnaryOp};
use types::codes::*;
use types::collation::CollationId;
use types::{Charset, DataType, Result, SqlError, TypeKind, Value, err};

const VALUES_DEPRECATED: &str = "'VALUES function' is deprecated and will be removed in a future release. Please \
    use an alias (INSERT INTO ... VALUES (...) AS alias) and replace VALUES(col) in the ON DUPLICATE KEY UPDATE \
    clause with alias.col instead";

/// Bytes of a binary string that BIT_AND and its like take.
const BIT_AGGREGATE_BYTES: u32 = 511;
/// Deepest nesting of expressions and queries.
const DEPTH_MAX: usize = 63;
/// Functions that give strings where their arguments are strings, and MAKE_SET: they do not look whether a string is well formed.
const NO_STRING_FUNCTIONS: [&str; 6] = ["coalesce", "ifnull", "nullif", "greatest", "least", "make_set"];

impl Planner<'_> {
    /// Each of the list as [`Planner::expr`] has it.
    pub fn exprs(&mut self, list: ExprList) -> Result<Vec<Expr>> {
        let parsed = self.parsed;
        parsed.list(list).iter().map(|e| self.expr(*e)).collect()
    }

    /// The error that an ON has waited with.
    pub(super) fn raise_late_error(&mut self) -> Result<()> {
        self.block().late_error.take().map_or(Ok(()), Err)
    }

    /// A condition of WHERE, HAVING or the ON of an inner join.
    pub fn condition(&mut self, id: ExprId, clause: &'static str) -> Result<Expr> {
        let mut e = self.condition_as_written(id, clause)?;
        self.note_constants(&mut e, true);
        Ok(e)
    }

    /// The ON of an outer join: its constants are computed once too, but not where no row asks.
    pub fn outer_condition(&mut self, id: ExprId) -> Result<Expr> {
        let mut e = self.condition_as_written(id, "on clause")?;
        self.note_constants(&mut e, false);
        Ok(e)
    }

    fn condition_as_written(&mut self, id: ExprId, clause: &'static str) -> Result<Expr> {
        let before = std::mem::replace(&mut self.scope.clause, clause);
        let e = self.expr_like(id, &parameter::integer_type());
        self.scope.clause = before;
        let mut e = self.truth(e?);
        if clause == "where clause" {
            e = self.last_inserted(e)?;
            e = self.zero_dates(e);
        }
        Ok(e)
    }

    /// Says that a document is asked whether it is true; not of the definition of a view.
    /// A hexadecimal literal, an ENUM or a SET is asked as a number.
    pub(super) fn truth(&mut self, e: Expr) -> Expr {
        if e.ty.kind == TypeKind::Json && self.scope.view_depth == 0 {
            self.warnings.notes.push((ER_IMPLICIT_COMPARISON_FOR_JSON, functions::json::AS_CONDITION));
        }
        operand::truth_operand(e)
    }

    /// An expression of a clause that messages name.
    pub fn in_clause(&mut self, id: ExprId, clause: &'static str) -> Result<Expr> {
        let before = std::mem::replace(&mut self.scope.clause, clause);
        let e = self.expr(id);
        self.scope.clause = before;
        e
    }

    /// An expression without aggregates.
    pub fn plain(&mut self, id: ExprId) -> Result<Expr> {
        let e = self.expr(id)?;
        if e.has_aggregate() {
            return Err(err!(ER_INVALID_GROUP_FUNC_USE));
        }
        Ok(e)
    }

    /// Errors 1436 and those of what it says.
    pub fn expr(&mut self, id: ExprId) -> Result<Expr> {
        if let Some((used, size)) = sync::stack::overrun() {
            return Err(err!(ER_STACK_OVERRUN_NEED_MORE, used, size, size / 2));
        }
        let e = self.expr_as_written(id)?;
        Ok(self.in_connection_collation(e))
    }

    /// Strings that a function makes of what has no collation have the connection's, as literals do.
    fn in_connection_collation(&self, mut e: Expr) -> Expr {
        let (made, wanted) = (CollationId::UTF8MB4_0900_AI_CI, self.settings.literal_collation);
        if wanted == made || wanted.charset() != made.charset() || e.ty.collation != made || !e.ty.kind.is_text() {
            return e;
        }
        let makes = match &e.node {
            Node::Call(f, _) => f.name != compare::COLLATE,
            Node::Case { .. } | Node::Aggregate(_) => true,
            _ => false,
        };
        if !makes || compare::coercibility(&e) != compare::COERCIBLE {
            return e;
        }
        let mut is_operands = false;
        e.children(&mut |child| is_operands |= child.ty.kind.is_text() && child.ty.collation == made);
        if !is_operands {
            e.ty.collation = wanted;
            if let Node::Aggregate(call) = &mut e.node {
                call.ty.collation = wanted;
            }
        }
        e
    }

    fn expr_as_written(&mut self, id: ExprId) -> Result<Expr> {
        let parsed = self.parsed;
        Ok(match &parsed[id] {
            Ast::Null => Expr::null(),
            Ast::Bool(b) => Expr::new(
                Node::Const(Value::Int(*b as i64)),
                DataType { length: 1, ..DataType::new(TypeKind::BigInt).not_null() },
            ),
            Ast::Int(v) => integer(*v),
            Ast::Decimal(s) => self.decimal_literal(*s),
            Ast::Float(s) => self.float_literal(*s)?,
            Ast::String { text, introducer } => self.string_literal(*text, *introducer)?,
            Ast::Bytes { bytes, introducer, bit } => self.bytes_literal(*bytes, *introducer, *bit)?,
            Ast::Temporal { kind, text, escaped } => self.temporal_literal(*kind, *text, *escaped)?,
            Ast::Param(i) => self.parameter(*i as usize, &self.text_parameter(), Takes::Own),
            Ast::Local(local) => self.local(*local),
            Ast::Column { schema, table, column } => self.column(*schema, *table, *column)?,
            Ast::UserVar(name) => self.user_variable(*name),
            Ast::AssignUserVar { name, value } => self.assign_user_variable(*name, *value)?,
            Ast::SystemVar { scope, base, name } => self.system_variable(*scope, *base, *name)?,
            Ast::Unary { op, operand } => self.unary(*op, *operand)?,
            Ast::Binary { op, left, right } => self.binary(*op, *left, *right)?,
            Ast::And(list) => self.connective(*list, Node::And)?,
            Ast::Or(list) => self.connective(*list, Node::Or)?,
            Ast::Is { operand, negated, test } => self.is_test(*operand, *negated, *test)?,
            Ast::Like { operand, negated, pattern, escape } => self.like(*operand, *negated, *pattern, *escape)?,
            Ast::Regexp { operand, negated, pattern } => {
                let (a, b) = (self.expr(*operand)?, self.expr(*pattern)?);
                let found = self.native("regexp_like", vec![a, b])?;
                if *negated { not(found) } else { found }
            }
            Ast::Between { operand, negated, low, high } => self.between(*operand, *negated, *low, *high)?,
            Ast::InList { operand, negated, list } => self.in_list(*operand, *negated, *list)?,
            Ast::InQuery { operand, negated, query } => self.in_query(*operand, *query, *negated)?,
            Ast::Quantified { op, all, left, query } => self.quantified(*op, *all, *left, *query)?,
            Ast::Exists(q) => {
                let query = self.joined_subquery(*q, 0)?;
                Expr::new(Node::Exists { negated: false, query }, boolean_type(false))
            }
            Ast::Subquery(q) => self.scalar_subquery(*q)?,
            Ast::Row(list) if list.len() == 1 => self.expr(parsed.list(*list)[0])?,
            Ast::Row(_) => return Err(err!(ER_OPERAND_COLUMNS, 1)),
            Ast::Case { operand, whens, otherwise } => {
                let text = self.text_parameter();
                self.case_of(*operand, parsed.list(*whens), *otherwise, &text)?
            }
            Ast::Call { schema, name, args } => self.call_of(*schema, *name, *args, &self.text_parameter())?,
            Ast::Builtin { func, args } => {
                let args = self.builtin_args(*func, *args, &self.text_parameter())?;
                self.builtin(*func, args)?
            }
            Ast::Aggregate { func, distinct, args } => {
                let (first_read, over) = (self.queries.outer_reads.len(), self.request.over);
                let e = self.aggregate(*func, *distinct, *args)?;
                // A window function is of the query that it stands in.
                if over { e } else { self.of_its_query(e, first_read)? }
            }
            Ast::CountStar => self.count_star()?,
            Ast::GroupConcat(g) => self.group_concat(g)?,
            Ast::Window(call) => self.window_call(id, call)?,
            Ast::Cast(cast) => self.cast(cast)?,
            Ast::ConvertUsing { operand, charset } => self.convert_using(*operand, *charset)?,
            Ast::Collate { operand, collation } => self.collate(*operand, *collation)?,
            Ast::DateArith { subtract, date, amount, unit } => {
                let (date, amount) = self.date_and_amount(*date, *amount, *unit)?;
                functions::temporal::add_interval(date, amount, *unit, *subtract)
            }
            Ast::Extract { unit, operand } => functions::temporal::extract(self.extracted(*operand, *unit)?, *unit),
            Ast::TimestampAdd { unit, amount, date } => {
                let (date, amount) = self.date_and_amount(*date, *amount, *unit)?;
                functions::temporal::add_interval(date, amount, *unit, false)
            }
            Ast::TimestampDiff { unit, from, to } => {
                let moment = parameter::moment_type(TypeKind::DateTime);
                let (from, to) = (self.expr_like(*from, &moment)?, self.expr_like(*to, &moment)?);
                functions::temporal::difference(from, to, *unit)
            }
            Ast::GetFormat { kind, format } => functions::temporal::get_format(*kind, self.expr(*format)?),
            Ast::Trim { side, remove, operand } => self.trim(*side, *remove, *operand)?,
            Ast::Char { args, charset } => self.char_function(*args, *charset)?,
            Ast::WeightString { operand, form } => functions::weight_string(self.expr(*operand)?, *form),
            Ast::Match { .. } => return Err(err!(ER_FT_MATCHING_KEY_NOT_FOUND)),
            Ast::JsonValue(call) => self.json_value(call)?,
            // Of a VALUES clause: what stores rows takes it as it is.
            Ast::DefaultValue => return Err(err!(ER_TABLE_VALUE_CONSTRUCTOR_CANNOT_HAVE_DEFAULT)),
            Ast::DefaultOf(column) => {
                let e = self.expr(*column)?;
                self.default_of(e, *column)?
            }
            Ast::ValuesOf(column) => self.values_of(*column)?,
        })
    }

    fn unary(&mut self, op: UnaryOp, operand: ExprId) -> Result<Expr> {
        let e = match op {
            UnaryOp::Plus | UnaryOp::Neg => self.expr_like(operand, &parameter::double_type())?,
            UnaryOp::Not => self.expr_like(operand, &parameter::integer_type())?,
            UnaryOp::BitNot | UnaryOp::Binary => self.expr_like(operand, &parameter::binary_type())?,
        };
        Ok(match op {
            UnaryOp::Plus => e,
            UnaryOp::Neg => negate(e),
            UnaryOp::Not => not(self.truth(e)),
            UnaryOp::BitNot => {
                let binary = number::are_binary(&e, &e, true);
                let e = if binary { e } else { operand::bit_number(operand::enum_number(e)) };
                let ty = match binary {
                    true => number::binary_type(&e.ty, &e.ty),
                    false => number::bits_type(&e.ty, &e.ty),
                };
                Expr::new(Node::BitNot(Box::new(e)), ty)
            }
            UnaryOp::Binary => {
                let ty = expr::functions::lengths::whole(&e.ty, CollationId::BINARY);
                let nullable = e.ty.nullable;
                Expr::new(Node::Cast(Box::new(e)), DataType { nullable, ..ty })
            }
        })
    }

    fn group_concat(&mut self, g: &ast::GroupConcat) -> Result<Expr> {
        let parsed = self.parsed;
        let first_read = self.queries.outer_reads.len();
        let mut args = self.aggregate_args(g.args, &self.text_parameter())?;
        if g.distinct || !g.order.is_empty() {
            self.ask_once(&mut args);
        }
        // Any column may give the order.
        let shown = self.block().shown.take();
        let order: Result<Vec<(Expr, bool)>> =
            g.order.iter().map(|o| Ok((self.concat_key(o.expr, &args)?, o.descending))).collect();
        self.block().shown = shown;
        let order = order?;
        let number = |e: Expr| if e.members().is_some() { operand::enum_number(e) } else { e };
        let order = order.into_iter().map(|(e, descending)| (number(e), descending)).collect();
        let separator = g.separator.map_or(b",".to_vec(), |s| parsed.bytes(s).to_vec());
        let most = self.env.system_variable(None, "group_concat_max_len").map_or(1024, |(v, _)| v.to_u64());
        let e = AggregateCall::group_concat(args, g.distinct, order, separator, most)?;
        self.of_its_query(e, first_read)
    }

    /// CONVERT(... USING charset).
    fn convert_using(&mut self, operand: ExprId, charset: Name) -> Result<Expr> {
        let parsed = self.parsed;
        let e = self.expr_for(operand, &self.text_parameter(), Takes::Any)?;
        let collation = self.charset(parsed.name(charset))?;
        let ty = match e.ty.kind.is_blob() {
            true => functions::long_text(e.ty.max_bytes().min(u32::MAX.into()) as u32, collation),
            false if e.ty.kind.is_text() || e.ty.kind.is_bytes() || e.ty.kind == TypeKind::Bit => {
                DataType::string(TypeKind::VarChar, e.ty.length, collation)
            }
            false => DataType { kind: TypeKind::VarChar, ..functions::lengths::whole(&e.ty, collation) },
        };
        let strict = types::SqlMode(self.env.sql_mode()).is_strict();
        let ty = DataType { nullable: e.ty.nullable || strict, ..ty };
        Ok(Expr::new(Node::Cast(Box::new(e)), ty))
    }

    /// Errors 1253, 1273.
    fn collate(&mut self, operand: ExprId, collation: Name) -> Result<Expr> {
        let parsed = self.parsed;
        let e = self.expr(operand)?;
        let name = parsed.name(collation);
        let Some(id) = CollationId::by_name(name) else {
            return Err(err!(ER_UNKNOWN_COLLATION, name));
        };
        let is_null = matches!(e.node, Node::Const(Value::Null));
        let own = if is_null { Charset::Binary } else { e.ty.collation.charset() };
        if (is_null || e.ty.kind.is_text() || e.ty.kind.is_bytes()) && id.charset() != own {
            let set = own.name();
            return Err(err!(ER_COLLATION_CHARSET_MISMATCH, name, set));
        }
        let is_list = matches!(e.ty.kind, TypeKind::Enum | TypeKind::Set);
        let kind = if e.ty.kind.is_text() && !is_list { e.ty.kind } else { TypeKind::VarChar };
        let ty = DataType { kind, collation: id, ..e.ty };
        Ok(Expr::new(Node::Call(functions::collate(), vec![e]), ty))
    }

    fn trim(&mut self, side: ast::TrimSide, remove: Option<ExprId>, operand: ExprId) -> Result<Expr> {
        let name = match side {
            ast::TrimSide::Both => "trim",
            ast::TrimSide::Leading => "ltrim",
            ast::TrimSide::Trailing => "rtrim",
        };
        let mut args = vec![self.expr(operand)?];
        if let Some(r) = remove {
            args.push(self.expr(r)?);
        }
        self.native(name, args)
    }

    /// CHAR(... USING charset).
    fn char_function(&mut self, args: ExprList, charset: Option<Name>) -> Result<Expr> {
        let parsed = self.parsed;
        let args = self.arguments("char", args, &self.text_parameter())?;
        let mut e = self.native("char", args)?;
        if let Some(c) = charset {
            let collation = self.charset(parsed.name(c))?;
            let ty = DataType { kind: TypeKind::VarChar, collation, ..e.ty };
            e = match collation.is_binary() {
                true => Expr { ty, ..e },
                // Filled up to whole characters, which they have to be.
                false => {
                    let strict = types::SqlMode(self.env.sql_mode()).is_strict();
                    Expr::new(Node::Cast(Box::new(e)), DataType { nullable: ty.nullable || strict, ..ty })
                }
            };
        }
        Ok(e)
    }

    /// VALUES(column) of ON DUPLICATE KEY UPDATE.
    fn values_of(&mut self, column: ExprId) -> Result<Expr> {
        let Some(slot) = self.block().values_slot else {
            let e = self.expr(column)?;
            return Ok(Expr { ty: e.ty, ..Expr::null() });
        };
        self.warnings.literal_warnings.push((ER_WARN_DEPRECATED_SYNTAX, VALUES_DEPRECATED.to_string()));
        // A column of the table, whatever else has that name.
        let others = self.block().sources.split_off(1);
        let e = self.expr(column);
        self.block().sources.extend(others);
        Ok(at_slot(e?, slot))
    }

    /// `sql_auto_is_null`: a WHERE that asks for NULL in an AUTO_INCREMENT column, and for nothing else, asks for the row that was
    /// inserted last.
    fn last_inserted(&self, e: Expr) -> Result<Expr> {
        let asked = match e.node {
            Node::IsNull { negated: false, ref operand } => operand.as_ref(),
            Node::Call(f, ref args) if f.name == "isnull" => &args[0],
            _ => return Ok(e),
        };
        if !self.is_counted(asked) || !self.flag("sql_auto_is_null") {
            return Ok(e);
        }
        let last = functions::call("last_insert_id", Vec::new())?.expect("a function that there is");
        compare_exprs(CmpOp::Eq, asked.clone(), last)
    }

    /// An AUTO_INCREMENT column of a table that stands in FROM itself, not on the inner side of an outer join.
    fn is_counted(&self, e: &Expr) -> bool {
        let Node::Column { depth: 0, slot, column } = e.node else { return false };
        let mut sources = self.current_block().sources.iter().filter(|s| !s.hidden && !s.nullable);
        let table = sources.find(|s| s.slot == usize::from(slot)).and_then(|s| s.table.as_ref());
        table.is_some_and(|t| t.columns[usize::from(column)].auto_increment)
    }

    /// An operand of a comparison: rows are refused here, nesting is bounded.
    pub(super) fn operand(&mut self, id: ExprId) -> Result<Expr> {
        if self.scope.blocks.len() > DEPTH_MAX {
            return Err(err!(ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT));
        }
        self.expr(id)
    }

    fn binary(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> Result<Expr> {
        if let Some(op) = comparison(op) {
            if let Some(compared) = self.row_comparison(op, left, right)? {
                return Ok(compared);
            }
            let (a, b) = self.two_alike(left, right, &self.text_parameter())?;
            if op == CmpOp::NullSafeEq {
                self.note_parameters([&a, &b], Otherwise::Nobody);
            }
            return self.compare_pair(op, a, b);
        }
        let (a, b) = self.operator_args(op, left, right)?;
        self.operation(op, a, b)
    }

    /// A call of a native function; arguments that take the type of each other are like `like` where none has one.
    pub(super) fn call_of(
        &mut self,
        schema: Option<ast::Name>,
        name: ast::Name,
        args: ExprList,
        like: &DataType,
    ) -> Result<Expr> {
        let parsed = self.parsed;
        let text = parsed.name(name);
        if let (None, Some(function)) = (schema, loadable::find(text))
            && self.env.has_loadable(function)
        {
            let args = self.arguments(text, args, like)?;
            (self.found.unsteady, self.found.varies) = (true, true);
            return loadable::call(function, args);
        }
        if (schema.is_some() || functions::find(text).is_none())
            && let Some(call) = self.stored_call(schema, name, args)?
        {
            return Ok(call);
        }
        if let Some(schema) = schema {
            return Err(no_function(Some(parsed.name(schema)), text));
        }
        if text.eq_ignore_ascii_case("name_const") {
            self.check_name_const(parsed.list(args))?;
        }
        let mut args = self.arguments(text, args, like)?;
        if args.len() != 1 && ["ltrim", "rtrim"].iter().any(|name| text.eq_ignore_ascii_case(name)) {
            // What is to be removed is named by TRIM alone.
            return Err(functions::wrong_count(text));
        }
        if let ([a, b], true) = (&args[..], text.eq_ignore_ascii_case("nullif")) {
            compare::collation_for(&[a, b], "nullif")?;
            args[1] = self.compare_pair(CmpOp::Eq, a.clone(), b.clone())?;
        }
        let is_given = |e: &Expr| matches!(e.node, Node::Param(n) if self.is_of_client(n));
        if functions::match_type(text).is_some_and(|at| args.get(at).is_some_and(is_given)) {
            return Err(err!(ER_INVALID_PARAMETER_USE, "?"));
        }
        self.noted_call(text, args)
    }

    /// An operator that is no comparison.
    pub(super) fn operation(&mut self, op: BinaryOp, a: Expr, b: Expr) -> Result<Expr> {
        if op == BinaryOp::SoundsLike {
            let (a, b) = (self.native("soundex", vec![a])?, self.native("soundex", vec![b])?);
            return compare_exprs(CmpOp::Eq, a, b);
        }
        let (a, b) = (wide::plain(a), wide::plain(b));
        let increment = if op == BinaryOp::Div { self.div_increment() } else { 0 };
        let arith = |op: ArithOp, a: Expr, b: Expr| {
            let (a, b) = (operand::arith_number(a), operand::arith_number(b));
            // A wide column is wide whatever it was made of.
            let [x, y] = [&a, &b].map(|e| match (&e.node, e.ty.kind) {
                (Node::Column { .. }, TypeKind::BigInt) => DataType { length: 20, ..e.ty },
                _ => e.ty,
            });
            let ty = number::arith_type(op, &x, &y);
            let ty = if op == ArithOp::Div { number::with_div_increment(ty, increment) } else { ty };
            Expr::new(Node::Arith(op, Box::new(a), Box::new(b)), ty)
        };
        let bits = |op: BitOp, a: Expr, b: Expr| {
            let shift = matches!(op, BitOp::ShiftLeft | BitOp::ShiftRight);
            if number::are_binary(&a, &b, shift) {
                let b = if shift { operand::enum_number(b) } else { b };
                let ty = number::binary_type(&a.ty, &b.ty);
                return Expr::new(Node::Bits(op, Box::new(a), Box::new(b)), ty);
            }
            let [a, b] = [a, b].map(|e| operand::bit_number(operand::enum_number(e)));
            let ty = number::bits_type(&a.ty, &b.ty);
            Expr::new(Node::Bits(op, Box::new(a), Box::new(b)), ty)
        };
        Ok(match op {
            BinaryOp::Add => arith(ArithOp::Add, a, b),
            BinaryOp::Sub => arith(ArithOp::Sub, a, b),
            BinaryOp::Mul => arith(ArithOp::Mul, a, b),
            BinaryOp::Div => arith(ArithOp::Div, a, b),
            BinaryOp::IntDiv => arith(ArithOp::IntDiv, a, b),
            BinaryOp::Mod => arith(ArithOp::Mod, a, b),
            BinaryOp::BitOr => bits(BitOp::Or, a, b),
            BinaryOp::BitAnd => bits(BitOp::And, a, b),
            BinaryOp::BitXor => bits(BitOp::Xor, a, b),
            BinaryOp::ShiftLeft => bits(BitOp::ShiftLeft, a, b),
            BinaryOp::ShiftRight => bits(BitOp::ShiftRight, a, b),
            BinaryOp::Xor => {
                let (a, b) = (self.truth(a), self.truth(b));
                let ty = boolean_type(a.ty.nullable || b.ty.nullable);
                Expr::new(Node::Xor(Box::new(a), Box::new(b)), ty)
            }
            BinaryOp::Concat => self.native("concat", vec![a, b])?,
            BinaryOp::MemberOf => functions::json::member_of(a, b),
            BinaryOp::JsonExtract => self.native("json_extract", vec![a, b])?,
            BinaryOp::JsonUnquoteExtract => {
                let found = self.native("json_extract", vec![a, b])?;
                self.native("json_unquote", vec![found])?
            }
            _ => unreachable!("comparisons are done"),
        })
    }

    /// A native function that is there.
    pub fn native(&self, name: &str, args: Vec<Expr>) -> Result<Expr> {
        let mut e = functions::call(name, args)?.ok_or_else(|| no_function(self.env.database(), name))?;
        // A strict mode makes strings that are not well formed NULL; MAKE_SET alone does not look.
        if let Node::Call(function, _) = &e.node
            && e.ty.kind.is_bytes()
            && !NO_STRING_FUNCTIONS.contains(&function.name)
        {
            e.ty.nullable |= types::SqlMode(self.env.sql_mode()).is_strict();
        }
        Ok(e)
    }

    pub(super) fn builtin(&mut self, func: ast::Builtin, args: Vec<Expr>) -> Result<Expr> {
        use ast::Builtin::*;
        match func {
            If => {
                let [condition, then, other]: [Expr; 3] = args.try_into().map_err(|_| functions::wrong_count("IF"))?;
                return case(vec![(functions::json::as_number(condition), then)], Some(Box::new(other)));
            }
            Mod => {
                let [a, b]: [Expr; 2] = args.try_into().map_err(|_| functions::wrong_count("MOD"))?;
                let (a, b) = (operand::arith_number(a), operand::arith_number(b));
                let ty = number::arith_type(ArithOp::Mod, &a.ty, &b.ty);
                return Ok(Expr::new(Node::Arith(ArithOp::Mod, Box::new(a), Box::new(b)), ty));
            }
            Grouping => return Ok(super::group::grouping_call(args)),
            CurrentUser => {
                let e = self.native(func.name(), args)?;
                let Some(definer) = &self.scope.routine_caller else { return Ok(e) };
                let definer = Value::Bytes(definer.clone().into_bytes().into());
                return Ok(Expr::new(Node::Const(definer), e.ty));
            }
            _ => {}
        }
        self.noted_call(func.name(), args)
    }

    /// A call, of which it is noted whether it may come out differently each time. Its arguments have said it themselves.
    fn noted_call(&mut self, name: &str, args: Vec<Expr>) -> Result<Expr> {
        let e = self.native(name, args)?;
        if matches!(&e.node, Node::Call(f, _) if f.volatile) {
            (self.found.unsteady, self.found.varies) = (true, true);
        }
        Ok(e)
    }

    fn count_star(&mut self) -> Result<Expr> {
        let e = AggregateCall::expr(AggregateKind::Count, false, Vec::new())?;
        if self.request.over { Ok(e) } else { self.of_its_query(e, self.queries.outer_reads.len()) }
    }

    fn aggregate_args(&mut self, args: ExprList, like: &DataType) -> Result<Vec<Expr>> {
        let over = std::mem::take(&mut self.request.over);
        let rule = std::mem::replace(&mut self.block().alias_rule, AliasRule::Never);
        let windows = std::mem::take(&mut self.block().windows_in);
        let within = std::mem::replace(&mut self.block().in_aggregate, !over);
        let args: Result<Vec<Expr>> = self.parsed.list(args).iter().map(|e| self.expr_like(*e, like)).collect();
        self.block().alias_rule = rule;
        self.block().windows_in = windows;
        self.block().in_aggregate = within;
        let args = args?;
        if !over && args.iter().any(Expr::has_aggregate) {
            return Err(err!(ER_INVALID_GROUP_FUNC_USE));
        }
        Ok(args)
    }

    fn aggregate(&mut self, func: ast::Aggregate, distinct: bool, args: ExprList) -> Result<Expr> {
        use ast::Aggregate as A;
        let like = match func {
            A::Sum | A::Avg => parameter::double_type(),
            A::StdPop | A::StdSamp | A::VarPop | A::VarSamp => parameter::decimal_type(),
            A::BitAnd | A::BitOr | A::BitXor => {
                DataType::string(TypeKind::VarBinary, BIT_AGGREGATE_BYTES, CollationId::BINARY)
            }
            _ => self.text_parameter(),
        };
        let mut args = self.aggregate_args(args, &like)?;
        if distinct {
            self.ask_once(&mut args);
        }
        let kind = match func {
            A::Count => AggregateKind::Count,
            A::Sum => AggregateKind::Sum,
            A::Min => AggregateKind::Min,
            A::Max => AggregateKind::Max,
            A::Avg => AggregateKind::Avg,
            A::BitAnd => AggregateKind::BitAnd,
            A::BitOr => AggregateKind::BitOr,
            A::BitXor => AggregateKind::BitXor,
            A::StdPop => AggregateKind::StdPop,
            A::StdSamp => AggregateKind::StdSamp,
            A::VarPop => AggregateKind::VarPop,
            A::VarSamp => AggregateKind::VarSamp,
            A::JsonArrayAgg => AggregateKind::JsonArray,
            A::JsonObjectAgg => AggregateKind::JsonObject,
        };
        let mut e = AggregateCall::expr(kind, distinct, args)?;
        if kind == AggregateKind::Avg
            && let Node::Aggregate(call) = &mut e.node
        {
            e.ty = number::with_div_increment(e.ty, self.div_increment());
            call.ty = e.ty;
        }
        if let (AggregateKind::Min | AggregateKind::Max, Node::Aggregate(call)) = (kind, &mut e.node) {
            call.quiet = self.block().sums_alone;
        }
        Ok(e)
    }

    /// Volatile arguments of an aggregate that looks at them again, to tell them apart or to sort: each is one call a row.
    fn ask_once(&mut self, args: &mut [Expr]) {
        for e in args.iter_mut().filter(|e| written::is_volatile(e)) {
            *e = written::written(std::mem::replace(e, Expr::null()), self.next_once());
        }
    }

    /// A key of GROUP_CONCAT's ORDER BY; a number is the place of an argument. Error 1054.
    fn concat_key(&mut self, id: ExprId, args: &[Expr]) -> Result<Expr> {
        let Ast::Int(place) = self.parsed[id] else { return self.plain(id) };
        let named = place.checked_sub(1).and_then(|i| args.get(usize::try_from(i).ok()?));
        named.cloned().ok_or_else(|| err!(ER_BAD_FIELD_ERROR, place, "order clause"))
    }

    pub(super) fn charset(&self, name: &str) -> Result<CollationId> {
        match Charset::by_name(name) {
            Some(c) => Ok(CollationId::default_of(c)),
            None => Err(err!(ER_UNKNOWN_CHARACTER_SET, name)),
        }
    }

    fn json_value(&mut self, call: &ast::JsonValue) -> Result<Expr> {
        let (doc, path) = (self.expr(call.doc)?, self.expr(call.path)?);
        if !(doc.ty.kind == TypeKind::Json || doc.ty.kind.is_text() || doc.ty.kind.is_bytes())
            && doc.ty.kind != TypeKind::Null
        {
            return Err(err!(ER_INVALID_TYPE_FOR_JSON, 1, "json_value"));
        }
        if let Node::Const(Value::Bytes(text)) = &path.node {
            functions::json::read_path(&String::from_utf8_lossy(text))?;
        }
        let ty = match call.returning {
            Some(to) => {
                let ty = self.cast_type(to, &DataType { length: 512, ..doc.ty })?;
                match to {
                    ast::CastType::Char { charset: None, .. } => {
                        DataType { collation: CollationId::UTF8MB4_0900_BIN, ..ty }
                    }
                    _ => ty,
                }
            }
            None => DataType::string(TypeKind::VarChar, 512, CollationId::UTF8MB4_0900_BIN),
        };
        let mut response = |r: ast::JsonOnResponse| -> Result<(u8, Expr)> {
            Ok(match r {
                ast::JsonOnResponse::Implicit | ast::JsonOnResponse::Null => (0, Expr::null()),
                ast::JsonOnResponse::Error => (1, Expr::null()),
                ast::JsonOnResponse::Default(e) => (2, self.expr(e)?),
            })
        };
        let (empty, error) = (response(call.on_empty)?, response(call.on_error)?);
        Ok(functions::json::json_value(doc, path, ty, empty, error))
    }

    /// Error 1210 unless NAME_CONST has a literal for a name, and one for a value, with a sign or a collation.
    fn check_name_const(&self, args: &[ExprId]) -> Result<()> {
        let is_literal = |id: ExprId| {
            use Ast::{Bytes, Decimal, Float, Int, Null, Param, String};
            matches!(self.parsed[id], Null | Int(_) | Decimal(_) | Float(_) | String { .. } | Bytes { .. } | Param(_))
        };
        match args {
            [name, value] if !is_literal(*name) || !is_literal(value_of(&self.parsed[*value], *value)) => {
                Err(err!(ER_WRONG_ARGUMENTS, "NAME_CONST"))
            }
            _ => Ok(()),
        }
    }

    /// DEFAULT(`of`), of which `e` was made. Error 1364, also for the alias of an expression.
    fn default_of(&mut self, e: Expr, of: ExprId) -> Result<Expr> {
        let raw = e.raw();
        let Node::Column { depth: 0, slot, column } = raw else {
            return match &self.parsed[of] {
                Ast::Column { column, .. } => Err(err!(ER_NO_DEFAULT_FOR_FIELD, self.parsed.name(*column))),
                _ => Err(SqlError::new(ER_PARSE_ERROR, "You have an error in your SQL syntax near 'DEFAULT'")),
            };
        };
        let source = self.block().sources.iter().find(|s| s.slot == *slot as usize);
        let Some(table) = source.and_then(|s| s.table.clone()) else {
            return Err(unsupported("DEFAULT of a derived column"));
        };
        column_default(&table, *column as usize)
    }
}

/// A column's default as an expression; 1364 when it has none.
pub fn column_default(table: &catalog::Table, column: usize) -> Result<Expr> {
    let c = &table.columns[column];
    match &c.default {
        catalog::ColumnDefault::Value(v) => Ok(Expr::new(Node::Const(v.clone()), c.data_type)),
        catalog::ColumnDefault::Now => Ok(Expr::new(Node::Now(c.data_type.decimals), c.data_type)),
        // DEFAULT(c) of a default expression is refused by MySQL too.
        catalog::ColumnDefault::Expression(_) => Err(err!(ER_DEFAULT_AS_VAL_GENERATED)),
        catalog::ColumnDefault::None if c.generated.is_some() => Err(err!(ER_DEFAULT_AS_VAL_GENERATED)),
        catalog::ColumnDefault::None => Err(err!(ER_NO_DEFAULT_FOR_FIELD, c.name)),
    }
}

/// The expression with its own columns read from `slot`.
pub fn at_slot(mut e: Expr, to: usize) -> Expr {
    if let Node::Column { depth: 0, slot, .. } = &mut e.node {
        *slot = to as u16;
    }
    e.children_mut(&mut |c| *c = at_slot(std::mem::replace(c, Expr::null()), to));
    e
}

/// Does MySQL have a spatial function of this name?
pub fn is_spatial(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("st_")
        || name.starts_with("mbr")
        || matches!(
            name.as_str(),
            "point"
                | "linestring"
                | "polygon"
                | "multipoint"
                | "multilinestring"
                | "multipolygon"
                | "geometrycollection"
                | "geomcollection"
        )
}

#[cold]
fn no_function(database: Option<&str>, name: &str) -> SqlError {
    if is_spatial(name) {
        return expr::error::unsupported("spatial functions");
    }
    match database {
        Some(d) => err!(ER_SP_DOES_NOT_EXIST, "FUNCTION", format!("{d}.{name}")),
        None => err!(ER_NO_DB_ERROR),
    }
}

/// A literal number, as long as its digits.
pub fn integer(v: u64) -> Expr {
    let length = v.checked_ilog10().unwrap_or(0) + 1;
    let ty = DataType { length: length + 1, ..DataType::new(TypeKind::BigInt) };
    match i64::try_from(v) {
        Ok(i) => constant(Value::Int(i), ty),
        Err(_) => constant(Value::UInt(v), DataType { length, ..ty }.unsigned()),
    }
}

/// The negation, in the node itself where that has such a form.
pub fn not(e: Expr) -> Expr {
    let ty = boolean_type(e.ty.nullable);
    match e.node {
        Node::Exists { negated, query } => Expr::new(Node::Exists { negated: !negated, query }, ty),
        Node::InSubquery { negated, operands, query, collations } => {
            Expr::new(Node::InSubquery { negated: !negated, operands, query, collations }, ty)
        }
        Node::In { negated, operand, list, collation, kept } => {
            Expr::new(Node::In { negated: !negated, operand, list, collation, kept }, ty)
        }
        Node::IsNull { negated, operand } => Expr::new(Node::IsNull { negated: !negated, operand }, ty),
        node => Expr::new(Node::Not(Box::new(Expr { node, ty: e.ty })), ty),
    }
}

pub(super) fn negate(e: Expr) -> Expr {
    let e = operand::function_number(e);
    match e.node {
        Node::Const(Value::Int(v)) if v >= 0 => constant(Value::Int(-v), e.ty),
        // MySQL takes the number for one beyond the signed integers, and makes it a DECIMAL.
        Node::Const(Value::Int(v)) => {
            let d = Value::UInt(v.unsigned_abs()).to_decimal();
            constant(Value::Decimal(d), convert::decimal_type(&d))
        }
        Node::Const(Value::UInt(v)) if v == 1 << 63 => {
            constant(Value::Int(i64::MIN), DataType { length: 20, ..DataType::new(TypeKind::BigInt) })
        }
        Node::Const(Value::UInt(v)) => {
            let d = Value::UInt(v).to_decimal();
            constant(Value::Decimal(d.neg()), convert::decimal_type(&d))
        }
        _ => {
            let ty = number::negate_type(&e.ty);
            Expr::new(Node::Neg(Box::new(e)), ty)
        }
    }
}

/// CASE and IF: the result's type is what all branches have in common.
pub fn case(whens: Vec<(Expr, Expr)>, otherwise: Option<Box<Expr>>) -> Result<Expr> {
    let mut results: Vec<&Expr> = whens.iter().map(|(_, t)| t).collect();
    results.extend(otherwise.as_deref());
    let mut ty = common::common_type(&results, "case")?;
    ty.nullable |= otherwise.is_none();
    Ok(Expr::new(Node::Case { whens, otherwise }, ty))
}

/// The operand behind a sign or a collation, else the expression `id` itself.
fn value_of(e: &Ast, id: ExprId) -> ExprId {
    match e {
        Ast::Unary { op: ast::UnaryOp::Neg, operand } | Ast::Collate { operand, .. } => *operand,
        _ => id,
    }
}
