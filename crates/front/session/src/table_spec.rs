//! Definitions of tables, columns and keys: from the tree to crate `catalog`'s specifications.

use crate::create_select::join_columns;
use crate::evaluate::literal;
use crate::expression::{Place, canonical, columns_of, is_boolean};
use crate::session::Session;
use crate::statement::{text_of, unsupported};
use crate::table_options::{Optioned, check_engine};
use crate::variables::{VarId, id};
use catalog::define::check_name;
use catalog::eq_name;
use catalog::{
    CheckSpec, Column, ColumnDefault, ForeignKeySpec, Generated, KeyKind, KeyPartSpec, KeySpec, ReferenceAction,
    TableSpec,
};
use expr::Env;
use plan::column_type::{column_type, declared_collation, names_collation};
use sql::ast::{self, *};
use std::sync::Arc;
use types::codes::*;
use types::collation::CollationId;
use types::sql_mode::SqlMode;
use types::{DataType, Result, TypeKind, Value, err};

const EXPLICIT_DEFAULTS: VarId = id("explicit_defaults_for_timestamp");
const CHARACTER_SET_CONNECTION: VarId = id("character_set_connection");

/// The longest comment of a table, and of a column or an index, in characters.
const TABLE_COMMENT_CHARS: usize = 2048;
const PART_COMMENT_CHARS: usize = 1024;

impl Session {
    /// The character set that literals without introducer have.
    pub(crate) fn literal_charset(&self) -> &str {
        self.state.vars.text(CHARACTER_SET_CONNECTION)
    }

    /// `selected`: what the query of CREATE TABLE ... SELECT makes.
    #[expect(clippy::too_many_arguments, reason = "the parts of a definition, all different")]
    pub(crate) fn table_spec(
        &mut self,
        parsed: &Parsed,
        (schema, name): (&str, &str),
        temporary: bool,
        schema_collation: CollationId,
        columns: &[ColumnDef],
        selected: &[Column],
        keys: &[KeyDef],
        options: &TableOptions,
    ) -> Result<TableSpec> {
        let collation = declared_collation(parsed, &options.charsets)?.unwrap_or(schema_collation);
        let encrypts = self.dictionary().schema(schema).is_some_and(|schema| schema.encrypts);
        let optioned = Optioned { schema, name, temporary, encrypts, was: None };
        let (engine, create_options) = self.table_options(parsed, options, optioned)?;
        let mut spec = TableSpec {
            schema: schema.to_string(),
            name: name.to_string(),
            columns: Vec::with_capacity(columns.len()),
            keys: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            default_collation: collation,
            comment: self.bounded_comment(parsed, options.comment, (ER_TOO_LONG_TABLE_COMMENT, name))?,
            engine,
            create_options,
            auto_increment: options.auto_increment,
        };
        let defined = columns.iter().map(|c| parsed.name(c.name).to_string());
        let names: Vec<String> = defined.chain(selected.iter().map(|c| c.name.clone())).collect();
        let first = columns.iter().position(|c| c.column_type.base == BaseType::Timestamp);
        for (i, def) in columns.iter().enumerate() {
            let (column, own_keys) = self.column(parsed, def, collation, &names, first == Some(i))?;
            spec.columns.push(column);
            spec.keys.extend(own_keys);
        }
        join_columns(&mut spec, selected);
        for def in columns {
            for check in &def.attributes.checks {
                let name = spec.next_check_name();
                spec.checks.push(self.check_spec(parsed, check, &names, Some(parsed.name(def.name)), name)?);
            }
        }
        for key in keys {
            self.add_key(parsed, key, &names, &mut spec)?;
        }
        spec.comment = self.system_text(std::mem::take(&mut spec.comment));
        check_engine(&mut spec)?;
        Ok(spec)
    }

    /// The comment of a table (1628), a column (1629) or an index (1688), as far as it fits: beyond that the error of this
    /// number in strict mode, a warning otherwise.
    pub(crate) fn comment_of(&mut self, parsed: &Parsed, comment: Option<Str>, part: (u16, &str)) -> Result<String> {
        let comment = self.bounded_comment(parsed, comment, part)?;
        Ok(self.system_text(comment))
    }

