//! What a session lends to the stored functions and triggers of the statement that it runs: dictionary, rights, settings.

use crate::Server;
use crate::needs::{Action, may};
use crate::rights::{Rights, is_named, may_execute};
use crate::roles::roles_shown;
use crate::session::Session;
use crate::state::State;
use crate::variables::{VarId, id};
use crate::viewer::viewer_of;
use accounts::{Access, Privileges};
use catalog::RoutineKind;
use run::Prepared;
use run::context::{Around, Conditions, Figures};
use run::program::{Compiled, Lent, Own, Surroundings};
use sql::ast::LocalId;
use std::sync::Arc;
use types::Result;
use types::sql_mode::SqlMode;

const PROGRAM_CACHE: VarId = id("stored_program_cache");

/// The rights of a session while its statement runs.
pub(crate) struct LentRights {
    pub server: Arc<Server>,
    /// The session's, and those of the definers of the routines that run; the last is in force.
    stack: Vec<Access>,
    /// Which routines have put one there.
    changed: Vec<bool>,
    definers: Vec<Access>,
    /// Routines that their definers may call.
    allowed: Vec<Own>,
}

impl LentRights {
    /// Those that `state` has, while a statement runs that calls something.
    pub fn of(state: &mut State) -> Result<&mut LentRights> {
        let rights = state.lent.as_mut().and_then(|lent| lent.lent_rights());
        let rights = rights.and_then(|rights| rights.downcast_mut::<LentRights>());
        rights.ok_or_else(|| expr::error::unsupported("this statement in stored functions and triggers"))
    }

    /// Those in force.
    pub fn access(&self) -> &Access {
        self.stack.last().expect("the session's at least")
    }

    /// Error 1143 for a column of the trigger's table that the rights in force do not reach.
    fn may_touch(
        &self,
        wanted: Privileges,
        (schema, table): (&str, &str),
        trigger: &Compiled,
        mut locals: impl Iterator<Item = usize>,
    ) -> Result<()> {
        let access = self.access();
        if access.global().has(wanted) {
            return Ok(());
        }
        locals.try_for_each(|local| {
            let column = &trigger.columns[local].name;
            match access.column(schema, table, column).has(wanted) {
                true => Ok(()),
                false => Err(access.denied_column(wanted, table, column)),
            }
        })
    }

    fn rights(&mut self) -> Rights<'_> {
        let access = self.stack.last().expect("the session's at least");
        Rights { access, definers: &mut self.definers, server: &self.server }
    }
}

impl run::program::Rights for LentRights {
    fn check(&mut self, prepared: &Prepared) -> Result<()> {
        self.rights().check(prepared)
    }

    fn may_call(&mut self, schema: &str, kind: RoutineKind, name: &str) -> Result<()> {
        may_execute(self.stack.last().expect("the session's at least"), schema, kind, name)
    }

    fn enter(&mut self, routine: &Own, table: Option<&str>, caller: Option<&str>) -> Result<Option<String>> {
        let own = self.stack.last().expect("the session's at least");
        // As in MySQL, a routine of one's own keeps the roles that are active; a view's definer has its default roles.
        let is_own = |name: &str| is_named(own, name) && (!routine.invoker || own.active_roles().is_empty());
        let runs_as = if routine.invoker { caller } else { Some(routine.definer.as_str()) };
        let Some(runs_as) = runs_as.filter(|name| !is_own(name)) else {
            if let Some(table) = table {
                own.check_table(Privileges::TRIGGER, &routine.routine.schema, table)?;
            }
            self.changed.push(false);
            return Ok(None);
        };
        let access = self.rights().take_definer(runs_as)?;
        // Once a statement, however often it calls it.
        if !routine.invoker && !self.allowed.iter().any(|allowed| allowed.is(routine)) {
            let name = &routine.routine;
            if let Err(denied) = may_execute(&access, &name.schema, name.kind, table.unwrap_or(&name.name)) {
                self.definers.push(access);
                return Err(denied);
            }
            self.allowed.push(routine.clone());
        }
        self.stack.push(access);
        self.changed.push(true);
        Ok(Some(runs_as.to_string()))
    }

