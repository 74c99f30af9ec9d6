//! Prints expressions with every operator in parentheses.

use sql::ast::*;
use sql::{SqlMode, parse};

/// The first select item of `SELECT text`, printed.
pub fn show(text: &str, mode: SqlMode) -> Result<String, sql::ParseError> {
    let parsed = parse(format!("SELECT {text}").as_bytes(), mode)?;
    let Statement::Query(query) = parsed.statement else { panic!("not a query") };
    let QueryBody::Select(select) = &parsed[query].body else { panic!("not a SELECT") };
    let [SelectItem::Expr { expr, alias: None, .. }] = select.items[..] else { panic!("not one item: {text}") };
    Ok(Printer(&parsed).expr(expr))
}

struct Printer<'a>(&'a Parsed);

impl Printer<'_> {
    fn text(&self, s: Str) -> String {
        String::from_utf8_lossy(self.0.bytes(s)).into_owned()
    }

    fn quoted(&self, s: Str) -> String {
        format!("'{}'", self.text(s).replace('\\', "\\\\").replace('\'', "''"))
    }

    fn list(&self, list: ExprList) -> String {
        self.0.list(list).iter().map(|&e| self.expr(e)).collect::<Vec<_>>().join(", ")
    }

    fn joined(&self, list: ExprList, op: &str) -> String {
        format!("({})", self.0.list(list).iter().map(|&e| self.expr(e)).collect::<Vec<_>>().join(op))
    }

    fn expr(&self, id: ExprId) -> String {
        let not = |negated: &bool| if *negated { "NOT " } else { "" };
        match &self.0[id] {
            Expr::Null => "NULL".into(),
            Expr::Bool(b) => b.to_string().to_uppercase(),
            Expr::Int(n) => n.to_string(),
            Expr::Decimal(s) | Expr::Float(s) => self.text(*s),
            Expr::String { text, introducer } => match introducer {
                Some(cs) => format!("_{}{}", self.text(*cs), self.quoted(*text)),
                None => self.quoted(*text),
            },
            Expr::Bytes { bytes, .. } => {
                let hex: String = self.0.bytes(*bytes).iter().map(|b| format!("{b:02x}")).collect();
                format!("x'{hex}'")
            }
            Expr::Param(n) => format!("?{n}"),
            Expr::Column { schema, table, column } => [*schema, *table, Some(*column)]
                .into_iter()
                .flatten()
                .map(|n| self.text(n))
                .collect::<Vec<_>>()
                .join("."),
            Expr::UserVar(name) => format!("@{}", self.text(*name)),
            Expr::AssignUserVar { name, value } => format!("(@{} := {})", self.text(*name), self.expr(*value)),
            Expr::SystemVar { scope, name, .. } => format!("@@{scope:?}.{}", self.text(*name)),
            Expr::Unary { op, operand } => {
                let op = match op {
                    UnaryOp::Neg => "- ",
                    UnaryOp::Plus => "+ ",
                    UnaryOp::BitNot => "~",
                    UnaryOp::Not => "NOT ",
                    UnaryOp::Binary => "BINARY ",
                };
                format!("({op}{})", self.expr(*operand))
            }
            Expr::Binary { op, left, right } => {
                let right = self.expr(*right);
                let (name, right) = match op {
                    BinaryOp::MemberOf => ("MEMBER OF", format!("({right})")),
                    other => (operator(*other), right),
                };
                format!("({} {name} {right})", self.expr(*left))
            }
            Expr::And(list) => self.joined(*list, " AND "),
            Expr::Or(list) => self.joined(*list, " OR "),
            Expr::Is { operand, negated, test } => {
                format!("({} IS {}{})", self.expr(*operand), not(negated), format!("{test:?}").to_uppercase())
            }
            Expr::Like { operand, negated, pattern, escape } => {
                let escape = escape.map(|e| format!(" ESCAPE {}", self.expr(e))).unwrap_or_default();
                format!("({} {}LIKE {}{escape})", self.expr(*operand), not(negated), self.expr(*pattern))
            }
            Expr::Regexp { operand, negated, pattern } => {
                format!("({} {}REGEXP {})", self.expr(*operand), not(negated), self.expr(*pattern))
            }
            Expr::Between { operand, negated, low, high } => format!(
                "({} {}BETWEEN {} AND {})",
                self.expr(*operand),
                not(negated),
                self.expr(*low),
                self.expr(*high)
            ),
            Expr::InList { operand, negated, list } => {
                format!("({} {}IN ({}))", self.expr(*operand), not(negated), self.list(*list))
            }
            Expr::InQuery { operand, negated, .. } => format!("({} {}IN (query))", self.expr(*operand), not(negated)),
            Expr::Quantified { op, all, left, .. } => {
                format!("({} {} {} (query))", self.expr(*left), operator(*op), if *all { "ALL" } else { "ANY" })
            }
            Expr::Exists(_) => "EXISTS (query)".into(),
            Expr::Subquery(_) => "(query)".into(),
            Expr::Row(list) => format!("ROW({})", self.list(*list)),
            Expr::Case { operand, whens, otherwise } => {
                let mut out = "CASE".to_string();
                if let Some(e) = operand {
                    out += &format!(" {}", self.expr(*e));
                }
                for pair in self.0.list(*whens).chunks(2) {
                    out += &format!(" WHEN {} THEN {}", self.expr(pair[0]), self.expr(pair[1]));
                }
                if let Some(e) = otherwise {
                    out += &format!(" ELSE {}", self.expr(*e));
                }
                out + " END"
            }
            Expr::Call { name, args, .. } => format!("{}({})", self.text(*name), self.list(*args)),
            Expr::Builtin { func, args } => format!("{func:?}({})", self.list(*args)).to_uppercase(),
            Expr::Aggregate { func, distinct, args } => {
                format!("{func:?}({}{})", if *distinct { "DISTINCT " } else { "" }, self.list(*args))
            }
            Expr::CountStar => "COUNT(*)".into(),
            Expr::Collate { operand, collation } => {
                format!("({} COLLATE {})", self.expr(*operand), self.text(*collation))
            }
            Expr::DateArith { subtract, date, amount, unit } => {
                let op = if *subtract { "-" } else { "+" };
                format!(
                    "({} {op} INTERVAL {} {})",
                    self.expr(*date),
                    self.expr(*amount),
                    format!("{unit:?}").to_uppercase()
                )
            }
            other => format!("{other:?}"),
        }
    }
}

fn operator(op: BinaryOp) -> &'static str {
    use BinaryOp::*;
    match op {
        Xor => "XOR",
        Eq => "=",
        NullSafeEq => "<=>",
        Ne => "<>",
        Lt => "<",
        Le => "<=",
        Gt => ">",
        Ge => ">=",
        SoundsLike => "SOUNDS LIKE",
        MemberOf => "MEMBER OF",
        BitOr => "|",
        BitAnd => "&",
        ShiftLeft => "<<",
        ShiftRight => ">>",
        Add => "+",
        Sub => "-",
        Mul => "*",
        Div => "/",
        IntDiv => "DIV",
        Mod => "%",
        BitXor => "^",
        Concat => "||",
        JsonExtract => "->",
        JsonUnquoteExtract => "->>",
    }
}