    fn bounded_comment(&mut self, parsed: &Parsed, comment: Option<Str>, (code, name): (u16, &str)) -> Result<String> {
        let mut comment = comment.map_or_else(String::new, |c| text_of(parsed, c));
        let max = if code == ER_TOO_LONG_TABLE_COMMENT { TABLE_COMMENT_CHARS } else { PART_COMMENT_CHARS };
        if let Some((end, _)) = comment.char_indices().nth(max) {
            let error = err!(code, name, max);
            if self.state.sql_mode.is_strict() {
                return Err(error);
            }
            self.state.warn("Warning", code, error.message);
            comment.truncate(end);
        }
        Ok(comment)
    }

    /// A text as the dictionary keeps it, in utf8mb3: what lies beyond is `?`, and warning 1300 says so.
    fn system_text(&mut self, text: String) -> String {
        if text.chars().all(|c| c.len_utf8() < 4) {
            return text;
        }
        self.state.warn("Warning", ER_INVALID_CHARACTER_STRING, sql::ast::cannot_convert(text.as_bytes()));
        text.chars().map(|c| if c.len_utf8() < 4 { c } else { '?' }).collect()
    }

    /// A key, foreign key or check into a specification.
    pub(crate) fn add_key(
        &mut self,
        parsed: &Parsed,
        key: &KeyDef,
        names: &[String],
        spec: &mut TableSpec,
    ) -> Result<()> {
        match key {
            KeyDef::Index(index) => {
                let key = self.key_spec(parsed, index, names, spec)?;
                spec.keys.push(key);
            }
            KeyDef::ForeignKey(key) => spec.foreign_keys.push(foreign_key_spec(parsed, key, &spec.schema)?),
            KeyDef::Check(check) => {
                let name = spec.next_check_name();
                spec.checks.push(self.check_spec(parsed, check, names, None, name)?);
            }
        }
        Ok(())
    }

    /// A CHECK, `name` unless it has one; `column`: it stands beside this column and may speak of no other. Error 3813.
    pub(crate) fn check_spec(
        &mut self,
        parsed: &Parsed,
        check: &Check,
        names: &[String],
        column: Option<&str>,
        name: String,
    ) -> Result<CheckSpec> {
        let name = check.name.map_or(name, |n| parsed.name(n).to_string());
        let shown = &name;
        let expression = canonical(parsed, check.expr, self.literal_charset(), names, Place::Check(shown))?;
        if !is_boolean(parsed, check.expr) {
            return Err(err!(ER_NON_BOOLEAN_EXPR_FOR_CHECK_CONSTRAINT, shown));
        }
        if let Some(column) = column
            && columns_of(&expression).iter().any(|c| !eq_name(c, column))
        {
            return Err(err!(ER_COLUMN_CHECK_CONSTRAINT_REFERENCES_OTHER_COLUMN, shown));
        }
        Ok(CheckSpec { name: Some(name), expression, enforced: check.enforced })
    }