    fn may_read(&mut self, schema: &str, table: &str, trigger: &Compiled) -> Result<()> {
        let read = trigger.row_columns.iter().filter(|c| c.is_read);
        self.may_touch(Privileges::SELECT, (schema, table), trigger, read.map(|c| c.local))
    }

    fn may_set(&mut self, schema: &str, table: &str, trigger: &Compiled, set: &[LocalId]) -> Result<()> {
        let set = trigger.row_columns.iter().filter(|c| c.is_set && set.contains(&(c.local as LocalId)));
        self.may_touch(Privileges::UPDATE, (schema, table), trigger, set.map(|c| c.local))
    }

    fn leave(&mut self) {
        if self.changed.pop() == Some(true)
            && let Some(definer) = self.stack.pop()
        {
            self.definers.push(definer);
        }
    }
}

impl Session {
    /// The statement at hand calls routines: what they need goes to where the executor finds it. [`Session::take_back`] follows.
    #[cold]
    pub(crate) fn lend(&mut self) {
        let access = self.access.take().expect("statements come after the login");
        self.lend_as(access);
    }

    /// The same inside of a definition, which asks for the session's rights meanwhile.
    #[cold]
    pub(crate) fn lend_copy(&mut self) {
        let access = self.access().clone();
        self.lend_as(access);
    }

    fn lend_as(&mut self, access: Access) {
        // Kept from statement to statement: neither the server's users nor the dictionary's are counted anew.
        let kept = self.lent_rights.take().and_then(|kept| {
            let kept: Box<dyn std::any::Any> = kept;
            kept.downcast::<LentRights>().ok()
        });
        let mut rights = kept.unwrap_or_else(|| {
            let (server, definers) = (Arc::clone(&self.server), Vec::new());
            Box::new(LentRights { server, stack: Vec::new(), changed: Vec::new(), definers, allowed: Vec::new() })
        });
        rights.stack.push(access);
        rights.definers = std::mem::take(&mut self.definers);
        let plans_max = self.state.globals.get(&self.server.globals).uint(PROGRAM_CACHE) as usize;
        let generation = self.temporary.generation;
        let base = self.catalog.get(self.server.catalog.cell());
        match self.temporary.is_empty() {
            true => self.state.lent().begin(base, rights, plans_max, generation),
            false => self.state.lent().begin(&self.temporary.over(base), rights, plans_max, generation),
        }
    }

    #[cold]
    pub(crate) fn take_back(&mut self) {
        // There is one only where a panic has ended the statement.
        while self.state.put_surroundings() {}
        self.state.inner_statements.clear();
        self.follow_set_within();
        let rights = self.state.lent.as_mut().and_then(|lent| lent.end());
        let Some(rights) = rights else { return };
        let rights: Box<dyn std::any::Any> = rights;
        if let Ok(mut rights) = rights.downcast::<LentRights>() {
            rights.stack.truncate(1);
            self.access = rights.stack.pop();
            self.definers = std::mem::take(&mut rights.definers);
            rights.changed.clear();
            rights.allowed.clear();
            self.lent_rights = Some(rights);
        }
    }
}

impl Session {
    /// The statement's functions and triggers have set variables: what is kept beside them follows now.
    fn follow_set_within(&mut self) {
        if self.state.set_within.ids.is_empty() {
            return;
        }
        for id in std::mem::take(&mut self.state.set_within.ids) {
            self.tracking.variable(id);
        }
        self.after_set();
    }
}

impl State {
    pub(crate) fn lent(&mut self) -> &mut Lent {
        self.lent.get_or_insert_default()
    }

    /// See [`run::Env::surround`].
    pub(crate) fn take_surroundings(&mut self, new: Around<'_>) {
        let (mode, collation) = (self.sql_mode.0, self.vars.hot().literals);
        let mut before = Surroundings { database: None, sql_mode: mode, collation, user: None, rights: None };
        if self.database.as_deref() != Some(new.schema) {
            before.database = Some(self.database.replace(new.schema.to_string()));
        }
        self.set_surroundings(new.sql_mode, new.collation);
        if let Some(user) = new.user {
            before.user = Some(std::mem::replace(&mut self.current_user, user));
            before.rights = Some(self.show_definers_rights());
            self.look_as_definer();
        }
        self.lent().surrounded.push(before);
        #[cfg(debug_assertions)]
        crate::panics::provoke_in(new.schema);
    }

