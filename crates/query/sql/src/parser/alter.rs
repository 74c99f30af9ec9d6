//! ALTER TABLE and PARTITION BY.

use super::*;
use types::codes::*;

impl Parser<'_> {
    /// Behind ALTER TABLE.
    pub(super) fn alter_table(&mut self) -> R<Statement> {
        let name = self.object_name()?;
        let mut alter = AlterTable {
            name,
            actions: Vec::new(),
            options: TableOptions::default(),
            algorithm: None,
            lock: None,
            validation: None,
        };
        if !matches!(self.tok.tok, Tok::End | Tok::Semicolon) {
            loop {
                self.alter_item(&mut alter)?;
                if self.at(Kw::PARTITION) || (self.at(Kw::REMOVE) && self.peek().kw == Kw::PARTITIONING) {
                    self.alter_item(&mut alter)?;
                    break;
                }
                if !self.eat_tok(Tok::Comma) {
                    break;
                }
            }
        }
        Ok(Statement::AlterTable(Box::new(alter)))
    }

    fn alter_item(&mut self, alter: &mut AlterTable) -> R<()> {
        let action = match self.tok.kw {
            Kw::ADD => self.alter_add()?,
            Kw::DROP => self.alter_drop()?,
            Kw::MODIFY => {
                self.bump();
                self.eat(Kw::COLUMN);
                let column = self.column_def()?;
                AlterAction::ChangeColumn { old: column.name, column, position: self.column_position()? }
            }
            Kw::CHANGE => {
                self.bump();
                self.eat(Kw::COLUMN);
                let old = self.name()?;
                let column = self.column_def()?;
                AlterAction::ChangeColumn { old, column, position: self.column_position()? }
            }
            Kw::ALTER => self.alter_alter()?,
            Kw::RENAME => self.alter_rename()?,
            Kw::ALGORITHM => {
                self.bump();
                alter.algorithm = Some(self.alter_algorithm()?);
                return Ok(());
            }
            Kw::LOCK => {
                self.bump();
                alter.lock = Some(self.alter_lock()?);
                return Ok(());
            }
            Kw::WITH | Kw::WITHOUT => {
                alter.validation = Some(self.bump().kw == Kw::WITH);
                self.expect(Kw::VALIDATION)?;
                return Ok(());
            }
            Kw::CONVERT => {
                self.bump();
                self.expect(Kw::TO)?;
                if !self.eat_charset_words() {
                    return Err(self.syntax());
                }
                self.eat_eq();
                let charset =
                    if self.at(Kw::DEFAULT) { self.any_word().map(|_| None)? } else { Some(self.charset_name()?) };
                let mut collation = None;
                if self.eat(Kw::COLLATE) {
                    self.eat_eq();
                    collation = Some(self.collation_name()?);
                }
                AlterAction::ConvertCharset { charset, collation }
            }
            Kw::ORDER => AlterAction::OrderBy(self.order_by()?),
            Kw::DISABLE | Kw::ENABLE => {
                let enable = self.bump().kw == Kw::ENABLE;
                self.expect(Kw::KEYS)?;
                AlterAction::EnableKeys(enable)
            }
            Kw::FORCE => {
                self.bump();
                AlterAction::Force
            }
            Kw::DISCARD | Kw::IMPORT => {
                let discard = self.bump().kw == Kw::DISCARD;
                if self.eat(Kw::PARTITION) {
                    self.all_or_names()?;
                    self.expect(Kw::TABLESPACE)?;
                    AlterAction::Partition(if discard { "discard partition" } else { "import partition" })
                } else {
                    self.expect(Kw::TABLESPACE)?;
                    if discard { AlterAction::DiscardTablespace } else { AlterAction::ImportTablespace }
                }
            }
            Kw::SECONDARY_LOAD | Kw::SECONDARY_UNLOAD => {
                let kw = self.bump().kw;
                AlterAction::Secondary(if kw == Kw::SECONDARY_LOAD { "secondary_load" } else { "secondary_unload" })
            }
            Kw::PARTITION => {
                self.partition_by()?;
                AlterAction::Partition("partition by")
            }
            Kw::TRUNCATE
            | Kw::REORGANIZE
            | Kw::COALESCE
            | Kw::EXCHANGE
            | Kw::ANALYZE
            | Kw::CHECK
            | Kw::OPTIMIZE
            | Kw::REPAIR
            | Kw::REBUILD
            | Kw::REMOVE => self.alter_partition()?,
            _ => {
                if !self.table_option(&mut alter.options)? {
                    return Err(self.syntax());
                }
                while self.table_option(&mut alter.options)? {}
                AlterAction::Options
            }
        };
        alter.actions.push(action);
        Ok(())
    }

    fn column_position(&mut self) -> R<ColumnPosition> {
        if self.eat(Kw::FIRST) {
            return Ok(ColumnPosition::First);
        }
        if self.eat(Kw::AFTER) {
            return Ok(ColumnPosition::After(self.name()?));
        }
        Ok(ColumnPosition::Last)
    }

    fn alter_add(&mut self) -> R<AlterAction> {
        self.bump();
        if self.eat(Kw::PARTITION) {
            self.no_write_to_binlog();
            if self.eat(Kw::PARTITIONS) {
                self.integer()?;
            } else {
                self.partition_defs()?;
            }
            return Ok(AlterAction::Partition("add partition"));
        }
        if let Some(key) = self.key_def()? {
            return Ok(AlterAction::AddKey(key));
        }
        self.eat(Kw::COLUMN);
        if self.is(Tok::LParen) {
            let columns = self.paren_list(Self::column_def)?;
            return Ok(AlterAction::AddColumns(columns, ColumnPosition::Last));
        }
        let column = self.column_def()?;
        let position = self.column_position()?;
        Ok(AlterAction::AddColumns(vec![column], position))
    }

    fn alter_drop(&mut self) -> R<AlterAction> {
        self.bump();
        let action = match self.tok.kw {
            Kw::PRIMARY => {
                self.bump();
                self.expect(Kw::KEY)?;
                AlterAction::DropPrimaryKey
            }
            Kw::INDEX | Kw::KEY => {
                self.bump();
                AlterAction::DropIndex(self.name()?)
            }
            Kw::FOREIGN => {
                self.bump();
                self.expect(Kw::KEY)?;
                AlterAction::DropForeignKey(self.name()?)
            }
            Kw::CHECK => {
                self.bump();
                AlterAction::DropCheck(self.name()?)
            }
            Kw::CONSTRAINT => {
                self.bump();
                AlterAction::DropConstraint(self.name()?)
            }
            Kw::PARTITION => {
                self.bump();
                self.names()?;
                AlterAction::Partition("drop partition")
            }
            _ => {
                self.eat(Kw::COLUMN);
                let name = self.name()?;
                self.eat_any(&[Kw::RESTRICT, Kw::CASCADE]);
                AlterAction::DropColumn(name)
            }
        };
        Ok(action)
    }

    fn alter_alter(&mut self) -> R<AlterAction> {
        self.bump();
        match self.tok.kw {
            Kw::INDEX => {
                self.bump();
                let name = self.name()?;
                let visible = self.expect_any(&[Kw::VISIBLE, Kw::INVISIBLE])? == Kw::VISIBLE;
                return Ok(AlterAction::SetIndexVisible(name, visible));
            }
            kw @ (Kw::CHECK | Kw::CONSTRAINT) => {
                self.bump();
                let name = self.name()?;
                let enforced = !self.eat(Kw::NOT);
                self.expect(Kw::ENFORCED)?;
                return Ok(match kw {
                    Kw::CHECK => AlterAction::SetEnforced(name, enforced),
                    _ => AlterAction::SetConstraintEnforced(name, enforced),
                });
            }
            _ => {}
        }
        self.eat(Kw::COLUMN);
        let name = self.name()?;
        if self.eat(Kw::DROP) {
            self.expect(Kw::DEFAULT)?;
            return Ok(AlterAction::DropDefault(name));
        }
        self.expect(Kw::SET)?;
        if self.eat(Kw::DEFAULT) {
            return Ok(AlterAction::SetDefault(name, self.default_value()?));
        }
        let visible = self.expect_any(&[Kw::VISIBLE, Kw::INVISIBLE])? == Kw::VISIBLE;
        Ok(AlterAction::SetColumnVisible(name, visible))
    }

    fn alter_rename(&mut self) -> R<AlterAction> {
        self.bump();
        match self.tok.kw {
            Kw::COLUMN => {
                self.bump();
                let from = self.name()?;
                self.expect(Kw::TO)?;
                Ok(AlterAction::RenameColumn(from, self.name()?))
            }
            Kw::INDEX | Kw::KEY => {
                self.bump();
                let from = self.name()?;
                self.expect(Kw::TO)?;
                Ok(AlterAction::RenameIndex(from, self.name()?))
            }
            _ => {
                if !self.eat(Kw::TO) && !self.eat(Kw::AS) {
                    self.eat_eq();
                }
                Ok(AlterAction::RenameTable(self.object_name()?))
            }
        }
    }

    pub(super) fn no_write_to_binlog(&mut self) -> bool {
        self.eat_any(&[Kw::NO_WRITE_TO_BINLOG, Kw::LOCAL]).is_some()
    }

    fn all_or_names(&mut self) -> R<()> {
        if !self.eat(Kw::ALL) {
            self.names()?;
        }
        Ok(())
    }

    /// Maintenance of partitions.
    fn alter_partition(&mut self) -> R<AlterAction> {
        let kw = self.bump().kw;
        if kw == Kw::REMOVE {
            self.expect(Kw::PARTITIONING)?;
            return Ok(AlterAction::Partition("remove partitioning"));
        }
        self.expect(Kw::PARTITION)?;
        let what = match kw {
            Kw::REORGANIZE => {
                self.no_write_to_binlog();
                if self.at_name() {
                    self.names()?;
                    self.expect(Kw::INTO)?;
                    self.partition_defs()?;
                }
                "reorganize partition"
            }
            Kw::COALESCE => {
                self.no_write_to_binlog();
                self.integer()?;
                "coalesce partition"
            }
            Kw::EXCHANGE => {
                self.name()?;
                self.expect_all(&[Kw::WITH, Kw::TABLE])?;
                self.object_name()?;
                if self.eat_any(&[Kw::WITH, Kw::WITHOUT]).is_some() {
                    self.expect(Kw::VALIDATION)?;
                }
                "exchange partition"
            }
            Kw::TRUNCATE => {
                self.all_or_names()?;
                "truncate partition"
            }
            _ => {
                self.no_write_to_binlog();
                self.all_or_names()?;
                while self.eat_any(&[Kw::QUICK, Kw::FAST, Kw::MEDIUM, Kw::EXTENDED, Kw::CHANGED, Kw::USE_FRM]).is_some()
                {
                }
                if self.eat(Kw::FOR) {
                    self.expect(Kw::UPGRADE)?;
                }
                match kw {
                    Kw::ANALYZE => "analyze partition",
                    Kw::CHECK => "check partition",
                    Kw::OPTIMIZE => "optimize partition",
                    Kw::REPAIR => "repair partition",
                    _ => "rebuild partition",
                }
            }
        };
        Ok(AlterAction::Partition(what))
    }

    /// PARTITION BY ... [SUBPARTITION BY ...] [(definitions)]
    pub(super) fn partition_by(&mut self) -> R<()> {
        self.expect_all(&[Kw::PARTITION, Kw::BY])?;
        let method = self.partition_method(true)?;
        if self.eat(Kw::PARTITIONS) {
            self.integer()?;
        }
        if self.eat(Kw::SUBPARTITION) {
            self.expect(Kw::BY)?;
            self.partition_method(false)?;
            if self.eat(Kw::SUBPARTITIONS) {
                self.integer()?;
            }
        }
        if self.is(Tok::LParen) {
            self.partition_defs()?;
        } else if matches!(method, Kw::RANGE | Kw::LIST) {
            let kind = if method == Kw::RANGE { "RANGE" } else { "LIST" };
            return Err(ParseError::at(err!(ER_PARTITIONS_MUST_BE_DEFINED_ERROR, kind), self.tok.start as usize));
        }
        Ok(())
    }

    fn partition_method(&mut self, ranges: bool) -> R<Kw> {
        let linear = self.eat(Kw::LINEAR);
        let method = self.expect_any(&[Kw::HASH, Kw::KEY, Kw::RANGE, Kw::LIST])?;
        match method {
            Kw::HASH => {
                self.paren_list(Self::bit_expr)
                    .and_then(|list| if list.len() == 1 { Ok(()) } else { Err(self.syntax_at(self.prev_end - 1)) })?;
            }
            Kw::KEY => {
                if self.eat(Kw::ALGORITHM) {
                    self.eat_eq();
                    self.integer()?;
                }
                self.expect_tok(Tok::LParen)?;
                if !self.is(Tok::RParen) {
                    self.names()?;
                }
                self.expect_tok(Tok::RParen)?;
            }
            _ if ranges && !linear => {
                if self.eat(Kw::COLUMNS) {
                    self.paren_names()?;
                } else {
                    self.expect_tok(Tok::LParen)?;
                    self.bit_expr()?;
                    self.expect_tok(Tok::RParen)?;
                }
            }
            _ => return Err(self.syntax_at(self.prev_end)),
        }
        Ok(method)
    }

    fn partition_defs(&mut self) -> R<()> {
        self.paren_list(|p| {
            p.expect(Kw::PARTITION)?;
            p.name()?;
            if p.eat(Kw::VALUES) {
                if p.eat(Kw::LESS) {
                    p.expect(Kw::THAN)?;
                    if !p.eat(Kw::MAXVALUE) {
                        p.partition_values()?;
                    }
                } else {
                    p.expect(Kw::IN)?;
                    p.partition_values()?;
                }
            }
            p.partition_options()?;
            if p.is(Tok::LParen) {
                p.paren_list(|p| {
                    p.expect(Kw::SUBPARTITION)?;
                    p.name_or_text()?;
                    p.partition_options()
                })?;
            }
            Ok(())
        })?;
        Ok(())
    }

    fn partition_values(&mut self) -> R<()> {
        self.paren_list(|p| {
            if p.eat(Kw::MAXVALUE) {
                return Ok(());
            }
            if p.is(Tok::LParen) {
                p.paren_list(|p| if p.eat(Kw::MAXVALUE) { Ok(()) } else { p.bit_expr().map(|_| ()) })?;
                return Ok(());
            }
            p.bit_expr().map(|_| ())
        })?;
        Ok(())
    }

    fn partition_options(&mut self) -> R<()> {
        loop {
            match self.tok.kw {
                Kw::TABLESPACE => {
                    self.bump();
                    self.eat_eq();
                    self.name_or_text()?;
                }
                Kw::STORAGE | Kw::ENGINE => {
                    self.eat(Kw::STORAGE);
                    self.expect(Kw::ENGINE)?;
                    self.eat_eq();
                    self.name_or_text()?;
                }
                Kw::NODEGROUP | Kw::MAX_ROWS | Kw::MIN_ROWS => {
                    self.bump();
                    self.eat_eq();
                    self.integer()?;
                }
                Kw::DATA | Kw::INDEX => {
                    self.bump();
                    self.expect(Kw::DIRECTORY)?;
                    self.eat_eq();
                    self.text()?;
                }
                Kw::COMMENT => {
                    self.bump();
                    self.eat_eq();
                    self.text()?;
                }
                _ => return Ok(()),
            }
        }
    }
}