    /// Plans every expression of a definition: types, functions, and columns that it may not name.
    /// Errors 3109, 3107, 3754, 3812, 3818, 3823 and those of planning.
    pub(crate) fn check_expressions(&mut self, spec: &TableSpec) -> Result<()> {
        for (at, column) in spec.columns.iter().enumerate() {
            let Some(generated) = &column.generated else { continue };
            for name in columns_of(&generated.expression) {
                let Some(other) = spec.columns.iter().position(|c| eq_name(&c.name, &name)) else { continue };
                if spec.columns[other].auto_increment {
                    if !column.hidden {
                        return Err(err!(ER_GENERATED_COLUMN_REF_AUTO_INC, column.name));
                    }
                    let key = spec.keys.iter().find(|k| k.parts.iter().any(|p| p.column == column.name));
                    return Err(err!(
                        ER_FUNCTIONAL_INDEX_REF_AUTO_INCREMENT,
                        key.and_then(|k| k.name.as_deref()).unwrap_or("functional_index")
                    ));
                }
                if other >= at && spec.columns[other].generated.is_some() {
                    return Err(err!(ER_GENERATED_COLUMN_NON_PRIOR));
                }
            }
        }
        for column in spec.columns.iter().filter(|c| c.generated.as_ref().is_some_and(|g| g.stored)) {
            let reads = columns_of(&column.generated.as_ref().expect("just seen").expression);
            let acts = |k: &ForeignKeySpec| {
                [k.on_delete, k.on_update]
                    .iter()
                    .any(|a| matches!(a, ReferenceAction::Cascade | ReferenceAction::SetNull))
            };
            let over = |k: &ForeignKeySpec| k.columns.iter().any(|c| reads.iter().any(|r| eq_name(r, c)));
            if spec.foreign_keys.iter().any(|k| acts(k) && over(k)) {
                return Err(err!(ER_CANNOT_ADD_FOREIGN));
            }
        }
        for check in &spec.checks {
            let shown = check.name.as_deref().unwrap_or("");
            for name in columns_of(&check.expression) {
                if spec.columns.iter().any(|c| eq_name(&c.name, &name) && c.auto_increment) {
                    return Err(err!(ER_CHECK_CONSTRAINT_REFERS_AUTO_INCREMENT_COLUMN, shown));
                }
                let changes = |k: &&ForeignKeySpec| {
                    let nulls = [k.on_delete, k.on_update].contains(&ReferenceAction::SetNull);
                    (nulls || k.on_update == ReferenceAction::Cascade) && k.columns.iter().any(|c| eq_name(c, &name))
                };
                if let Some(key) = spec.foreign_keys.iter().find(changes) {
                    return Err(err!(
                        ER_CHECK_CONSTRAINT_CLAUSE_USING_FK_REFER_ACTION_COLUMN,
                        name,
                        shown,
                        key.name.as_deref().unwrap_or("")
                    ));
                }
            }
        }
        let rules = !spec.checks.is_empty()
            || spec.columns.iter().any(|c| c.generated.is_some() || matches!(c.default, ColumnDefault::Expression(_)));
        if !rules {
            return Ok(());
        }
        let version = self.dictionary();
        ddl::definition::check_expressions(&mut self.state, &version, &Arc::new(spec.draft()))
    }

    /// A column, and the keys written beside it. `names`: the columns of the table. `first_timestamp`: the table is made, and this
    /// is its first TIMESTAMP.
    pub(crate) fn column(
        &mut self,
        parsed: &Parsed,
        def: &ColumnDef,
        collation: CollationId,
        names: &[String],
        first_timestamp: bool,
    ) -> Result<(Column, Vec<KeySpec>)> {
        let name = parsed.name(def.name).to_string();
        check_name(&name, ER_WRONG_COLUMN_NAME)?;
        let attributes = &def.attributes;
        self.refuse_attributes(def)?;
        let serial = def.column_type.base == BaseType::Serial;
        let (mut data_type, members) = self.type_of(parsed, def, &name, collation)?;
        let auto_increment = attributes.auto_increment || serial;
        let generated = match &attributes.generated {
            Some(g) => Some(self.generated(parsed, &name, g, attributes, auto_increment, names)?),
            None => None,
        };
        let old_timestamp = def.column_type.base == BaseType::Timestamp
            && attributes.generated.is_none()
            && !self.state.vars.bool(EXPLICIT_DEFAULTS);
        let nullable = match attributes.nullable {
            None if old_timestamp => false,
            Some(nullable) => nullable && !serial,
            None => !serial && !attributes.primary_key && !auto_increment,
        };
        data_type.nullable = nullable;
        if auto_increment
            && !(data_type.kind.is_integer() || matches!(data_type.kind, TypeKind::Float | TypeKind::Double))
        {
            return Err(err!(ER_WRONG_FIELD_SPEC, name));
        }
        let temporal = matches!(data_type.kind, TypeKind::DateTime | TypeKind::Timestamp);
        // Without explicit_defaults_for_timestamp the first such column of a table keeps the time of the last change.
        let implicit = old_timestamp && !nullable && attributes.default.is_none() && attributes.on_update_now.is_none();
        let changes_itself = implicit && first_timestamp;
        let on_update_now = match attributes.on_update_now {
            None if changes_itself => true,
            Some(digits) if temporal && digits == data_type.decimals => true,
            Some(_) => return Err(err!(ER_INVALID_ON_UPDATE, name)),
            None => false,
        };
        let default = match attributes.default {
            _ if auto_increment && attributes.default.is_some() => return Err(err!(ER_INVALID_DEFAULT, name)),
            _ if generated.is_some() => ColumnDefault::None,
            None if changes_itself => ColumnDefault::Now,
            None if old_timestamp && !nullable && attributes.on_update_now.is_none() => {
                if self.state.sql_mode.is_strict() && self.state.sql_mode.has(SqlMode::NO_ZERO_DATE) {
                    return Err(err!(ER_INVALID_DEFAULT, name));
                }
                ColumnDefault::Value(Value::DateTime(types::DateTime::ZERO))
            }
            None if nullable => ColumnDefault::Value(Value::Null),
            None => ColumnDefault::None,
            Some(value) if self.is_empty_default(parsed, value, &data_type) => {
                self.state.push_warning("Warning", err!(ER_BLOB_CANT_HAVE_DEFAULT, name));
                ColumnDefault::None
            }
            Some(value) => self.default_value(parsed, &name, value, &data_type, &members, names)?,
        };
        let default = self.default_in_utc(default, data_type.kind);
        let keys = keys_of_column(&name, attributes, serial, generated.as_ref())?;
        let comment = self.comment_of(parsed, attributes.comment, (ER_TOO_LONG_FIELD_COMMENT, &name))?;
        let invisible = attributes.invisible;
        let hidden = false;
        Ok((
            Column {
                name,
                data_type,
                default,
                generated,
                auto_increment,
                on_update_now,
                members,
                comment,
                explicit_collation: names_collation(parsed, &def.column_type),
                kept: kept_attributes(parsed, attributes),
                invisible,
                hidden,
                histogram: None,
            },
            keys,
        ))
    }

