//! Statements that the executor runs, and COM_QUERY.
//!
//! ```text
//!   text --normalize--> hash --> PlanCache hit --> Planned + literals --> execute
//!                            \-> miss: parse_lifted, plan, keep
//!   text with several statements, or none that is cached: parse_next, plan or obey, one after the other
//! ```

use crate::com::{COM, kind_of};
use crate::control::NO_SNAPSHOT;
use crate::digest_place::{KnownPlace, Verb};
use crate::needs::Action;
use crate::performance::TransactionRecorder;
use crate::session::plans::{CACHED_TEXT_MAX, NEVER, PlanCache, Planned, RowLocks, check_schemas, pins_of};
use crate::session::{Done, Session};
use crate::sink::WireSink;
use crate::statement::{is_interpreted, is_planned, parse_error, writes_file};
use crate::variables::{VarId, id};
use crate::{charset, hints};
use catalog::{Pin, Version, Waiting};
use engine::Isolation;
use expr::Stage;
use observe::{Counter, CounterId};
use plan::{TableUse, parameter};
use protocol::{Capabilities, Output, RowFormat};
use run::program::Form;
use run::{Outcome, Prepared, RowSink, Uses};
use sql::ast::{ExplainTarget, InsertSource, Parsed, Statement, TableRef};
use sql::digest::{LiteralKind, normalize};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use types::codes::*;
use types::{Charset, DataType, Decimal, Result, SqlError, TypeKind, Value, err};

const READ_ONLY: VarId = id("read_only");
const SUPER_READ_ONLY: VarId = id("super_read_only");
const ROLLBACK_ON_TIMEOUT: VarId = id("innodb_rollback_on_timeout");
/// How often a statement is planned anew because DDL came between, before error 1615.
pub(crate) const REPLANS_MAX: usize = 16;

/// Nothing but blanks and a semicolon?
fn is_bare(text: &[u8]) -> bool {
    text.iter().all(|b| b.is_ascii_whitespace() || *b == b';')
}

pub(crate) use expr::lexer_mode;

/// A statement that a client has sent.
fn count_question() {
    let lane = observe::lane();
    lane.increment(Counter::Questions);
    lane.increment(Counter::Queries);
}

fn stage_of(statement: &Statement) -> Stage {
    match statement {
        // INSERT ... SELECT is a query that stores its rows.
        Statement::Insert(insert) if !matches!(insert.source, InsertSource::Query(_)) => Stage::Update,
        Statement::Update(_) | Statement::Delete(_) => Stage::Updating,
        _ => Stage::Executing,
    }
}

impl Session {
    /// The `Com_*` counter of a kind of statement.
    pub(crate) fn com(&self, name: &str) -> CounterId {
        let at = COM.iter().position(|n| *n == name);
        self.server.com.at(at.expect("the kinds of statements are in the list"))
    }

