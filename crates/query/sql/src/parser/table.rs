//! Table references: FROM, and what UPDATE and DELETE join.

use super::*;
use types::codes::*;

impl Parser<'_> {
    /// `ref, ref, ...`; commas become inner joins.
    pub(super) fn table_refs(&mut self) -> R<TableId> {
        let mut left = self.table_ref()?;
        let mut length = 0;
        while self.eat_tok(Tok::Comma) {
            let right = self.table_ref()?;
            left = self.add_table(TableRef::Join {
                left,
                right,
                kind: JoinKind::Inner,
                natural: false,
                constraint: JoinConstraint::None,
            });
            length += 1;
            self.check_chain(length)?;
        }
        Ok(left)
    }

    /// One table with everything joined to it.
    fn table_ref(&mut self) -> R<TableId> {
        let first = self.table_factor()?;
        if !self.at_join() {
            return Ok(first);
        }
        Ok(self.joins(first)?.0)
    }

    fn at_join(&self) -> bool {
        matches!(self.tok.kw, Kw::JOIN | Kw::INNER | Kw::CROSS | Kw::LEFT | Kw::RIGHT | Kw::NATURAL | Kw::STRAIGHT_JOIN)
    }

    /// Joins behind `first`. Also returns the innermost join on the left edge, whose left side is `first`.
    ///
    /// A join without a condition reaches as far right as it can while looking for its ON: `a JOIN b JOIN c ON x ON y` is
    /// `a JOIN (b JOIN c ON x) ON y`. When no second ON comes, it is turned to `(a JOIN b) JOIN c ON x`.
    fn joins(&mut self, first: TableId) -> R<(TableId, Option<TableId>)> {
        self.deeper(|p| p.joins_behind(first))
    }

    fn joins_behind(&mut self, first: TableId) -> R<(TableId, Option<TableId>)> {
        let mut left = first;
        let mut edge = None;
        let mut length = 0;
        while self.at_join() {
            let (kind, natural) = self.join_kind()?;
            let mut right = self.table_factor()?;
            let mut right_edge = None;
            if !natural && self.at_join() {
                (right, right_edge) = self.joins(right)?;
            }
            let constraint = if natural { JoinConstraint::None } else { self.join_constraint()? };
            let outer = matches!(kind, JoinKind::Left | JoinKind::Right);
            if matches!(constraint, JoinConstraint::None) && outer && !natural {
                return Err(self.syntax());
            }
            match (right_edge, &constraint) {
                (Some(inner), JoinConstraint::None) => {
                    let TableRef::Join { left: leaf, .. } = self.tables[inner.index()] else {
                        unreachable!("the edge is a join")
                    };
                    let cross = self.add_table(TableRef::Join { left, right: leaf, kind, natural, constraint });
                    if let TableRef::Join { left: slot, .. } = &mut self.tables[inner.index()] {
                        *slot = cross;
                    }
                    edge = edge.or(Some(cross));
                    left = right;
                }
                _ => {
                    left = self.add_table(TableRef::Join { left, right, kind, natural, constraint });
                    edge = edge.or(Some(left));
                }
            }
            length += 1;
            self.check_chain(length)?;
        }
        Ok((left, edge))
    }

    /// The words of a join; and whether it is NATURAL.
    fn join_kind(&mut self) -> R<(JoinKind, bool)> {
        let natural = self.eat(Kw::NATURAL);
        let kind = match self.bump().kw {
            Kw::JOIN => return Ok((JoinKind::Inner, natural)),
            Kw::STRAIGHT_JOIN if !natural => return Ok((JoinKind::Straight, natural)),
            Kw::INNER => JoinKind::Inner,
            Kw::CROSS if !natural => JoinKind::Inner,
            kw @ (Kw::LEFT | Kw::RIGHT) => {
                self.eat(Kw::OUTER);
                if kw == Kw::LEFT { JoinKind::Left } else { JoinKind::Right }
            }
            _ => return Err(self.syntax_at(self.prev_end)),
        };
        self.expect(Kw::JOIN)?;
        Ok((kind, natural))
    }

    fn join_constraint(&mut self) -> R<JoinConstraint> {
        if self.eat(Kw::ON) {
            return Ok(JoinConstraint::On(self.expr()?));
        }
        if self.eat(Kw::USING) {
            return Ok(JoinConstraint::Using(self.paren_names()?));
        }
        Ok(JoinConstraint::None)
    }

    #[inline]
    fn table_factor(&mut self) -> R<TableId> {
        match self.tok.tok {
            Tok::LParen => return self.paren_table(),
            Tok::LBrace => {
                self.bump();
                if !self.eat(Kw::OJ) {
                    return Err(self.syntax());
                }
                let table = self.table_ref()?;
                self.expect_tok(Tok::RBrace)?;
                return Ok(table);
            }
            _ => {}
        }
        if self.at(Kw::LATERAL) {
            self.bump();
            let query = self.merged_query(false)?;
            return self.derived(true, query);
        }
        if self.at(Kw::JSON_TABLE) {
            return self.json_table();
        }
        let name = self.object_name()?;
        let partitions = if self.at(Kw::PARTITION) {
            self.bump();
            self.paren_names()?
        } else {
            Vec::new()
        };
        let alias = self.table_alias()?;
        let mut index_hints = Vec::new();
        while matches!(self.tok.kw, Kw::USE | Kw::FORCE | Kw::IGNORE) {
            self.index_hint(&mut index_hints)?;
        }
        Ok(self.add_table(TableRef::Table(TableFactor { name, alias, partitions, index_hints })))
    }

    /// `[AS] name`
    pub(super) fn table_alias(&mut self) -> R<Option<Name>> {
        if self.eat(Kw::AS) || self.at_name() { self.name().map(Some) } else { Ok(None) }
    }

    /// A derived table, or a join in parentheses.
    fn paren_table(&mut self) -> R<TableId> {
        if self.paren_begins_query() {
            let query = self.merged_query(false)?;
            return self.derived(false, query);
        }
        self.deeper(|p| {
            p.bump();
            let table = p.table_refs()?;
            p.expect_tok(Tok::RParen)?;
            Ok(table)
        })
    }

    fn derived(&mut self, lateral: bool, query: QueryId) -> R<TableId> {
        let at = self.tok.start as usize;
        let Some(alias) = self.table_alias()? else {
            return Err(ParseError::at(err!(ER_DERIVED_MUST_HAVE_ALIAS), at));
        };
        let columns = if self.is(Tok::LParen) { self.paren_names()? } else { Vec::new() };
        Ok(self.add_table(TableRef::Derived { lateral, query, alias, columns }))
    }

    fn index_hint(&mut self, hints: &mut Vec<IndexHint>) -> R<()> {
        let action = match self.bump().kw {
            Kw::USE => IndexHintAction::Use,
            Kw::FORCE => IndexHintAction::Force,
            _ => IndexHintAction::Ignore,
        };
        self.expect_any(&[Kw::INDEX, Kw::KEY])?;
        let scope = if self.eat(Kw::FOR) {
            match self.expect_any(&[Kw::JOIN, Kw::ORDER, Kw::GROUP])? {
                Kw::JOIN => IndexHintScope::Join,
                kw => {
                    self.expect(Kw::BY)?;
                    if kw == Kw::ORDER { IndexHintScope::OrderBy } else { IndexHintScope::GroupBy }
                }
            }
        } else {
            IndexHintScope::All
        };
        self.expect_tok(Tok::LParen)?;
        let indexes = if action == IndexHintAction::Use && self.is(Tok::RParen) {
            Vec::new()
        } else {
            self.comma_list(|p| if p.at(Kw::PRIMARY) { p.any_word() } else { p.name() })?
        };
        self.expect_tok(Tok::RParen)?;
        hints.push(IndexHint { action, scope, indexes });
        Ok(())
    }

    fn json_table(&mut self) -> R<TableId> {
        self.bump();
        self.expect_tok(Tok::LParen)?;
        let doc = self.expr()?;
        self.expect_tok(Tok::Comma)?;
        let path = self.text()?;
        let columns = self.json_columns()?;
        self.expect_tok(Tok::RParen)?;
        let at = self.tok.start as usize;
        let Some(alias) = self.table_alias()? else {
            return Err(ParseError::at(err!(ER_TF_MUST_HAVE_ALIAS), at));
        };
        Ok(self.add_table(TableRef::JsonTable(Box::new(JsonTable { doc, path, columns, alias }))))
    }

    fn json_columns(&mut self) -> R<Vec<JsonColumn>> {
        self.deeper(|p| {
            p.expect(Kw::COLUMNS)?;
            p.paren_list(Self::json_column)
        })
    }

    fn json_column(&mut self) -> R<JsonColumn> {
        if self.at(Kw::NESTED) && (self.peek().kw == Kw::PATH || self.peek().tok == Tok::Str) {
            self.bump();
            self.eat(Kw::PATH);
            let path = self.text()?;
            return Ok(JsonColumn::Nested { path, columns: self.json_columns()? });
        }
        let name = self.name()?;
        if self.eat(Kw::FOR) {
            self.expect(Kw::ORDINALITY)?;
            return Ok(JsonColumn::Ordinality(name));
        }
        let column_type = self.column_type()?;
        let exists = self.eat(Kw::EXISTS);
        self.expect(Kw::PATH)?;
        let path = self.text()?;
        let (on_empty, on_error) =
            if exists { (JsonOnResponse::Implicit, JsonOnResponse::Implicit) } else { self.json_responses()? };
        Ok(JsonColumn::Path { name, column_type, exists, path, on_empty, on_error })
    }
}