    /// Attributes of a column that are not supported, and a note on the one that is read and forgotten.
    fn refuse_attributes(&mut self, def: &ColumnDef) -> Result<()> {
        let attributes = &def.attributes;
        if attributes.srid.is_some() {
            let spatial = def.column_type.base == BaseType::Geometry;
            return Err(if spatial {
                unsupported("SRID")
            } else {
                err!(ER_WRONG_USAGE, "SRID", "non-geometry column")
            });
        }
        if attributes.engine_attribute.is_some() {
            return Err(err!(ER_ENGINE_ATTRIBUTE_NOT_SUPPORTED, "InnoDB"));
        }
        if attributes.secondary_engine_attribute.is_some() {
            return Err(unsupported("SECONDARY_ENGINE_ATTRIBUTE"));
        }
        if attributes.references.is_some() {
            // MySQL 8.4 reads and forgets it too; a reader of the warnings can know.
            let message = "A REFERENCES clause beside a column makes no foreign key".to_string();
            self.state.warn("Note", ER_NOT_SUPPORTED_YET, message);
        }
        Ok(())
    }

    /// A default of a TIMESTAMP is kept in UTC, as the column's values are.
    fn default_in_utc(&self, default: ColumnDefault, kind: TypeKind) -> ColumnDefault {
        match default {
            ColumnDefault::Value(Value::DateTime(t)) if kind == TypeKind::Timestamp && !t.date().is_zero() => {
                let local = t.to_unix_seconds();
                let offset = |seconds| i64::from(self.state.time_zone_offset(seconds));
                let utc = types::DateTime::from_unix(local - offset(local - offset(local)), t.micros());
                ColumnDefault::Value(Value::DateTime(utc.unwrap_or(t)))
            }
            default => default,
        }
    }

    /// GENERATED ALWAYS AS. Error 1221 beside DEFAULT, AUTO_INCREMENT or ON UPDATE.
    fn generated(
        &mut self,
        parsed: &Parsed,
        name: &str,
        g: &ast::Generated,
        attributes: &ColumnAttributes,
        auto_increment: bool,
        names: &[String],
    ) -> Result<Generated> {
        let beside = if auto_increment {
            "AUTO_INCREMENT"
        } else if attributes.on_update_now.is_some() {
            "ON UPDATE"
        } else if attributes.default.is_some() {
            "DEFAULT"
        } else {
            ""
        };
        if !beside.is_empty() {
            return Err(err!(ER_WRONG_USAGE, beside, "generated column"));
        }
        let expression = canonical(parsed, g.expr, self.literal_charset(), names, Place::Generated(name))?;
        Ok(Generated { expression, stored: g.stored, array: None })
    }