    /// COM_QUERY: one statement, or several when the client may.
    pub(crate) fn query(&mut self, text: &[u8], out: &mut Output) -> Result<Done> {
        let text = match charset::statement_text(&self.state, text) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(converted) => Cow::Owned(converted),
        };
        #[cfg(debug_assertions)]
        crate::panics::provoke(&text);
        count_question();
        if let Some(done) = self.query_cached(&text, out)? {
            return Ok(done);
        }
        let multi = out.capabilities().has(Capabilities::MULTI_STATEMENTS);
        let mut rest: &[u8] = &text;
        loop {
            let (parsed, tail) = match sql::parse_next(rest, lexer_mode(self.state.sql_mode)) {
                // A comment alone does nothing, and that is no error.
                Err(e) if e.code() == ER_EMPTY_QUERY && !is_bare(rest) => {
                    observe::increment(self.com("empty_query"));
                    self.ok(out, &Outcome::default())?;
                    return Ok(Done::Answered);
                }
                Err(e) => {
                    if e.code() == ER_EMPTY_QUERY {
                        observe::increment(self.com("empty_query"));
                    }
                    self.note_unread(rest);
                    return Err(self.unread(parse_error(e)));
                }
                Ok(parsed) => parsed,
            };
            if !tail.is_empty() && !multi {
                // The one statement ends at its `;`: what follows is a syntax error, as in MySQL.
                let error = sql::parse(rest, lexer_mode(self.state.sql_mode))
                    .err()
                    .map_or_else(types::error::syntax_error, parse_error);
                self.note_unread(rest);
                return Err(self.unread(error));
            }
            self.refuse_dictionary(&parsed).map_err(|e| self.unread(e))?;
            self.more = !tail.is_empty();
            let room = plan::stack::stack_bytes(parsed.height());
            let done = plan::stack::with_stack(room, || self.statement(parsed, out)).map_err(|e| self.failed(e))?;
            if done == Done::Upload {
                let upload = self.upload.as_mut().expect("it waits for the client");
                upload.rest = tail.to_vec();
                return Ok(done);
            }
            if tail.is_empty() || done == Done::Close {
                return Ok(done);
            }
            self.end_logged(None, out);
            rest = tail;
            self.state.begin_statement();
            self.begin_logged(out);
            count_question();
        }
    }

    /// The error becomes a condition, for SHOW WARNINGS, behind those that the statement met before it failed.
    pub(crate) fn failed(&mut self, error: SqlError) -> SqlError {
        let error = self.why_ended(error);
        self.state.note_error(&error);
        if !self.is_in_transaction() {
            self.state.release_gtid();
        }
        if std::mem::take(&mut self.transaction.tells_kept) {
            self.tell_kept();
        }
        self.state.row_count = -1;
        error
    }

    /// A text that is no statement has no conditions but its error.
    fn unread(&mut self, error: SqlError) -> SqlError {
        self.state.clear_conditions();
        // The audit log has the command, and not its text.
        self.log.command = "Query";
        self.failed(error)
    }

    /// The hot path of unprepared statements. `None`: not one that is cached.
    fn query_cached(&mut self, text: &[u8], out: &mut Output) -> Result<Option<Done>> {
        if std::mem::take(&mut self.state.retyped_variables) {
            self.plans.forget_variables();
        }
        // A plan that is kept tells no trace.
        if text.len() > CACHED_TEXT_MAX || self.state.vars.hot().traces {
            return Ok(None);
        }
        let mode = lexer_mode(self.state.sql_mode);
        let mut cache = std::mem::take(&mut self.plans);
        let result = self.query_in(&mut cache, text, mode, out);
        // USE and the like clear the cache of the session, never while a plan of it runs.
        self.plans = cache;
        result
    }

    fn query_in(
        &mut self,
        cache: &mut PlanCache,
        text: &[u8],
        mode: sql::SqlMode,
        out: &mut Output,
    ) -> Result<Option<Done>> {
        let PlanCache { plans, clock, normalized, scratch } = cache;
        *clock += 1;
        if !normalize(text, mode, normalized) {
            return Ok(None);
        }
        let hash = normalized.hash;
        let mut fresh = None;
        let planned = match plans.get_mut(&hash) {
            // Its literals are planned with: the plan without them stays as the sign of it.
            Some(cached) if cached.planned.prepared.values_matter() => {
                cached.used = *clock;
                return Ok(None);
            }
            Some(cached) => {
                self.state.clear_conditions();
                cached.used = *clock;
                let planned = &mut cached.planned;
                // Who sends the text again is told again.
                self.note_hints(&planned.prepared);
                let uses_no_index = planned.prepared.uses_no_index();
                self.note_event(self.class_of(planned.com), Some(text));
                self.digest_plan(planned, Verb::Run);
                self.recorder.uses_no_index = uses_no_index;
                self.log_query(text, &planned.parsed, uses_no_index);
                planned
            }
            None => {
                let parsed =
                    sql::parse_lifted(text, mode, &normalized.literals).map_err(|e| self.unread(parse_error(e)))?;
                if !is_planned(&parsed.statement) {
                    return Ok(None);
                }
                self.refuse_dictionary(&parsed).map_err(|e| self.unread(e))?;
                self.state.clear_conditions();
                self.refresh_access()?;
                self.note_event(self.class_of(self.com(kind_of(&parsed))), Some(text));
                let place = self.digest(parsed.source(), Verb::Run);
                self.log_query(text, &parsed, false);
                let types: Vec<DataType> = normalized.literals.iter().map(|l| self.literal_type(l.kind)).collect();
                let planned = self.plan_to_run(parsed, &types).map_err(|e| self.failed(e))?;
                let planned = Box::new(Planned { literals: Some(types.into()), place, ..planned });
                self.log_plan(planned.prepared.uses_no_index());
                if planned.prepared.values_matter() {
                    cache.insert(hash, planned);
                    return Ok(None);
                }
                fresh.insert(planned)
            }
        };
        self.state.note_parsed(&planned.parsed);
        let mut values = Vec::with_capacity(normalized.literals.len());
        for literal in &normalized.literals {
            let bytes = literal.value(text, mode, scratch);
            values.push(match literal.kind {
                LiteralKind::Int => Value::Int(parse_int(bytes)),
                LiteralKind::Decimal => Value::Decimal(Decimal::parse(bytes).0),
                LiteralKind::Float => {
                    let number = std::str::from_utf8(bytes).ok().and_then(|s| s.parse().ok());
                    Value::Double(
                        number
                            .ok_or_else(|| err!(ER_ILLEGAL_VALUE_FOR_TYPE, "double", String::from_utf8_lossy(bytes)))?,
                    )
                }
                LiteralKind::String => {
                    let source = &text[literal.start as usize + 1..literal.end as usize - 1];
                    let hot = self.state.vars.hot();
                    let set = hot.literals.charset();
                    // What is no utf8mb3 stays as the client sent it.
                    let kept = |bytes| {
                        Charset::Utf8mb4.is_subset_bytes(set, bytes)
                            || (set, hot.client) == (Charset::Utf8mb3, Charset::Utf8mb3)
                    };
                    // Unescaped strings borrow from the text; others were rewritten into the scratch space.
                    if !kept(bytes) {
                        Value::Bytes(Cow::Owned(set.from_utf8(bytes).into_owned()))
                    } else if bytes.len() == source.len() {
                        Value::Bytes(Cow::Borrowed(source))
                    } else {
                        Value::Bytes(Cow::Owned(bytes.to_vec()))
                    }
                }
            });
        }
        self.state.note_text(text);
        observe::increment(planned.com);
        let result = self.run(planned, &values, RowFormat::Text, out).map_err(|e| self.failed(e));
        if let Some(planned) = fresh {
            cache.insert(hash, planned);
        }
        result.map(Some)
    }

    fn literal_type(&self, kind: LiteralKind) -> DataType {
        match kind {
            LiteralKind::Int => DataType { length: 20, ..DataType::new(TypeKind::BigInt).not_null() },
            // Its digits differ from text to text: execution goes by the value.
            LiteralKind::Decimal => DataType::new(TypeKind::Null).not_null(),
            LiteralKind::Float => DataType::new(TypeKind::Double).not_null(),
            LiteralKind::String => DataType::string(TypeKind::VarChar, 255, self.state.vars.hot().literals).not_null(),
        }
    }

    /// Plans a statement of the executor's for the dictionary as of now, and checks privileges.
    pub(crate) fn plan(&mut self, parsed: Parsed, types: &[DataType]) -> Result<Planned> {
        self.plan_as(Arc::new(parsed), types, None)
    }

    /// The same of a part of a stored program.
    pub(crate) fn plan_part(&mut self, parsed: Arc<Parsed>, form: Form) -> Result<Planned> {
        self.plan_as(parsed, &[], Some(Box::new(form)))
    }

    fn plan_as(&mut self, parsed: Arc<Parsed>, types: &[DataType], form: Option<Box<Form>>) -> Result<Planned> {
        self.refuse_expired()?;
        if form.is_some() && crate::events::expressions::scheduled(&parsed.statement).is_some() {
            crate::events::expressions::check_schedule(&parsed)?;
        }
        let version = self.dictionary();
        let hinted = hints::of(&parsed);
        let prepared = self.under_hints(hinted.as_deref(), |s| match &form {
            None => Prepared::new(&parsed, &version, &mut s.state, types),
            Some(form) => Prepared::in_program(&parsed, &version, &mut s.state, form),
        });
        let prepared = prepared.map_err(|e| {
            let e = self.missing_table(&parsed, &version, e);
            self.refused_or(&parsed, self.denied_or(&parsed, self.missing_or_unlocked(e)))
        })?;
        let (pins, readable_since) = pins_of(&prepared, &version);
        let rows = RowLocks::of(&prepared, &version);
        let changes = may_change(&parsed, &pins);
        let reads_virtual = has_virtual(&prepared, &version);
        let into_file = writes_file(&parsed);
        let is_query = matches!(parsed.statement, Statement::Query(_)) && !into_file;
        let com = self.com(kind_of(&parsed));
        let stage = stage_of(&parsed.statement);
        // It may be prepared, and each execution plans anew and is refused.
        let is_refused = check_schemas(&prepared, &version).is_err();
        let planned = Planned {
            parsed,
            prepared,
            form,
            pins,
            changes,
            readable_since,
            rows,
            reads_virtual,
            generation: if is_refused { NEVER } else { self.temporary.generation },
            literals: None,
            com,
            number: crate::performance::new_plan(),
            stage,
            hinted,
            is_query,
            into_file,
            head: None,
            place: KnownPlace::default(),
        };
        self.recorder.planned();
        self.check_rights(&planned.prepared)?;
        self.note_hints(&planned.prepared);
        Ok(planned)
    }

    /// The same for a statement that is executed now: one that cannot be planned counts as well.
    fn plan_to_run(&mut self, parsed: Parsed, types: &[DataType]) -> Result<Planned> {
        let com = self.com(kind_of(&parsed));
        self.plan(parsed, types).inspect_err(|_| observe::increment(com))
    }

    /// MySQL opens all tables before it looks for any column: 1054 becomes 1146 where a table is missing too.
    #[cold]
    fn missing_table(&self, parsed: &Parsed, version: &Version, error: SqlError) -> SqlError {
        if error.code != ER_BAD_FIELD_ERROR {
            return error;
        }
        for reference in parsed.table_refs() {
            let TableRef::Table(factor) = reference else { continue };
            let Ok((schema, table)) = self.object(parsed, factor.name) else { return error };
            let is_common = factor.name.schema.is_none() && parsed.has_common_table(&table);
            if !is_common && version.schema(&schema).is_some() && version.table(&schema, &table).is_none() {
                return err!(ER_NO_SUCH_TABLE, schema, table);
            }
        }
        error
    }

    fn replan(&mut self, planned: &mut Planned, types: &[DataType]) -> Result<()> {
        let version = self.dictionary();
        let Planned { hinted, parsed, form, .. } = &*planned;
        let prepared = self.under_hints(hinted.as_deref(), |s| match form {
            None => Prepared::new(parsed, &version, &mut s.state, types),
            Some(form) => Prepared::in_program(parsed, &version, &mut s.state, form),
        });
        let mut prepared = prepared.map_err(|e| self.denied_or(parsed, self.missing_or_unlocked(e)))?;
        check_schemas(&prepared, &version)?;
        if !types.is_empty() {
            prepared.keep_places(&planned.prepared);
        }
        prepared.set_untold(planned.prepared.has_untold());
        planned.prepared = prepared;
        (planned.pins, planned.readable_since) = pins_of(&planned.prepared, &version);
        planned.rows = RowLocks::of(&planned.prepared, &version);
        planned.changes = may_change(&planned.parsed, &planned.pins);
        planned.reads_virtual = has_virtual(&planned.prepared, &version);
        planned.generation = self.temporary.generation;
        planned.head = None;
        Ok(())
    }

    /// Runs a planned statement to its end and answers.
    pub(crate) fn run(
        &mut self,
        planned: &mut Planned,
        params: &[Value<'_>],
        format: RowFormat,
        out: &mut Output,
    ) -> Result<Done> {
        if planned.hinted.is_some() {
            return self.run_under_hints(planned, |session, planned| session.run(planned, params, format, out));
        }
        if planned.into_file {
            return self.run_into_file(planned, params, out);
        }
        let asks = self.state.gtid.next.is_given() && (planned.changes || planned.prepared.writes());
        // Rows are locked under any number, but one that is over.
        if asks && self.passes_over()? && planned.prepared.writes() {
            self.ok(out, &Outcome::default())?;
            return Ok(Done::Answered);
        }
        self.ready(planned, params)?;
        self.log_planned();
        let hot = self.state.vars.hot();
        let mut sink = WireSink {
            status: self.status(self.more),
            results: hot.results,
            limit: if planned.is_query { hot.select_limit } else { u64::MAX },
            out,
            format,
            head: planned.head.take(),
            rows: 0,
            started: false,
            durable: None,
        };
        if planned.is_query && (self.reads_with_locks(planned) || planned.prepared.writes_within()) {
            sink.out.hold(true);
            sink.durable = Some(Arc::clone(&self.server.engine));
        }
        let result = self.within_deadline(planned, params, &mut sink);
        let (started, rows) = (sink.started, sink.rows);
        self.log.sent = rows;
        planned.head = sink.head.take();
        // What is left is sent after the statement's end, which has waited too.
        out.hold(false);
        // Rows have been sent, or may leave at any time: what they rest on is waited for here.
        self.settles_later = !started && !self.more && result.is_ok() && !self.state.gtid.tracks();
        let finished = self.finish_statement(result);
        self.settles_later = false;
        self.programs.is_cut = started && finished.is_err() && !self.programs.calls.is_empty();
        match finished? {
            outcome if started => {
                self.state.found_rows = outcome.found_rows.unwrap_or(rows);
                self.state.row_count = -1;
                if self.tracking.follows_transactions() {
                    self.track_planned(planned, true);
                }
                self.end_rows(out)?;
            }
            mut outcome => {
                if self.tracking.follows_transactions() {
                    self.track_planned(planned, false);
                }
                if self.found_rows
                    && let Some(matched) = outcome.matched_rows
                {
                    outcome.affected_rows = matched;
                }
                self.state.row_count = outcome.affected_rows as i64;
                self.ok(out, &outcome)?;
            }
        }
        Ok(Done::Answered)
    }

    /// Brings the values to the types of their parameters, or the statement to the types of its values.
    #[inline]
    pub(crate) fn bind(
        &mut self,
        planned: &mut Planned,
        values: &mut [Value<'_>],
        is_binary: &dyn Fn(usize) -> bool,
    ) -> Result<()> {
        match parameter::are_keys(planned.prepared.parameters(), values) {
            true => {
                planned.prepared.set_untold(false);
                Ok(())
            }
            false => {
                self.state.untold.clear();
                self.convert(planned, values, is_binary)?;
                planned.prepared.set_untold(!self.state.untold.is_empty());
                Ok(())
            }
        }
    }

    /// `is_binary`: of the values that are strings, which are of bytes?
    fn convert(
        &mut self,
        planned: &mut Planned,
        values: &mut [Value<'_>],
        is_binary: &dyn Fn(usize) -> bool,
    ) -> Result<()> {
        // A value that was converted to what a column was before DDL could not be converted back.
        if self.is_stale(planned) {
            self.plan_again(planned, &[])?;
        }
        parameter::keep_bytes(planned.prepared.parameters(), values, is_binary)?;
        // Texts have come in the character set of the connection as it is now.
        let is_current = planned.prepared.literal_collation() == self.state.vars.hot().literals;
        if is_current && parameter::bind(planned.prepared.parameters(), values, &mut self.state) {
            return Ok(());
        }
        // In another character set all texts are other ones.
        let (parameters, literals) = (planned.prepared.parameters(), planned.prepared.literal_collation());
        let types = match is_current {
            true => parameter::types_for(parameters, values, literals, is_binary),
            false => self.sent_types(planned, values),
        };
        self.replan(planned, &types)?;
        observe::increment(self.com("stmt_reprepare"));
        self.recorder.reprepared += 1;
        let fits = parameter::bind(planned.prepared.parameters(), values, &mut self.state);
        debug_assert!(fits, "parameters have the types of their values");
        Ok(())
    }

    /// Did DDL come since it was planned?
    #[inline(always)]
    fn is_stale(&mut self, planned: &Planned) -> bool {
        let number = self.catalog.get(self.server.catalog.cell()).number;
        planned.prepared.catalog_version() != number || planned.generation != self.temporary.generation
    }

    /// Plans anew, for what stands where the parameters are now and, where there are any, for values that are bound already.
    #[cold]
    fn plan_again(&mut self, planned: &mut Planned, values: &[Value<'_>]) -> Result<()> {
        let spent = planned.prepared.is_spent();
        match planned.literals.clone() {
            Some(types) => self.replan(planned, &types)?,
            None => self.replan(planned, &[])?,
        }
        if planned.literals.is_none() && !values.is_empty() {
            let types = self.sent_types(planned, values);
            self.replan(planned, &types)?;
        }
        if !spent {
            observe::increment(self.com("stmt_reprepare"));
            self.recorder.reprepared += 1;
        }
        Ok(())
    }

    /// The types of values under the places of their parameters.
    fn sent_types(&self, planned: &Planned, values: &[Value<'_>]) -> Vec<DataType> {
        let text = self.state.vars.hot().literals;
        let known = planned.prepared.parameters().iter().map(|p| Some(p.place)).chain(std::iter::repeat(None));
        values.iter().zip(known).map(|(v, kind)| parameter::sent_type(v, kind, text)).collect()
    }

    /// Runs a planned statement; rows go to `sink`. Pins, privileges, transaction, deadline, autocommit.
    pub(crate) fn run_into(
        &mut self,
        planned: &mut Planned,
        params: &[Value<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        self.run_under_hints(planned, |session, planned| {
            session.ready(planned, params).map_err(|e| session.not_begun(e))?;
            let result = session.within_deadline(planned, params, sink);
            session.finish_statement(result)
        })
    }

    /// Pins the statement's tables: the plan is up to date then.
    fn ready(&mut self, planned: &mut Planned, params: &[Value<'_>]) -> Result<()> {
        self.entry.stage(planned.stage);
        self.refresh_access()?;
        if self.restricted {
            self.check_planned(&planned.prepared)?;
        }
        self.transaction.writes = planned.changes;
        if planned.changes {
            self.check_access_mode()?;
            let writes = planned.prepared.writes() || planned.prepared.writes_within();
            if writes && planned.prepared.tables().iter().any(TableUse::changes_shared) {
                self.check_read_only()?;
                self.transaction.changes_shared = true;
            }
        }
        if planned.is_query {
            // As in MySQL the time runs while the query waits for its tables, too.
            self.start_deadline();
        }
        let pinned = self.pin(planned, params);
        if let Err(error) = &pinned {
            self.end_deadline(Some(error));
        }
        pinned
    }

    /// Does the query read newest versions? They may rest on commits that are not durable yet.
    #[inline]
    fn reads_with_locks(&self, planned: &Planned) -> bool {
        planned.prepared.locks() || (!self.autocommits() && self.isolation() == Isolation::Serializable)
    }

    /// After [`Session::ready`], which began the deadline.
    fn within_deadline(
        &mut self,
        planned: &mut Planned,
        params: &[Value<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        let result = self.in_transaction(planned, params, sink);
        self.end_deadline(result.as_ref().err());
        result.map_err(|e| {
            self.note_for_monitors(&e);
            self.without_hidden_keys(e)
        })
    }

    /// Privileges are checked, the transaction begins, and what the plan asks of the session is there for it.
    #[inline(always)]
    fn in_transaction(
        &mut self,
        planned: &mut Planned,
        params: &[Value<'_>],
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        // One bit test while the account has its privileges globally.
        self.check_rights(&planned.prepared)?;
        if self.locked.is_none() {
            observe::add(Counter::HandlerExternalLock, planned.prepared.external_locks());
        }
        if planned.reads_virtual {
            self.state.inspect = Some(Box::new(self.inspect_context()));
        }
        self.state.single_statement = self.autocommits();
        let lends = planned.prepared.calls();
        if lends {
            self.lend();
        }
        let result = match planned.prepared.uses() {
            Uses::Beside | Uses::Both => self.run_beside(planned, params, sink),
            uses => {
                let begun = match uses {
                    Uses::Transaction => self.begin_readable(planned.readable_since, planned.takes_snapshot()),
                    _ => Ok(()),
                };
                begun.and_then(|()| planned.prepared.execute(&mut self.tx, params, &mut self.state, sink))
            }
        };
        if lends {
            self.take_back();
        }
        if planned.reads_virtual {
            self.state.inspect = None;
            if planned.pins.is_empty() && self.autocommits() {
                // What only looks at the server is no transaction for whoever looks at those.
                self.recorder.transaction = TransactionRecorder::default();
            }
        }
        result
    }

    /// Begins the transaction unless it runs. Error 1412 where its snapshot is older than the trees that it will read, 1181 where it
    /// can only be rolled back. `takes_snapshot`: the statement reads without locks.
    #[inline(always)]
    pub(crate) fn begin_readable(&mut self, readable_since: u64, takes_snapshot: bool) -> Result<()> {
        self.begin_if_needed();
        if self.tx.must_roll_back() {
            return Err(catalog::error::during_rollback(engine::Error::MustRollBack));
        }
        if takes_snapshot
            && self.transaction.snapshot_at == NO_SNAPSHOT
            && self.tx.isolation() == Isolation::RepeatableRead
        {
            // The statement's tables are pinned in this version; what is not pinned may be newer, and is refused later.
            self.transaction.snapshot_at = self.catalog.peek().number;
        }
        if readable_since > self.transaction.snapshot_at { Err(err!(ER_TABLE_DEF_CHANGED)) } else { Ok(()) }
    }

    /// A query may run for `max_execution_time` from now on. [`Session::end_deadline`] follows.
    #[inline(always)]
    fn start_deadline(&mut self) {
        let limit_ms = self.state.vars.hot().max_execution_time_ms;
        if limit_ms > 0 {
            self.has_deadline = true;
            observe::increment(Counter::MaxExecutionTimeSet);
            // Relaxed: a hint to the deadline thread; see `Server::deadlines`.
            self.server.deadlines.fetch_add(1, Ordering::Relaxed);
            self.entry.deadline(observe::clock::now_ns() + limit_ms * 1_000_000);
        }
    }

    /// The query has ended, with an error or without.
    #[inline(always)]
    pub(crate) fn end_deadline(&mut self, error: Option<&SqlError>) {
        if self.has_deadline {
            self.has_deadline = false;
            self.entry.deadline(0);
            // Relaxed: a hint, as above.
            self.server.deadlines.fetch_sub(1, Ordering::Relaxed);
            if error.is_some_and(|e| e.code == ER_QUERY_TIMEOUT) {
                observe::increment(Counter::MaxExecutionTimeExceeded);
            }
        }
    }

    /// Is this the end of the whole transaction, not of the statement alone? With `innodb_rollback_on_timeout` a row lock that
    /// was not had in time is; a metadata lock is not waited for here.
    #[cold]
    fn ends_transaction(&self, error: &SqlError) -> bool {
        catalog::error::ends_transaction(error)
            || (error.code == ER_LOCK_WAIT_TIMEOUT && self.server.globals.load().bool(ROLLBACK_ON_TIMEOUT))
    }

    /// After a statement: ends its transaction in autocommit, waits for what its answer rests on.
    pub(crate) fn finish_statement(&mut self, result: Result<Outcome>) -> Result<Outcome> {
        if !self.tx.is_active() {
            // A deadlock has ended the transaction in the engine, or the statement had none.
            let is_over = result.as_ref().is_err_and(|e| self.ends_transaction(e));
            if is_over {
                self.state.release_gtid();
                self.recorder.transaction.rolls_back();
            }
            if is_over || self.autocommits() {
                self.ended();
            } else {
                self.pins.release_statement();
            }
            return result;
        }
        if self.autocommits() {
            return match result {
                Ok(outcome) => {
                    // Waits for what locking reads rest on, too, once the locks are given back.
                    self.commit_all()?;
                    Ok(outcome)
                }
                Err(e) => {
                    self.rollback_all();
                    Err(e)
                }
            };
        }
        if result.as_ref().is_err_and(|e| self.ends_transaction(e)) {
            self.rollback_all();
            return result;
        }
        self.count_statement(&result);
        self.pins.release_statement();
        self.tx.end_statement();
        if self.tx.rests_on_others() {
            self.entry.stage(Stage::HandlerCommit);
        }
        if self.settles_later && self.tx.rests_on_others() {
            self.unsettled = true;
        } else {
            self.tx.await_durable().map_err(catalog::error::engine)?;
        }
        result
    }

    /// Pins the statement's tables, planning anew when DDL came between. Errors 1146, 1205, 1213, 1615.
    #[inline]
    fn pin(&mut self, planned: &mut Planned, params: &[Value<'_>]) -> Result<()> {
        for _ in 0..REPLANS_MAX {
            if self.is_stale(planned) {
                self.plan_again(planned, params)?;
            }
            if planned.pins.is_empty() {
                return Ok(());
            }
            if self.locked.is_some() {
                self.check_locked(planned)?;
            }
            if self.pin_tables(&planned.pins, planned.changes)? {
                return Ok(());
            }
        }
        Err(err!(ER_NEED_REPREPARE))
    }

    /// A statement that did not begin keeps no table.
    #[cold]
    pub(crate) fn not_begun(&mut self, error: SqlError) -> SqlError {
        if self.autocommits() && !self.tx.is_active() {
            self.ended();
        } else {
            self.pins.release_statement();
        }
        error
    }

    /// False: the dictionary has changed meanwhile.
    pub(crate) fn pin_tables(&mut self, pins: &[Pin], changes: bool) -> Result<bool> {
        let timeout = self.state.vars.hot().lock_wait_timeout;
        let held_nothing = self.pins.holds_nothing();
        let waiting = Waiting { timeout, tx: &mut self.tx };
        match self.pins.pin(pins, changes, waiting) {
            Ok(pinned) => Ok(pinned && self.catalog.is_current(self.server.catalog.cell())),
            // Nothing was held before this statement, so nothing is lost: all over again.
            Err(e) if e.code == ER_LOCK_DEADLOCK && held_nothing && !self.tx.is_active() => {
                self.pins.release();
                Ok(false)
            }
            Err(e) => {
                // Somebody waits for this transaction, so it has to end.
                if e.code == ER_LOCK_DEADLOCK {
                    self.rollback_all();
                }
                Err(e)
            }
        }
    }

    /// Errors 1290, 1792.
    pub(crate) fn check_writable(&self) -> Result<()> {
        self.check_access_mode()?;
        self.check_read_only()
    }

    /// Error 1290 while `read_only` or `super_read_only` is on.
    pub(crate) fn check_read_only(&self) -> Result<()> {
        // A source's changes are made whatever others may not do.
        if self.state.applied.is_some() {
            return Ok(());
        }
        // Globals as of the session's last look: one load.
        let globals = self.state.globals.peek();
        if !self.state.globals.is_current(&self.server.globals) || globals.bool(READ_ONLY) {
            let globals = self.server.globals.load();
            let admin = crate::needs::may(self.access(), Action::WriteWhileReadOnly);
            if globals.bool(SUPER_READ_ONLY) {
                return Err(err!(ER_OPTION_PREVENTS_STATEMENT, "--super-read-only"));
            }
            if globals.bool(READ_ONLY) && !admin {
                return Err(err!(ER_OPTION_PREVENTS_STATEMENT, "--read-only"));
            }
        }
        Ok(())
    }

    /// One parsed statement, whoever runs it.
    pub(crate) fn statement(&mut self, parsed: Parsed, out: &mut Output) -> Result<Done> {
        let class = self.class_of(self.com(kind_of(&parsed)));
        self.note_statement(class, &parsed);
        if !self.is_of_prepared(&parsed) {
            self.digest(parsed.source(), Verb::Run);
        }
        self.log_query(parsed.source(), &parsed, false);
        if is_planned(&parsed.statement) {
            self.state.clear_conditions();
            self.refresh_access()?;
            self.state.note_parsed(&parsed);
            let mut planned = self.plan_to_run(parsed, &[])?;
            self.log_plan(planned.prepared.uses_no_index());
            self.state.note_source(&planned.parsed);
            observe::increment(planned.com);
            return self.run(&mut planned, &[], RowFormat::Text, out);
        }
        if matches!(parsed.statement, Statement::LoadData(_)) {
            return self.load_data(parsed, out);
        }
        if is_interpreted(&parsed.statement) {
            return self.interpret(Arc::new(parsed), out);
        }
        match crate::events::expressions::scheduled(&parsed.statement) {
            Some(expressions) => {
                let parsed = Arc::new(parsed);
                self.obey_with_values(&parsed, &expressions, true, out)
            }
            None => self.obey(&parsed, true, out),
        }
    }
}

/// Is it refused in a transaction that is READ ONLY? A locking query is, but to have it explained.
fn may_change(parsed: &Parsed, pins: &[Pin]) -> bool {
    pins.iter().any(Pin::writes)
        && !matches!(&parsed.statement, Statement::Explain(e) if matches!(e.target, ExplainTarget::Query(_)))
}

fn has_virtual(prepared: &Prepared, version: &Version) -> bool {
    prepared.tables().iter().any(|t| version.table(&t.schema, &t.table).is_some_and(|t| t.is_virtual()))
}

fn parse_int(digits: &[u8]) -> i64 {
    digits.iter().fold(0i64, |n, d| n * 10 + i64::from(d - b'0'))
}
