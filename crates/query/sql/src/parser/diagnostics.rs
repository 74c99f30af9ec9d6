//! SIGNAL, RESIGNAL, GET DIAGNOSTICS.

use super::*;
use types::codes::*;

impl Parser<'_> {
    /// Behind SIGNAL or RESIGNAL. Errors 1641, 1646.
    pub(super) fn signal(&mut self, resignal: bool) -> R<Statement> {
        let start = self.tok.start as usize;
        let condition = match self.at(Kw::SQLSTATE) {
            true => Some(self.sqlstate_or_number()?),
            false if self.at_name() => Some(self.named_condition()?),
            false if !resignal => return Err(self.syntax()),
            false => None,
        };
        if matches!(condition, Some(Condition::Code(_))) {
            return Err(ParseError::at(err!(ER_SIGNAL_BAD_CONDITION_TYPE), start));
        }
        let mut items: Vec<(ConditionItem, ExprId)> = Vec::new();
        if self.eat(Kw::SET) {
            loop {
                let start = self.tok.start as usize;
                let item = condition_item(self.tok.kw).filter(|i| *i != ConditionItem::ReturnedSqlstate);
                let Some(item) = item else { return Err(self.syntax()) };
                if items.iter().any(|(i, _)| *i == item) {
                    return Err(ParseError::at(err!(ER_DUP_SIGNAL_SET, self.tok.kw.spelling()), start));
                }
                self.bump();
                self.expect_tok(Tok::Eq)?;
                let value = self.signal_value()?;
                items.push((item, value));
                if !self.eat_tok(Tok::Comma) {
                    break;
                }
            }
        }
        Ok(Statement::Signal(Box::new(Signal { resignal, condition, items })))
    }

    /// A literal or a variable, and nothing else.
    fn signal_value(&mut self) -> R<ExprId> {
        if self.at_name() && self.peek().tok != Tok::Dot {
            let name = self.name()?;
            let value = self.local_or_column(name);
            return Ok(self.add(value));
        }
        if self.is(Tok::UserVar) {
            let name = self.target_var_name()?;
            return Ok(self.add(Expr::UserVar(name)));
        }
        if self.is(Tok::Minus) {
            return Err(self.syntax());
        }
        let refused = self.syntax();
        let value = self.simple_expr()?;
        match self.exprs.last() {
            Some(Expr::Null | Expr::Bool(_) | Expr::Int(_) | Expr::Decimal(_) | Expr::Float(_)) => Ok(value),
            Some(Expr::String { .. } | Expr::Bytes { .. } | Expr::Temporal { .. } | Expr::SystemVar { .. }) => {
                Ok(value)
            }
            Some(Expr::Column { .. } | Expr::Local(_) | Expr::Param(_)) => Ok(value),
            _ => Err(refused),
        }
    }

    /// Behind GET.
    pub(super) fn get_diagnostics(&mut self) -> R<Statement> {
        let stacked = self.eat_any(&[Kw::CURRENT, Kw::STACKED]) == Some(Kw::STACKED);
        self.expect(Kw::DIAGNOSTICS)?;
        let what = match self.eat(Kw::CONDITION) {
            true => {
                let number = self.simple_expr()?;
                Diagnosed::Condition(number, self.comma_list(|p| p.diagnosed(condition_item))?)
            }
            false => Diagnosed::Statement(self.comma_list(|p| {
                p.diagnosed(|kw| match kw {
                    Kw::NUMBER => Some(StatementItem::Number),
                    Kw::ROW_COUNT => Some(StatementItem::RowCount),
                    _ => None,
                })
            })?),
        };
        Ok(Statement::GetDiagnostics(Box::new(GetDiagnostics { stacked, what })))
    }

    /// `target = item`
    fn diagnosed<T>(&mut self, item: impl Fn(Kw) -> Option<T>) -> R<(DiagnosticTarget, T)> {
        let target = match self.is(Tok::UserVar) {
            true => DiagnosticTarget::User(self.target_var_name()?),
            false if self.program.is_some() => DiagnosticTarget::Local(self.local()?),
            false => {
                let start = self.tok.start as usize;
                let name = self.name()?;
                return Err(ParseError::at(err!(ER_SP_UNDECLARED_VAR, self.shown(name)), start));
            }
        };
        self.expect_tok(Tok::Eq)?;
        let Some(item) = item(self.tok.kw) else { return Err(self.syntax()) };
        self.bump();
        Ok((target, item))
    }
}

fn condition_item(kw: Kw) -> Option<ConditionItem> {
    use ConditionItem as I;
    Some(match kw {
        Kw::CLASS_ORIGIN => I::ClassOrigin,
        Kw::SUBCLASS_ORIGIN => I::SubclassOrigin,
        Kw::CONSTRAINT_CATALOG => I::ConstraintCatalog,
        Kw::CONSTRAINT_SCHEMA => I::ConstraintSchema,
        Kw::CONSTRAINT_NAME => I::ConstraintName,
        Kw::CATALOG_NAME => I::CatalogName,
        Kw::SCHEMA_NAME => I::SchemaName,
        Kw::TABLE_NAME => I::TableName,
        Kw::COLUMN_NAME => I::ColumnName,
        Kw::CURSOR_NAME => I::CursorName,
        Kw::MESSAGE_TEXT => I::MessageText,
        Kw::MYSQL_ERRNO => I::MysqlErrno,
        Kw::RETURNED_SQLSTATE => I::ReturnedSqlstate,
        _ => return None,
    })
}