    /// Outside of strict mode, does a column's definition say DEFAULT '' of a TEXT or BLOB? That it has none is all that says.
    fn is_empty_default(&self, parsed: &Parsed, value: DefaultValue, data_type: &DataType) -> bool {
        let DefaultValue::Literal(id) = value else { return false };
        let is_empty = match (&parsed[id], literal(parsed, id)) {
            (_, Some((value, _))) => matches!(&value, Value::Bytes(text) if text.is_empty()),
            (Expr::Bytes { bytes: text, .. } | Expr::String { text, .. }, None) => parsed.bytes(*text).is_empty(),
            _ => false,
        };
        is_empty && data_type.kind.is_blob() && data_type.kind != TypeKind::Json && !self.state.sql_mode.is_strict()
    }

    /// A DEFAULT. Errors 1067, 1101.
    pub(crate) fn default_value(
        &mut self,
        parsed: &Parsed,
        column: &str,
        value: DefaultValue,
        data_type: &DataType,
        members: &[String],
        columns: &[String],
    ) -> Result<ColumnDefault> {
        let id = match value {
            DefaultValue::Literal(id) => id,
            DefaultValue::Expr(id, _) => {
                let text = canonical(parsed, id, self.literal_charset(), columns, Place::Default(column))?;
                return Ok(ColumnDefault::Expression(text));
            }
        };
        let is_now = matches!(&parsed[id], Expr::Builtin { func: Builtin::Now, .. });
        if is_now {
            let digits = match &parsed[id] {
                Expr::Builtin { args, .. } => match parsed.list(*args).first() {
                    Some(digits) => literal(parsed, *digits).map_or(0, |(v, _)| v.to_i64() as u8),
                    None => 0,
                },
                _ => 0,
            };
            let temporal = matches!(data_type.kind, TypeKind::DateTime | TypeKind::Timestamp);
            return if temporal && digits == data_type.decimals {
                Ok(ColumnDefault::Now)
            } else {
                Err(err!(ER_INVALID_DEFAULT, column))
            };
        }
        let (value, source) = match (&parsed[id], literal(parsed, id)) {
            (_, Some(found)) => found,
            (Expr::Bytes { bytes, .. }, None) => {
                let bytes = parsed.bytes(*bytes).to_vec();
                let t = DataType::string(TypeKind::VarBinary, bytes.len() as u32, CollationId::BINARY);
                match data_type.kind.is_numeric() {
                    true => (
                        Value::UInt(bytes.iter().fold(0u64, |n, b| n << 8 | u64::from(*b))),
                        DataType::new(TypeKind::BigInt).unsigned(),
                    ),
                    false => (Value::Bytes(bytes.into()), t),
                }
            }
            (Expr::String { text, .. }, None) => {
                let bytes = parsed.bytes(*text).to_vec();
                let t = DataType::string(TypeKind::VarChar, bytes.len() as u32, CollationId::UTF8MB4_0900_AI_CI);
                (Value::Bytes(bytes.into()), t)
            }
            _ => return Err(err!(ER_INVALID_DEFAULT, column)),
        };
        if value.is_null() {
            return if data_type.nullable {
                Ok(ColumnDefault::Value(Value::Null))
            } else {
                Err(err!(ER_INVALID_DEFAULT, column))
            };
        }
        if data_type.kind.is_blob() {
            return Err(err!(ER_BLOB_CANT_HAVE_DEFAULT, column));
        }
        let mode = SqlMode(self.state.sql_mode.0 | SqlMode::STRICT_ALL_TABLES.0);
        let context = types::StoreContext { mode, column, row: 1, members };
        let (value, _) = types::coerce_for_store(value, &source, data_type, &context)
            .map_err(|_| err!(ER_INVALID_DEFAULT, column))?;
        Ok(ColumnDefault::Value(value.into_owned()))
    }

