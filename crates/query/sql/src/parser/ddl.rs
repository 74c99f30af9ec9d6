//! CREATE, ALTER, DROP, RENAME, TRUNCATE of databases, tables, indexes and views.

use super::*;
use types::codes::*;

/// Table options that are kept by name only.
const OTHER_OPTIONS: &[(Kw, &str)] = &[
    (Kw::MAX_ROWS, "max_rows"),
    (Kw::MIN_ROWS, "min_rows"),
    (Kw::AVG_ROW_LENGTH, "avg_row_length"),
    (Kw::PACK_KEYS, "pack_keys"),
    (Kw::DELAY_KEY_WRITE, "delay_key_write"),
    (Kw::CHECKSUM, "checksum"),
    (Kw::TABLE_CHECKSUM, "checksum"),
    (Kw::CONNECTION, "connection"),
    (Kw::PASSWORD, "password"),
    (Kw::INSERT_METHOD, "insert_method"),
    (Kw::AUTOEXTEND_SIZE, "autoextend_size"),
    (Kw::ENGINE_ATTRIBUTE, "engine_attribute"),
    (Kw::SECONDARY_ENGINE_ATTRIBUTE, "secondary_engine_attribute"),
    (Kw::SECONDARY_ENGINE, "secondary_engine"),
    (Kw::NODEGROUP, "nodegroup"),
];