    /// See [`run::Env::restore`]. False: nothing was changed.
    pub(crate) fn put_surroundings(&mut self) -> bool {
        let Some(before) = self.lent.as_mut().and_then(|lent| lent.surrounded.pop()) else { return false };
        if let Some(database) = before.database {
            self.database = database;
        }
        // Also where the routine has set them itself.
        self.set_surroundings(before.sql_mode, before.collation);
        let left = self.lent().surrounded.len();
        self.restore_options(left);
        if let Some((role, reads_files)) = before.rights {
            (self.current_role, self.reads_files) = (role, reads_files);
        }
        if let Some(user) = before.user {
            self.current_user = user;
            self.look_as_caller(left);
        }
        true
    }

    /// What functions ask of the rights in force is answered from the definer's. What it was.
    fn show_definers_rights(&mut self) -> (String, bool) {
        let rights = LentRights::of(self).expect("the definer's were exchanged before");
        let (role, reads_files) = (roles_shown(rights.access()), may(rights.access(), Action::ReadFile));
        (std::mem::replace(&mut self.current_role, role), std::mem::replace(&mut self.reads_files, reads_files))
    }

    /// Where the statement reads virtual tables, they are from now on what the definer sees of them whose rights are in force.
    fn look_as_definer(&mut self) {
        let depth = self.lent().surrounded.len();
        let Some(mut context) = self.inspect.take() else { return };
        // Never with the caller's eyes, whatever happens.
        let rights = LentRights::of(self).expect("the definer's were exchanged before");
        let access = rights.access();
        let definer = viewer_of(&rights.server, access, &access.account().name.user, Vec::new());
        context.callers.push((depth, std::mem::replace(&mut context.viewer, definer)));
        self.inspect = Some(context);
    }

    fn look_as_caller(&mut self, depth: usize) {
        let Some(context) = &mut self.inspect else { return };
        if let Some((_, caller)) = context.callers.pop_if(|(of, _)| *of == depth) {
            context.viewer = caller;
        }
    }

    pub(crate) fn exchange_all_conditions(&mut self, others: Conditions) -> Conditions {
        let Conditions { kept, count, errors, former } = others;
        let kept = std::mem::replace(&mut self.warnings, kept);
        if !self.warnings.is_empty() {
            self.warnings.truncate(self.vars.uint(crate::state::MAX_ERROR_COUNT) as usize);
        }
        Conditions {
            kept,
            count: std::mem::replace(&mut self.warning_count, count),
            errors: std::mem::replace(&mut self.error_count, errors),
            former: std::mem::replace(&mut self.former_counts, former),
        }
    }

    pub(crate) fn all_figures(&self) -> Figures {
        Figures {
            row_count: self.row_count,
            found_rows: self.found_rows,
            last_insert_id: self.last_insert_id,
            insert_id: self.insert_id,
        }
    }

    pub(crate) fn put_figures(&mut self, figures: Figures) {
        self.row_count = figures.row_count;
        self.found_rows = figures.found_rows;
        self.last_insert_id = figures.last_insert_id;
        self.insert_id = figures.insert_id;
    }

    /// Makes the SQL mode and the collation of literals those that a routine is planned and run under, or the caller's again.
    pub(crate) fn set_surroundings(&mut self, sql_mode: u64, collation: types::CollationId) {
        use crate::program::{CHARSET, COLLATION, SQL_MODE};
        use crate::variables::Val;
        if self.sql_mode.0 != sql_mode {
            self.sql_mode = SqlMode(sql_mode);
            self.vars.set(SQL_MODE, Val::UInt(sql_mode));
        }
        if self.vars.hot().literals != collation {
            let text = |s: &'static str| Val::Str(s.into());
            let (charset, collation) = (text(collation.charset().name()), text(collation.info().name));
            self.vars.set_all([(CHARSET, charset), (COLLATION, collation)]);
        }
    }
}