    /// The type of a column. Outside of strict mode a VARCHAR without default that is too long becomes a TEXT, with note 1246.
    fn type_of(
        &mut self,
        parsed: &Parsed,
        def: &ColumnDef,
        name: &str,
        collation: CollationId,
    ) -> Result<(DataType, Vec<String>)> {
        let converts = !self.state.sql_mode.is_strict() && def.attributes.default.is_none();
        let (data_type, members) = column_type(parsed, name, &def.column_type, collation, converts)?;
        use BaseType::{NVarChar, VarBinary, VarChar};
        let is_long = !matches!(data_type.kind, TypeKind::VarChar | TypeKind::VarBinary);
        if is_long && matches!(def.column_type.base, VarChar | NVarChar | VarBinary) {
            let is_text = data_type.kind.is_text();
            let (from, to) = if is_text { ("VARCHAR", "TEXT") } else { ("VARBINARY", "BLOB") };
            self.state.push_warning("Note", err!(ER_AUTO_CONVERT, name, from, to));
        }
        Ok((data_type, members))
    }

    /// A key; an expression among its parts becomes a hidden generated column of `spec`.
    pub(crate) fn key_spec(
        &mut self,
        parsed: &Parsed,
        index: &IndexDef,
        names: &[String],
        spec: &mut TableSpec,
    ) -> Result<KeySpec> {
        let kind = match index.kind {
            IndexKind::Plain => KeyKind::Plain,
            IndexKind::Unique => KeyKind::Unique,
            IndexKind::Primary => KeyKind::Primary,
            IndexKind::Fulltext => return Err(unsupported("FULLTEXT")),
            IndexKind::Spatial => return Err(unsupported("SPATIAL")),
        };
        if index.options.invisible && kind == KeyKind::Primary {
            return Err(err!(ER_PK_INDEX_CANT_BE_INVISIBLE));
        }
        if index.options.engine_attribute.is_some() {
            return Err(err!(ER_ENGINE_ATTRIBUTE_NOT_SUPPORTED, spec.engine.name()));
        }
        if index.options.parser.is_some() {
            return Err(unsupported("WITH PARSER"));
        }
        let name = index.name.map(|n| parsed.name(n).to_string());
        let mut parts = Vec::with_capacity(index.parts.len());
        for part in &index.parts {
            let (column, prefix) = match part.what {
                KeyPartKind::Column { name, prefix } => {
                    if prefix == Some(0) {
                        return Err(err!(ER_KEY_PART_0, parsed.name(name)));
                    }
                    (parsed.name(name).to_string(), prefix.unwrap_or(0))
                }
                KeyPartKind::Expr(..) if kind == KeyKind::Primary => return Err(err!(ER_FUNCTIONAL_INDEX_PRIMARY_KEY)),
                KeyPartKind::Expr(id, _) => {
                    if matches!(parsed[id], Expr::Column { .. }) {
                        return Err(err!(ER_FUNCTIONAL_INDEX_ON_FIELD));
                    }
                    let shown = name.as_deref().unwrap_or("functional_index");
                    if part.ordered && matches!(&parsed[id], Expr::Cast(cast) if cast.array) {
                        return Err(err!(ER_WRONG_USAGE, "multi-valued index", "explicit index order"));
                    }
                    (self.expression_column(parsed, id, shown, names, spec)?, 0)
                }
            };
            parts.push(KeyPartSpec { column, prefix, descending: part.descending });
        }
        // An index without a name gets that of its first column.
        let shown = name.as_deref().or(parts.first().map(|p| p.column.as_str())).unwrap_or_default();
        let comment = self.comment_of(parsed, index.options.comment, (ER_TOO_LONG_INDEX_COMMENT, shown))?;
        let algorithm = self.index_algorithm(index, spec.engine)?;
        if index.options.secondary_engine_attribute.is_some() {
            return Err(unsupported("SECONDARY_ENGINE_ATTRIBUTE"));
        }
        let invisible = index.options.invisible;
        Ok(KeySpec { kind, name, parts, invisible, for_foreign_key: false, algorithm, comment })
    }