impl Parser<'_> {
    /// `[DEFAULT] CHARACTER SET x`, COLLATE, ENCRYPTION, READ ONLY.
    pub(super) fn database_options(&mut self, alter: bool) -> R<(DatabaseOptions, bool)> {
        let mut options = DatabaseOptions::default();
        let mut any = false;
        loop {
            let default = self.at(Kw::DEFAULT);
            if default {
                self.bump();
            }
            if self.eat_charset_words() {
                self.eat_eq();
                let name = self.charset_name()?;
                options.charsets.push(CharsetOption::Charset(name));
            } else if self.eat(Kw::COLLATE) {
                self.eat_eq();
                let name = self.collation_name()?;
                options.charsets.push(CharsetOption::Collation(name));
            } else if self.eat(Kw::ENCRYPTION) {
                self.eat_eq();
                options.encryption = Some(self.text()?);
            } else if alter && !default && self.eat(Kw::READ) {
                self.expect(Kw::ONLY)?;
                self.eat_eq();
                let at = self.tok.start;
                let read_only = match self.eat(Kw::DEFAULT) {
                    true => false,
                    false => match self.integer()? {
                        0 => false,
                        1 => true,
                        _ => return Err(self.syntax_at(at)),
                    },
                };
                if options.read_only.is_some_and(|before| before != read_only) {
                    let message = "Conflicting declarations: 'READ ONLY=0' and 'READ ONLY=1'";
                    return Err(ParseError::new(ER_CONFLICTING_DECLARATIONS, message, at as usize));
                }
                options.read_only = Some(read_only);
            } else if default {
                return Err(self.syntax());
            } else {
                return Ok((options, any));
            }
            any = true;
        }
    }

    /// CREATE DATABASE, behind these words.
    pub(super) fn create_database(&mut self) -> R<Statement> {
        let if_not_exists = self.eat_if_not_exists()?;
        let name = self.name()?;
        let (options, _) = self.database_options(false)?;
        Ok(Statement::CreateDatabase(CreateDatabase { if_not_exists, name, options }))
    }

    pub(super) fn alter_database(&mut self) -> R<Statement> {
        let words = matches!(self.tok.kw, Kw::CHARSET | Kw::ENCRYPTION);
        let name = if self.at_name() && !words { Some(self.name()?) } else { None };
        let (options, any) = self.database_options(true)?;
        if !any {
            return Err(self.syntax());
        }
        Ok(Statement::AlterDatabase(AlterDatabase { name, options }))
    }

    /// CREATE [TEMPORARY] TABLE, behind TABLE.
    pub(super) fn create_table(&mut self, temporary: bool) -> R<Statement> {
        let if_not_exists = self.eat_if_not_exists()?;
        let name = self.object_name()?;
        let mut table =
            CreateTable { temporary, if_not_exists, name, body: CreateTableBody::Like(name), partitioning: None };
        if self.eat(Kw::LIKE) {
            table.body = CreateTableBody::Like(self.object_name()?);
            return Ok(Statement::CreateTable(Box::new(table)));
        }
        let (mut columns, mut keys) = (Vec::new(), Vec::new());
        if self.is(Tok::LParen) && self.peek().kw == Kw::LIKE {
            self.bump();
            self.bump();
            table.body = CreateTableBody::Like(self.object_name()?);
            self.expect_tok(Tok::RParen)?;
            return Ok(Statement::CreateTable(Box::new(table)));
        }
        let mut defined = false;
        if self.is(Tok::LParen) && !self.paren_begins_query() {
            self.bump();
            loop {
                match self.key_def()? {
                    Some(key) => keys.push(key),
                    None => columns.push(self.column_def()?),
                }
                if !self.eat_tok(Tok::Comma) {
                    break;
                }
            }
            self.expect_tok(Tok::RParen)?;
            defined = true;
        }
        let mut options = TableOptions::default();
        while self.table_option(&mut options)? {
            self.eat_tok(Tok::Comma);
        }
        if self.at(Kw::PARTITION) {
            let start = self.tok.start;
            self.partition_by()?;
            table.partitioning = Some(self.text_since(start));
        }
        let duplicates = self.on_duplicate();
        let as_word = self.eat(Kw::AS);
        let select = if self.at_query_start() || self.is(Tok::LParen) {
            let start = self.tok.start;
            let query = self.query()?;
            if self.queries[query.index()].into.is_some() {
                return Err(self.syntax_at(start));
            }
            Some((duplicates, query))
        } else if as_word || duplicates != OnDuplicate::Error || !defined {
            return Err(self.syntax());
        } else {
            None
        };
        table.body = CreateTableBody::Columns { columns, keys, options, select };
        Ok(Statement::CreateTable(Box::new(table)))
    }

    /// A key, foreign key or check; None when a column definition stands there.
    pub(super) fn key_def(&mut self) -> R<Option<KeyDef>> {
        if !matches!(
            self.tok.kw,
            Kw::CONSTRAINT
                | Kw::PRIMARY
                | Kw::UNIQUE
                | Kw::FOREIGN
                | Kw::CHECK
                | Kw::KEY
                | Kw::INDEX
                | Kw::FULLTEXT
                | Kw::SPATIAL
        ) {
            return Ok(None);
        }
        let mut constraint = None;
        let constraint_written = self.eat(Kw::CONSTRAINT);
        if constraint_written && self.at_name() {
            constraint = Some(self.name()?);
        }
        let kw = self.tok.kw;
        let key = match kw {
            Kw::CHECK => KeyDef::Check(self.check(constraint)?),
            Kw::FOREIGN => {
                self.bump();
                self.expect(Kw::KEY)?;
                let index = if self.at_name() { Some(self.name()?) } else { None };
                let columns = self.paren_list(|p| {
                    let name = p.name()?;
                    p.optional_length()?;
                    p.descending();
                    Ok(name)
                })?;
                self.expect(Kw::REFERENCES)?;
                let references = self.references()?;
                KeyDef::ForeignKey(ForeignKey { constraint, index, columns, references })
            }
            Kw::PRIMARY => {
                self.bump();
                self.expect(Kw::KEY)?;
                // A name is taken and forgotten: the key is PRIMARY.
                if self.at_name() {
                    self.name()?;
                }
                KeyDef::Index(self.index_rest(IndexKind::Primary, None)?)
            }
            Kw::UNIQUE => {
                self.bump();
                self.eat_any(&[Kw::KEY, Kw::INDEX]);
                let name = if self.at_name() { Some(self.name()?) } else { constraint };
                KeyDef::Index(self.index_rest(IndexKind::Unique, name)?)
            }
            Kw::KEY | Kw::INDEX | Kw::FULLTEXT | Kw::SPATIAL if !constraint_written => {
                self.bump();
                let kind = match kw {
                    Kw::FULLTEXT => IndexKind::Fulltext,
                    Kw::SPATIAL => IndexKind::Spatial,
                    _ => IndexKind::Plain,
                };
                if kind != IndexKind::Plain {
                    self.eat_any(&[Kw::KEY, Kw::INDEX]);
                }
                let name = if self.at_name() { Some(self.name()?) } else { None };
                KeyDef::Index(self.index_rest(kind, name)?)
            }
            _ => return Err(self.syntax()),
        };
        Ok(Some(key))
    }

    /// Error 1221 for ASC or DESC in an index that has no order, whatever its table and its columns are.
    fn index(&self, index: IndexDef) -> R<IndexDef> {
        let unordered = matches!(index.kind, IndexKind::Fulltext | IndexKind::Spatial)
            || index.options.algorithm == Some(IndexAlgorithm::Hash);
        if unordered && index.parts.iter().any(|p| p.ordered) {
            return Err(ParseError::at(
                err!(ER_WRONG_USAGE, "spatial/fulltext/hash index", "explicit index order"),
                self.tok.start as usize,
            ));
        }
        Ok(index)
    }

    /// `[USING type] (parts) options`
    fn index_rest(&mut self, kind: IndexKind, name: Option<Name>) -> R<IndexDef> {
        let mut options = IndexOptions::default();
        if matches!(self.tok.kw, Kw::USING | Kw::TYPE) {
            options.algorithm = Some(self.index_algorithm()?);
        }
        let parts = self.paren_list(Self::key_part)?;
        self.index_options(&mut options)?;
        self.index(IndexDef { kind, name, parts, options })
    }

    fn index_algorithm(&mut self) -> R<IndexAlgorithm> {
        self.bump();
        Ok(match self.expect_any(&[Kw::BTREE, Kw::HASH, Kw::RTREE])? {
            Kw::BTREE => IndexAlgorithm::BTree,
            Kw::HASH => IndexAlgorithm::Hash,
            _ => IndexAlgorithm::RTree,
        })
    }

    fn key_part(&mut self) -> R<KeyPart> {
        let what = if self.is(Tok::LParen) {
            let (expr, text) = self.paren_expr_text()?;
            KeyPartKind::Expr(expr, text)
        } else {
            let name = self.name()?;
            KeyPartKind::Column { name, prefix: self.optional_length()? }
        };
        let ordered = matches!(self.tok.kw, Kw::ASC | Kw::DESC);
        Ok(KeyPart { what, descending: self.descending(), ordered })
    }

    fn index_options(&mut self, options: &mut IndexOptions) -> R<()> {
        loop {
            match self.tok.kw {
                Kw::USING | Kw::TYPE => options.algorithm = Some(self.index_algorithm()?),
                Kw::COMMENT => {
                    self.bump();
                    options.comment = Some(self.text()?);
                }
                Kw::KEY_BLOCK_SIZE => {
                    self.bump();
                    self.eat_eq();
                    options.key_block_size = Some(self.integer()?);
                }
                Kw::WITH => {
                    self.bump();
                    self.expect(Kw::PARSER)?;
                    options.parser = Some(self.name()?);
                }
                Kw::VISIBLE | Kw::INVISIBLE => options.invisible = self.bump().kw == Kw::INVISIBLE,
                Kw::ENGINE_ATTRIBUTE => {
                    self.bump();
                    self.eat_eq();
                    options.engine_attribute = Some(self.text()?);
                }
                Kw::SECONDARY_ENGINE_ATTRIBUTE => {
                    self.bump();
                    self.eat_eq();
                    options.secondary_engine_attribute = Some(self.text()?);
                }
                _ => return Ok(()),
            }
        }
    }

    /// One table option; false when what follows is none.
    pub(super) fn table_option(&mut self, options: &mut TableOptions) -> R<bool> {
        if self.eat(Kw::DEFAULT) && !matches!(self.tok.kw, Kw::CHARSET | Kw::CHARACTER | Kw::CHAR | Kw::COLLATE) {
            return Err(self.syntax());
        }
        if self.eat_charset_words() {
            self.eat_eq();
            let default = self.at(Kw::DEFAULT);
            let name = if default { self.any_word()? } else { self.charset_name()? };
            options.charsets.extend((!default).then_some(CharsetOption::Charset(name)));
            return Ok(true);
        }
        let kw = self.tok.kw;
        match kw {
            Kw::ENGINE => {
                self.option_word();
                options.engine = Some(self.name_or_text()?);
            }
            Kw::AUTO_INCREMENT => {
                self.option_word();
                options.auto_increment = Some(self.big_number()?);
            }
            Kw::COLLATE => {
                self.option_word();
                let name = self.collation_name()?;
                options.charsets.push(CharsetOption::Collation(name));
            }
            Kw::COMMENT => {
                self.option_word();
                options.comment = Some(self.text()?);
            }
            Kw::ROW_FORMAT => {
                const FORMATS: [Kw; 6] =
                    [Kw::DEFAULT, Kw::FIXED, Kw::DYNAMIC, Kw::COMPRESSED, Kw::REDUNDANT, Kw::COMPACT];
                self.option_word();
                options.row_format = Some(self.word_of(&FORMATS)?);
            }
            Kw::KEY_BLOCK_SIZE => {
                self.option_word();
                options.key_block_size = Some(self.big_number()?);
            }
            Kw::STATS_PERSISTENT | Kw::STATS_AUTO_RECALC | Kw::STATS_SAMPLE_PAGES => {
                self.option_word();
                let value = if kw == Kw::STATS_SAMPLE_PAGES { self.sample_pages()? } else { self.flag_or_default()? };
                match kw {
                    Kw::STATS_PERSISTENT => options.stats_persistent = Some(value),
                    Kw::STATS_AUTO_RECALC => options.stats_auto_recalc = Some(value),
                    _ => options.stats_sample_pages = Some(value),
                }
            }
            Kw::ENCRYPTION => {
                self.option_word();
                options.encryption = Some(self.text()?);
            }
            Kw::COMPRESSION => {
                self.option_word();
                options.compression = Some(self.text()?);
            }
            Kw::TABLESPACE => {
                self.option_word();
                let name = self.name_or_text()?;
                options.other.push(("tablespace", OptionValue::Text(name)));
            }
            Kw::STORAGE => {
                self.bump();
                let word = self.word_of(&[Kw::DISK, Kw::MEMORY])?;
                options.other.push(("storage", OptionValue::Text(word)));
            }
            Kw::DATA | Kw::INDEX if self.peek().kw == Kw::DIRECTORY => {
                self.bump();
                self.option_word();
                let text = self.text()?;
                let name = if kw == Kw::DATA { "data directory" } else { "index directory" };
                options.other.push((name, OptionValue::Text(text)));
            }
            Kw::UNION => {
                self.option_word();
                self.expect_tok(Tok::LParen)?;
                let tables = if self.is(Tok::RParen) { Vec::new() } else { self.object_names()? };
                self.expect_tok(Tok::RParen)?;
                options.other.push(("union", OptionValue::Tables(tables)));
            }
            Kw::START => {
                self.bump();
                self.expect(Kw::TRANSACTION)?;
                options.other.push(("start transaction", OptionValue::Default));
            }
            _ => {
                let Some(&(_, name)) = OTHER_OPTIONS.iter().find(|o| o.0 == kw) else { return Ok(false) };
                self.option_word();
                let value = self.option_value(kw)?;
                options.other.push((name, value));
            }
        }
        Ok(true)
    }

    /// The text of one of `words`.
    fn word_of(&mut self, words: &[Kw]) -> R<Name> {
        if words.contains(&self.tok.kw) { self.any_word() } else { Err(self.syntax()) }
    }

    fn option_word(&mut self) {
        self.bump();
        self.eat_eq();
    }

    /// 0, 1 or DEFAULT.
    fn flag_or_default(&mut self) -> R<OptionValue> {
        if self.eat(Kw::DEFAULT) {
            return Ok(OptionValue::Default);
        }
        let at = self.tok.start;
        match self.integer()? {
            n @ (0 | 1) => Ok(OptionValue::Number(n)),
            _ => Err(self.syntax_at(at)),
        }
    }

    fn sample_pages(&mut self) -> R<OptionValue> {
        if self.eat(Kw::DEFAULT) {
            return Ok(OptionValue::Default);
        }
        let at = self.tok.start as usize;
        match self.integer()? {
            n @ 1..=65_535 => Ok(OptionValue::Number(n)),
            n => {
                let line = 1 + self.src[..at].iter().filter(|b| **b == b'\n').count();
                Err(ParseError::at(
                    err!(ER_PARSE_ERROR, "The valid range for stats_sample_pages is [1, 65535]. Error", n, line),
                    at,
                ))
            }
        }
    }

    fn option_value(&mut self, option: Kw) -> R<OptionValue> {
        match option {
            Kw::PACK_KEYS => return self.flag_or_default(),
            Kw::MAX_ROWS
            | Kw::MIN_ROWS
            | Kw::AVG_ROW_LENGTH
            | Kw::DELAY_KEY_WRITE
            | Kw::CHECKSUM
            | Kw::TABLE_CHECKSUM => {
                return Ok(OptionValue::Number(self.big_number()?));
            }
            Kw::CONNECTION | Kw::ENGINE_ATTRIBUTE | Kw::SECONDARY_ENGINE_ATTRIBUTE => {
                return Ok(OptionValue::Text(self.text()?));
            }
            _ => {}
        }
        match self.tok.tok {
            Tok::Str => Ok(OptionValue::Text(self.text()?)),
            // AUTOEXTEND_SIZE=4M: a word that begins with digits.
            Tok::Word if self.src[self.tok.start as usize].is_ascii_digit() => Ok(OptionValue::Text(self.any_word()?)),
            Tok::Word if self.at(Kw::DEFAULT) => {
                self.bump();
                Ok(OptionValue::Default)
            }
            Tok::Word if matches!(self.tok.kw, Kw::NO | Kw::FIRST | Kw::LAST | Kw::NULL | Kw::NONE) => {
                Ok(OptionValue::Text(self.any_word()?))
            }
            _ => Ok(OptionValue::Number(self.big_number()?)),
        }
    }

    /// CREATE [UNIQUE | FULLTEXT | SPATIAL] INDEX, behind INDEX.
    pub(super) fn create_index(&mut self, kind: IndexKind) -> R<Statement> {
        let name = self.name()?;
        let mut options = IndexOptions::default();
        if matches!(self.tok.kw, Kw::USING | Kw::TYPE) {
            options.algorithm = Some(self.index_algorithm()?);
        }
        self.expect(Kw::ON)?;
        let table = self.object_name()?;
        let parts = self.paren_list(Self::key_part)?;
        self.index_options(&mut options)?;
        let (algorithm, lock) = self.algorithm_and_lock()?;
        let index = self.index(IndexDef { kind, name: Some(name), parts, options })?;
        Ok(Statement::CreateIndex(Box::new(CreateIndex { index, table, algorithm, lock })))
    }

    pub(super) fn drop_index(&mut self) -> R<Statement> {
        let name = self.name()?;
        self.expect(Kw::ON)?;
        let table = self.object_name()?;
        let (algorithm, lock) = self.algorithm_and_lock()?;
        Ok(Statement::DropIndex(Box::new(DropIndex { name, table, algorithm, lock })))
    }

    fn algorithm_and_lock(&mut self) -> R<(Option<AlterAlgorithm>, Option<AlterLock>)> {
        let (mut algorithm, mut lock) = (None, None);
        loop {
            if self.eat(Kw::ALGORITHM) {
                algorithm = Some(self.alter_algorithm()?);
            } else if self.eat(Kw::LOCK) {
                lock = Some(self.alter_lock()?);
            } else {
                return Ok((algorithm, lock));
            }
        }
    }

    pub(super) fn alter_algorithm(&mut self) -> R<AlterAlgorithm> {
        self.eat_eq();
        let at = self.tok.start as usize;
        if self.eat(Kw::DEFAULT) {
            return Ok(AlterAlgorithm::Default);
        }
        let name = self.name()?;
        match self.raw(name).to_ascii_uppercase().as_slice() {
            b"INSTANT" => Ok(AlterAlgorithm::Instant),
            b"INPLACE" => Ok(AlterAlgorithm::Inplace),
            b"COPY" => Ok(AlterAlgorithm::Copy),
            other => Err(ParseError::at(err!(ER_UNKNOWN_ALTER_ALGORITHM, String::from_utf8_lossy(other)), at)),
        }
    }

    pub(super) fn alter_lock(&mut self) -> R<AlterLock> {
        self.eat_eq();
        let at = self.tok.start as usize;
        if self.eat(Kw::DEFAULT) {
            return Ok(AlterLock::Default);
        }
        let name = self.name()?;
        match self.raw(name).to_ascii_uppercase().as_slice() {
            b"NONE" => Ok(AlterLock::None),
            b"SHARED" => Ok(AlterLock::Shared),
            b"EXCLUSIVE" => Ok(AlterLock::Exclusive),
            other => Err(ParseError::at(err!(ER_UNKNOWN_ALTER_LOCK, String::from_utf8_lossy(other)), at)),
        }
    }

    /// `[ALGORITHM = x] [DEFINER = u] [SQL SECURITY x] VIEW name [(columns)] AS query [WITH CHECK OPTION]`, behind
    /// `[OR REPLACE]` and up to VIEW already read by the caller.
    pub(super) fn create_view(&mut self, header: ViewHeader) -> R<Statement> {
        let name = self.object_name()?;
        let columns = if self.is(Tok::LParen) { self.paren_names()? } else { Vec::new() };
        self.expect(Kw::AS)?;
        let start = self.tok.start;
        let query = self.query()?;
        let selected = &self.queries[query.index()];
        if selected.into.is_some() {
            // INTO in front of FROM is part of the SELECT, and behind it of nothing that a view has.
            return Err(match &selected.body {
                QueryBody::Select(select) if select.from.is_none() => {
                    ParseError::at(err!(ER_VIEW_SELECT_CLAUSE, "INTO"), start as usize)
                }
                _ => self.syntax_at(start),
            });
        }
        let text = self.kept_text(self.text_since(start));
        let mut check_option = CheckOption::None;
        if self.eat(Kw::WITH) {
            check_option = match self.eat_any(&[Kw::CASCADED, Kw::LOCAL]) {
                Some(Kw::LOCAL) => CheckOption::Local,
                _ => CheckOption::Cascaded,
            };
            self.expect_all(&[Kw::CHECK, Kw::OPTION])?;
        }
        Ok(Statement::CreateView(Box::new(CreateView {
            alter: header.alter,
            or_replace: header.or_replace,
            algorithm: header.algorithm,
            definer: header.definer,
            invoker: header.invoker,
            name,
            columns,
            query,
            text,
            check_option,
        })))
    }

    pub(super) fn rename_table(&mut self) -> R<Statement> {
        Ok(Statement::RenameTable(self.comma_list(|p| {
            let from = p.object_name()?;
            p.expect(Kw::TO)?;
            Ok((from, p.object_name()?))
        })?))
    }
}

/// What stands between CREATE and VIEW.
pub(super) struct ViewHeader {
    pub alter: bool,
    pub or_replace: bool,
    pub algorithm: ViewAlgorithm,
    pub definer: Option<Account>,
    pub invoker: Option<bool>,
}
