//! INSERT, REPLACE, UPDATE, DELETE, LOAD DATA.

use super::*;

impl Parser<'_> {
    /// INSERT or REPLACE.
    pub(super) fn insert(&mut self) -> R<Statement> {
        let replace = self.bump().kw == Kw::REPLACE;
        self.take_hint();
        let priority = match self.tok.kw {
            Kw::LOW_PRIORITY => Priority::Low,
            Kw::DELAYED => Priority::Delayed,
            Kw::HIGH_PRIORITY if !replace => Priority::High,
            _ => Priority::Normal,
        };
        if priority != Priority::Normal {
            self.bump();
        }
        let ignore = !replace && self.eat(Kw::IGNORE);
        self.eat(Kw::INTO);
        let table = self.object_name()?;
        let partitions = self.partition_names()?;
        let (mut columns, mut row_alias) = (None, None);
        let source = if self.eat(Kw::SET) {
            self.insert_set(&mut columns)?
        } else {
            if self.is(Tok::LParen) && !self.paren_begins_query() {
                columns = Some(self.insert_columns()?);
            }
            self.insert_source()?
        };
        let rows = matches!(source, InsertSource::Rows(_));
        if rows && !replace && self.eat(Kw::AS) {
            let alias = self.name()?;
            let names = if self.is(Tok::LParen) { self.paren_names()? } else { Vec::new() };
            row_alias = Some((alias, names));
        }
        let mut on_duplicate = Vec::new();
        if !replace && self.eat(Kw::ON) {
            self.expect_all(&[Kw::DUPLICATE, Kw::KEY, Kw::UPDATE])?;
            on_duplicate = self.assignments()?;
        }
        let insert = Insert { replace, priority, ignore, table, partitions, columns, source, row_alias, on_duplicate };
        Ok(Statement::Insert(Box::new(insert)))
    }

    /// PARTITION (names), or nothing.
    pub(super) fn partition_names(&mut self) -> R<Vec<Name>> {
        if self.eat(Kw::PARTITION) { self.paren_names() } else { Ok(Vec::new()) }
    }

    /// `(column, ...)`; a column may be qualified, by what does not matter to an INSERT of one table.
    fn insert_columns(&mut self) -> R<Vec<Name>> {
        self.expect_tok(Tok::LParen)?;
        if self.eat_tok(Tok::RParen) {
            return Ok(Vec::new());
        }
        let columns = self.comma_list(|p| {
            let mut name = p.name()?;
            for _ in 0..2 {
                if p.eat_tok(Tok::Dot) {
                    name = p.any_word()?;
                }
            }
            Ok(name)
        })?;
        self.expect_tok(Tok::RParen)?;
        Ok(columns)
    }

    fn insert_set(&mut self, columns: &mut Option<Vec<Name>>) -> R<InsertSource> {
        let mark = self.scratch.len();
        let names = self.comma_list(|p| {
            let mut name = p.name()?;
            for _ in 0..2 {
                if p.eat_tok(Tok::Dot) {
                    name = p.any_word()?;
                }
            }
            p.expect_assign()?;
            let value = p.expr_or_default()?;
            p.scratch.push(value);
            Ok(name)
        })?;
        *columns = Some(names);
        Ok(InsertSource::Rows(vec![self.list_from(mark)]))
    }

    fn insert_source(&mut self) -> R<InsertSource> {
        match self.tok.kw {
            Kw::VALUES | Kw::VALUE => {
                let values = self.bump().kw == Kw::VALUES;
                if values && self.at(Kw::ROW) {
                    return Ok(InsertSource::Rows(self.comma_list(|p| {
                        p.expect(Kw::ROW)?;
                        p.expect_tok(Tok::LParen)?;
                        p.row_values()
                    })?));
                }
                Ok(InsertSource::Rows(self.comma_list(|p| {
                    p.expect_tok(Tok::LParen)?;
                    p.row_values()
                })?))
            }
            _ if self.at_query_start() || self.is(Tok::LParen) => {
                let start = self.tok.start;
                let query = self.query()?;
                if self.queries[query.index()].into.is_some() {
                    return Err(self.syntax_at(start));
                }
                Ok(InsertSource::Query(query))
            }
            _ => Err(self.syntax()),
        }
    }

    /// `[value, ...] )`, behind the opening parenthesis of a row.
    pub(super) fn row_values(&mut self) -> R<ExprList> {
        let mark = self.scratch.len();
        if self.eat_tok(Tok::RParen) {
            return Ok(self.list_from(mark));
        }
        loop {
            let value = self.expr_or_default()?;
            self.scratch.push(value);
            if !self.eat_tok(Tok::Comma) {
                break;
            }
        }
        self.expect_tok(Tok::RParen)?;
        Ok(self.list_from(mark))
    }

    /// `column = value, ...`
    pub(super) fn assignments(&mut self) -> R<Vec<Assignment>> {
        self.comma_list(|p| {
            let column = p.column_ref()?;
            p.expect_assign()?;
            let value = p.expr_or_default()?;
            Ok(Assignment { column, value })
        })
    }

    pub(super) fn update(&mut self, with: Option<Box<With>>) -> R<Statement> {
        self.bump();
        self.take_hint();
        let low_priority = self.eat(Kw::LOW_PRIORITY);
        let ignore = self.eat(Kw::IGNORE);
        let tables = self.table_refs()?;
        self.expect(Kw::SET)?;
        let set = self.assignments()?;
        let filter = if self.eat(Kw::WHERE) { Some(self.expr()?) } else { None };
        let order = self.order_by()?;
        let limit = self.single_limit()?;
        Ok(Statement::Update(Box::new(Update { with, low_priority, ignore, tables, set, filter, order, limit })))
    }

    /// LIMIT n, without offset.
    fn single_limit(&mut self) -> R<Option<Limit>> {
        let limit = self.limit()?;
        if limit.is_some_and(|l| l.offset.is_some()) {
            return Err(self.syntax_at(self.prev_end));
        }
        Ok(limit)
    }

    pub(super) fn delete(&mut self, with: Option<Box<With>>) -> R<Statement> {
        self.bump();
        self.take_hint();
        let low_priority = self.eat(Kw::LOW_PRIORITY);
        let quick = self.eat(Kw::QUICK);
        let ignore = self.eat(Kw::IGNORE);
        let mut targets = Vec::new();
        let from;
        if self.eat(Kw::FROM) {
            let name = self.object_name()?;
            if self.at(Kw::USING) || self.is(Tok::Comma) || self.is(Tok::Dot) {
                targets.push(self.delete_target_rest(name)?);
                while self.eat_tok(Tok::Comma) {
                    targets.push(self.delete_target()?);
                }
                self.expect(Kw::USING)?;
                from = self.table_refs()?;
            } else {
                let alias = self.table_alias()?;
                let partitions = self.partition_names()?;
                let factor = TableFactor { name, alias, partitions, index_hints: Vec::new() };
                from = self.add_table(TableRef::Table(factor));
            }
        } else {
            targets = self.comma_list(Self::delete_target)?;
            self.expect(Kw::FROM)?;
            from = self.table_refs()?;
        }
        let filter = if self.eat(Kw::WHERE) { Some(self.expr()?) } else { None };
        let (mut order, mut limit) = (Vec::new(), None);
        if targets.is_empty() {
            order = self.order_by()?;
            limit = self.single_limit()?;
        }
        Ok(Statement::Delete(Box::new(Delete {
            with,
            low_priority,
            quick,
            ignore,
            targets,
            from,
            filter,
            order,
            limit,
        })))
    }

    /// `[schema.]table[.*]`
    fn delete_target(&mut self) -> R<ObjectName> {
        let first = self.name()?;
        let mut name = ObjectName { schema: None, name: first };
        if self.is(Tok::Dot) && self.peek().tok != Tok::Star {
            self.bump();
            name = ObjectName { schema: Some(first), name: self.any_word()? };
        }
        self.delete_target_rest(name)
    }

    fn delete_target_rest(&mut self, name: ObjectName) -> R<ObjectName> {
        if self.eat_tok(Tok::Dot) {
            self.expect_tok(Tok::Star)?;
        }
        Ok(name)
    }

    /// LOAD DATA | XML, behind LOAD.
    pub(super) fn load_data(&mut self) -> R<Statement> {
        let xml = self.expect_any(&[Kw::DATA, Kw::XML])? == Kw::XML;
        let low_priority = self.eat(Kw::LOW_PRIORITY);
        let concurrent = !low_priority && self.eat(Kw::CONCURRENT);
        let local = self.eat(Kw::LOCAL);
        self.expect(Kw::INFILE)?;
        let file = self.text()?;
        let duplicates = self.on_duplicate();
        self.expect_all(&[Kw::INTO, Kw::TABLE])?;
        let table = self.object_name()?;
        let partitions = self.partition_names()?;
        let charset = if self.eat_charset_words() { Some(self.charset_name()?) } else { None };
        let mut rows_identified = None;
        if xml && self.eat(Kw::ROWS) {
            self.expect_all(&[Kw::IDENTIFIED, Kw::BY])?;
            rows_identified = Some(self.text()?);
        }
        let format = self.file_format()?;
        let mut ignore_lines = 0;
        if self.eat(Kw::IGNORE) {
            ignore_lines = self.integer()?;
            self.expect_any(&[Kw::LINES, Kw::ROWS])?;
        }
        let mut targets = Vec::new();
        if self.eat_tok(Tok::LParen) && !self.eat_tok(Tok::RParen) {
            targets = self.comma_list(|p| if p.is(Tok::UserVar) { p.primary() } else { p.column_ref() })?;
            self.expect_tok(Tok::RParen)?;
        }
        let set = if self.eat(Kw::SET) { self.assignments()? } else { Vec::new() };
        Ok(Statement::LoadData(Box::new(LoadData {
            xml,
            low_priority,
            concurrent,
            local,
            file,
            duplicates,
            table,
            partitions,
            charset,
            rows_identified,
            format,
            ignore_lines,
            targets,
            set,
        })))
    }

    /// IGNORE, REPLACE or nothing.
    pub(super) fn on_duplicate(&mut self) -> OnDuplicate {
        match self.eat_any(&[Kw::IGNORE, Kw::REPLACE]) {
            Some(Kw::IGNORE) => OnDuplicate::Ignore,
            Some(_) => OnDuplicate::Replace,
            None => OnDuplicate::Error,
        }
    }
}