    /// The hidden column that holds the value of an index part's expression: its name.
    fn expression_column(
        &mut self,
        parsed: &Parsed,
        id: ExprId,
        index: &str,
        names: &[String],
        spec: &mut TableSpec,
    ) -> Result<String> {
        let array = match &parsed[id] {
            Expr::Cast(cast) if cast.array => Some(element_type(parsed, cast)?),
            _ => None,
        };
        let expression = canonical(parsed, id, self.literal_charset(), names, Place::Index(index))?;
        let version = self.dictionary();
        let draft = Arc::new(spec.draft());
        let data_type = match array {
            Some(element) => {
                ddl::definition::check_array(&mut self.state, &version, &draft, &expression)?;
                // A key part that has no bytes.
                if element.kind != TypeKind::Decimal && element.kind.is_bytes() && element.length == 0 {
                    return Err(err!(ER_WRONG_KEY_COLUMN_FUNCTIONAL_INDEX, expression));
                }
                DataType::new(TypeKind::Json)
            }
            None => ddl::definition::expression_type(&mut self.state, &version, &draft, &expression)?,
        };
        if array.is_none() && data_type.kind.is_blob() {
            return Err(if data_type.kind == TypeKind::Json {
                err!(ER_FUNCTIONAL_INDEX_ON_JSON_OR_GEOMETRY_FUNCTION)
            } else {
                err!(ER_FUNCTIONAL_INDEX_ON_LOB)
            });
        }
        let taken = |n: usize| spec.columns.iter().any(|c| c.name == hidden_name(n));
        let name = hidden_name((0..).find(|n| !taken(*n)).expect("a table has a bounded number of columns"));
        spec.columns.push(Column {
            default: ColumnDefault::Value(Value::Null),
            generated: Some(Generated { expression, stored: false, array }),
            hidden: true,
            ..Column::new(name.clone(), DataType { nullable: true, ..data_type })
        });
        Ok(name)
    }
}

/// Characters or bytes of a string in an array, at most: longer ones would be BLOBs.
const ELEMENT_LENGTH_MAX: u32 = 512;

/// The type of the elements that CAST(... AS type ARRAY) makes. Error 1235, 1427.
fn element_type(parsed: &Parsed, cast: &ast::Cast) -> Result<DataType> {
    let refused = |what: &str| unsupported(&format!("CAST-ing data to array of {what}"));
    let string = |kind, length: Option<u32>, collation| match length {
        Some(n) if n <= ELEMENT_LENGTH_MAX => Ok(DataType::string(kind, n, collation)),
        _ => Err(refused("char/binary BLOBs")),
    };
    let plain = |kind, length, decimals| DataType { length, decimals, ..DataType::new(kind) };
    let operand = match &parsed[cast.operand] {
        Expr::Column { column, .. } => parsed.name(*column),
        _ => "",
    };
    let data_type = match cast.to {
        CastType::Signed => plain(TypeKind::BigInt, 21, 0),
        CastType::Unsigned => plain(TypeKind::BigInt, 21, 0).unsigned(),
        CastType::Binary(n) => string(TypeKind::VarBinary, n, CollationId::BINARY)?,
        CastType::Char { length, charset: None } => string(TypeKind::VarChar, length, CollationId::UTF8MB4_0900_BIN)?,
        CastType::Char { length, charset: Some(c) } if parsed.name(c).eq_ignore_ascii_case("binary") => {
            string(TypeKind::VarBinary, length, CollationId::BINARY)?
        }
        CastType::Char { .. } | CastType::NChar(_) => {
            return Err(unsupported("specifying charset for multi-valued index"));
        }
        CastType::Date => plain(TypeKind::Date, 10, 0),
        CastType::Time(d) => plain(TypeKind::Time, 10, d),
        CastType::DateTime(d) => plain(TypeKind::DateTime, 19, d),
        CastType::Decimal(p, s) => {
            let (p, s) = (p.filter(|p| *p > 0).unwrap_or(10), s.unwrap_or(0));
            match (p, s) {
                (66.., _) => return Err(err!(ER_TOO_BIG_PRECISION, p, operand, 65)),
                (_, 31..) => return Err(err!(ER_TOO_BIG_SCALE, s, operand, 30)),
                _ if s > p => return Err(err!(ER_M_BIGGER_THAN_D, "")),
                _ => DataType::decimal(u32::from(p), s),
            }
        }
        CastType::Year => return Err(refused("YEAR")),
        CastType::Float(_) => return Err(refused("FLOAT")),
        CastType::Double => return Err(refused("DOUBLE")),
        CastType::Json => return Err(refused("JSON")),
        CastType::Spatial => return Err(refused("GEOMETRY")),
    };
    let fraction_max = if cast.to == CastType::Date { 0 } else { 6 };
    if data_type.kind.is_temporal() && data_type.decimals > fraction_max {
        return Err(err!(ER_TOO_BIG_PRECISION, data_type.decimals, "CAST", 6));
    }
    Ok(DataType { nullable: true, ..data_type })
}

/// STORAGE and COLUMN_FORMAT, as SHOW CREATE TABLE has them.
fn kept_attributes(parsed: &Parsed, attributes: &ColumnAttributes) -> Vec<String> {
    let words = [("STORAGE", attributes.storage), ("COLUMN_FORMAT", attributes.column_format)];
    let given = words.into_iter().filter_map(|(word, value)| Some((word, parsed.name(value?).to_ascii_uppercase())));
    given.filter(|(_, value)| value != "DEFAULT").map(|(word, value)| format!("{word} {value}")).collect()
}

/// No identifier of a statement is written like this.
fn hidden_name(n: usize) -> String {
    format!("!hidden!{n}")
}

/// A FOREIGN KEY; `schema` is the child's. Errors 1215, 1235.
fn foreign_key_spec(parsed: &Parsed, key: &ForeignKey, schema: &str) -> Result<ForeignKeySpec> {
    let names = |list: &[Name]| list.iter().map(|n| parsed.name(*n).to_string()).collect::<Vec<_>>();
    let references = &key.references;
    let parent = references.table;
    let parent_schema = parent.schema.map_or(schema, |s| parsed.name(s)).to_string();
    let action = |a: Option<ast::ReferenceAction>| {
        Ok(match a {
            None | Some(ast::ReferenceAction::NoAction) => ReferenceAction::NoAction,
            Some(ast::ReferenceAction::Restrict) => ReferenceAction::Restrict,
            Some(ast::ReferenceAction::Cascade) => ReferenceAction::Cascade,
            Some(ast::ReferenceAction::SetNull) => ReferenceAction::SetNull,
            Some(ast::ReferenceAction::SetDefault) => return Err(err!(ER_CANNOT_ADD_FOREIGN)),
        })
    };
    let columns = names(&key.columns);
    let parent_columns = names(&references.columns);
    let name = key.constraint.map(|n| parsed.name(n).to_string());
    if parent_columns.len() != columns.len() {
        let shown = name.as_deref().unwrap_or("foreign key without name");
        return Err(err!(ER_WRONG_FK_DEF, shown, "Key reference and table reference don't match"));
    }
    Ok(ForeignKeySpec {
        name,
        index: key.index.map(|n| parsed.name(n).to_string()),
        columns,
        parent: (parent_schema, parsed.name(parent.name).to_string()),
        parent_columns,
        on_delete: action(references.on_delete)?,
        on_update: action(references.on_update)?,
    })
}

/// The keys that stand in a column's definition.
fn keys_of_column(
    name: &str,
    attributes: &ColumnAttributes,
    serial: bool,
    generated: Option<&Generated>,
) -> Result<Vec<KeySpec>> {
    let mut keys = Vec::new();
    let alone = |kind| KeySpec {
        kind,
        name: None,
        parts: vec![KeyPartSpec { column: name.to_string(), prefix: 0, descending: false }],
        invisible: false,
        for_foreign_key: false,
        algorithm: None,
        comment: String::new(),
    };
    if attributes.primary_key && attributes.nullable == Some(true) {
        return Err(err!(ER_PRIMARY_CANT_HAVE_NULL));
    }
    if attributes.primary_key {
        if generated.is_some_and(|g| !g.stored) {
            return Err(err!(
                ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN,
                "Defining a virtual generated column as primary key"
            ));
        }
        keys.push(alone(KeyKind::Primary));
    }
    if attributes.unique || serial {
        keys.push(alone(KeyKind::Unique));
    }
    Ok(keys)
}
