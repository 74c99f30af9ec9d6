//! What is in scope while the body of a stored program is read, and the instructions that it becomes.

use super::*;
use std::sync::Arc;
use types::codes::*;

/// A body in the making.
pub(crate) struct Builder {
    pub kind: ProgramKind,
    pub program: Program,
    scopes: Vec<Scope>,
    /// Handlers and cursors in force here.
    handler_depth: u32,
    cursor_depth: u32,
    /// What a function or a trigger may not have, by its weight: see [`Forbidden`].
    pub forbidden: Option<Forbidden>,
    /// When a trigger does: before or after, and of what.
    pub fires: Option<(bool, TriggerEvent)>,
}

/// A block, a loop, or the statement of a handler.
struct Scope {
    kind: ScopeKind,
    label: Option<String>,
    /// Where ITERATE goes, and the jumps of LEAVE that wait for the end.
    begin: Place,
    leaves: Vec<Place>,
    variables: Vec<(String, LocalId)>,
    conditions: Vec<(String, Condition)>,
    cursors: Vec<(String, u32)>,
    /// What its handlers are for.
    handled: Vec<Condition>,
    /// EXIT handlers whose end waits for the block's.
    exits: Vec<Place>,
    handler_depth: u32,
    cursor_depth: u32,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    /// The parameters.
    Routine,
    Block,
    Loop,
    Handler,
}

/// What a block has declared last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Variables,
    Cursors,
    Handlers,
}

/// What else there is of a part than its statement.
struct Aside {
    extra: Vec<u8>,
    exprs: Vec<Expr>,
    lists: Vec<ExprId>,
    queries: Vec<Query>,
    tables: Vec<TableRef>,
    notes: Vec<Note>,
    reserved: Vec<ObjectName>,
    hints: Option<Str>,
    tallest: u32,
    merged: u32,
}

fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!a.is_ascii() && a.to_lowercase() == b.to_lowercase())
}

fn find<T: Clone>(names: &[(String, T)], name: &str) -> Option<T> {
    names.iter().rev().find(|(n, _)| same(n, name)).map(|(_, found)| found.clone())
}

impl Builder {
    /// Of a program without operations.
    pub fn new(kind: ProgramKind) -> Builder {
        let mut builder = Builder {
            kind,
            program: Program::default(),
            scopes: Vec::new(),
            handler_depth: 0,
            cursor_depth: 0,
            forbidden: None,
            fires: None,
        };
        builder.open(ScopeKind::Routine, None);
        builder
    }

    /// Is the program a function, which returns a value?
    pub fn is_function(&self) -> bool {
        self.kind == ProgramKind::Function
    }

    /// Notes what a function or a trigger may not do.
    pub fn forbid(&mut self, what: Forbidden) {
        self.forbidden = Some(self.forbidden.map_or(what, |other| other.min(what)));
    }

    // --- instructions ---

    /// The place of the next operation.
    pub fn here(&self) -> Place {
        self.program.code.len() as Place
    }

    /// Adds an operation, and says its place.
    pub fn emit(&mut self, op: Op) -> Place {
        self.program.code.push(op);
        self.here() - 1
    }

    /// A jump goes here.
    pub fn land(&mut self, jump: Place) {
        let here = self.here();
        match &mut self.program.code[jump as usize] {
            Op::Jump(to) | Op::JumpUnless { to, .. } | Op::EndHandler { exit: Some(to) } => *to = here,
            other => unreachable!("no jump: {other:?}"),
        }
    }

    /// A condition that fails goes on here.
    pub fn end_choice(&mut self, jumps: &[Place]) {
        let here = self.here();
        for jump in jumps {
            if let Op::JumpUnless { otherwise, .. } | Op::SetCase { otherwise, .. } =
                &mut self.program.code[*jump as usize]
            {
                *otherwise = here;
            }
        }
    }

    // --- scopes ---

    /// A block or loop begins.
    pub fn open(&mut self, kind: ScopeKind, label: Option<String>) {
        self.scopes.push(Scope {
            kind,
            label,
            begin: self.here(),
            leaves: Vec::new(),
            variables: Vec::new(),
            conditions: Vec::new(),
            cursors: Vec::new(),
            handled: Vec::new(),
            exits: Vec::new(),
            handler_depth: self.handler_depth,
            cursor_depth: self.cursor_depth,
            stage: Stage::Variables,
        });
    }

    /// Ends the innermost scope: what it declared is gone, and who leaves it goes on here.
    pub fn close(&mut self) {
        let scope = self.scopes.pop().expect("it was opened");
        self.pop_to(scope.handler_depth, scope.cursor_depth);
        (self.handler_depth, self.cursor_depth) = (scope.handler_depth, scope.cursor_depth);
        for jump in scope.leaves.into_iter().chain(scope.exits) {
            self.land(jump);
        }
    }

    fn pop_to(&mut self, handlers: u32, cursors: u32) {
        if self.handler_depth > handlers {
            self.emit(Op::PopHandlers(self.handler_depth - handlers));
        }
        if self.cursor_depth > cursors {
            self.emit(Op::PopCursors(self.cursor_depth - cursors));
        }
    }

    fn innermost(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("a body is inside of a routine")
    }

    /// Scopes whose labels can be seen, the innermost first.
    fn labelled(&self) -> impl Iterator<Item = usize> {
        let inside = (0..self.scopes.len()).rev().take_while(|i| self.scopes[*i].kind != ScopeKind::Handler);
        inside.collect::<Vec<_>>().into_iter()
    }

    /// Is a block or loop of this label open?
    pub fn has_label(&self, label: &str) -> bool {
        self.labelled().any(|i| self.scopes[i].label.as_deref().is_some_and(|l| same(l, label)))
    }

    /// The label of the innermost scope.
    pub fn label(&self) -> Option<&str> {
        self.scopes.last().and_then(|s| s.label.as_deref())
    }

    /// LEAVE or ITERATE; false: there is no such label.
    pub fn leave(&mut self, label: &str, iterates: bool) -> bool {
        let found = self.labelled().find(|i| {
            let scope = &self.scopes[*i];
            scope.label.as_deref().is_some_and(|l| same(l, label)) && (!iterates || scope.kind == ScopeKind::Loop)
        });
        let Some(at) = found else { return false };
        let scope = &self.scopes[at];
        let (handlers, cursors, begin) = (scope.handler_depth, scope.cursor_depth, scope.begin);
        self.pop_to(handlers, cursors);
        match iterates {
            true => {
                self.emit(Op::Jump(begin));
            }
            false => {
                let jump = self.emit(Op::Jump(0));
                self.scopes[at].leaves.push(jump);
            }
        }
        true
    }

    // --- what is declared ---

    /// The innermost variable or parameter of the name.
    pub fn variable(&self, name: &str) -> Option<LocalId> {
        self.scopes.iter().rev().find_map(|s| find(&s.variables, name))
    }

    /// The innermost condition of the name.
    pub fn condition(&self, name: &str) -> Option<Condition> {
        self.scopes.iter().rev().find_map(|s| find(&s.conditions, name))
    }

    /// The number of the innermost cursor of the name.
    pub fn cursor(&self, name: &str) -> Option<u32> {
        self.scopes.iter().rev().find_map(|s| find(&s.cursors, name))
    }

    /// A variable that no name leads to.
    pub fn add_local(&mut self, name: &str, data_type: Option<CreateColumnType>, mode: ParameterMode) -> LocalId {
        self.program.locals.push(Local { name: name.to_string(), data_type, mode, row: None });
        self.program.locals.len() as LocalId - 1
    }

    /// The variable that holds a column of a row that the trigger is about.
    fn row_column(&mut self, image: RowImage, column: &str) -> LocalId {
        let is_it = |l: &Local| l.row == Some(image) && same(&l.name, column);
        if let Some(at) = self.program.locals.iter().position(is_it) {
            return at as LocalId;
        }
        let local = Local { name: column.to_string(), data_type: None, mode: ParameterMode::In, row: Some(image) };
        self.program.locals.push(local);
        self.program.locals.len() as LocalId - 1
    }

    /// False: the block has one of this name.
    pub fn declare_variable(
        &mut self,
        name: &str,
        data_type: CreateColumnType,
        mode: ParameterMode,
    ) -> Option<LocalId> {
        if find(&self.innermost().variables, name).is_some() {
            return None;
        }
        let id = self.add_local(name, Some(data_type), mode);
        self.innermost().variables.push((name.to_string(), id));
        Some(id)
    }

    /// DECLARE ... CONDITION. False: the block has one of the name.
    pub fn declare_condition(&mut self, name: &str, condition: Condition) -> bool {
        let scope = self.innermost();
        let is_new = find(&scope.conditions, name).is_none();
        scope.conditions.push((name.to_string(), condition));
        is_new
    }

    /// DECLARE ... CURSOR. False: the block has one of the name.
    pub fn declare_cursor(&mut self, name: &str, query: PartId) -> bool {
        let number = self.program.cursors.len() as u32;
        self.program.cursors.push(Cursor { name: name.to_string(), query });
        let scope = self.innermost();
        let is_new = find(&scope.cursors, name).is_none();
        scope.cursors.push((name.to_string(), number));
        scope.stage = Stage::Cursors;
        self.cursor_depth += 1;
        self.emit(Op::PushCursor(number));
        is_new
    }

    /// Error 1337 or 1338 where the order of declarations is wrong.
    pub fn refuses(&mut self, cursor: bool) -> Option<(u16, &'static str)> {
        let stage = self.innermost().stage;
        match cursor {
            true if stage > Stage::Cursors => {
                Some((ER_SP_CURSOR_AFTER_HANDLER, "Cursor declaration after handler declaration"))
            }
            false if stage > Stage::Variables => Some((
                ER_SP_VARCOND_AFTER_CURSHNDLR,
                "Variable or condition declaration after cursor or handler declaration",
            )),
            _ => None,
        }
    }

    /// Another condition of a handler; false: the block has a handler for it.
    pub fn handle(&mut self, condition: &Condition) -> bool {
        let scope = self.innermost();
        let is_new = !scope.handled.contains(condition);
        scope.handled.push(condition.clone());
        is_new
    }

    /// A handler's statement follows. Answers what [`Builder::end_handler`] is given.
    pub fn begin_handler(&mut self, conditions: Vec<Condition>) -> HandlerBegun {
        let number = self.program.handlers.len() as u32;
        let scope = self.innermost();
        scope.stage = Stage::Handlers;
        let (handlers, cursors) = (scope.handler_depth, scope.cursor_depth);
        self.emit(Op::PushHandler(number));
        let over = self.emit(Op::Jump(0));
        let body = self.here();
        self.program.handlers.push(Handler { conditions, body, handlers, cursors });
        let depth = self.handler_depth + 1;
        // Those of the block are not in force in its handlers' statements.
        self.handler_depth = handlers;
        self.open(ScopeKind::Handler, None);
        HandlerBegun { over, depth }
    }

    /// The handler's statement is over. `exits`: its block ends then.
    pub fn end_handler(&mut self, begun: HandlerBegun, exits: bool) {
        self.close();
        let end = self.emit(Op::EndHandler { exit: exits.then_some(0) });
        if exits {
            self.innermost().exits.push(end);
        }
        self.land(begun.over);
        self.handler_depth = begun.depth;
    }

    /// What there is to say of a function or a trigger that does what it may not.
    pub fn check_allowed(&self) -> R<()> {
        let place = match self.kind {
            ProgramKind::Function => "function",
            ProgramKind::Trigger => "trigger",
            _ => return Ok(()),
        };
        let Some(forbidden) = self.forbidden else { return Ok(()) };
        let (code, message) = forbidden.error(place);
        Err(ParseError::new(code, message, 0))
    }
}

/// A handler whose statement is being read.
pub(crate) struct HandlerBegun {
    over: Place,
    depth: u32,
}

impl Parser<'_> {
    pub(super) fn builder(&mut self) -> &mut Builder {
        self.program.as_mut().expect("inside the body of a stored program")
    }

    /// A name without table: a variable wins over a column.
    #[inline]
    pub(super) fn local_or_column(&self, name: Name) -> Expr {
        match self.program.as_ref().and_then(|b| b.variable(&self.shown(name))) {
            Some(local) => Expr::Local(local),
            None => Expr::Column { schema: None, table: None, column: name },
        }
    }

    /// NEW or OLD, in a trigger.
    pub(super) fn row_image(&self, name: Name) -> Option<RowImage> {
        self.program.as_ref()?.fires?;
        match self.raw(name) {
            name if name.eq_ignore_ascii_case(b"new") => Some(RowImage::New),
            name if name.eq_ignore_ascii_case(b"old") => Some(RowImage::Old),
            _ => None,
        }
    }

    /// A column of NEW or OLD. Errors 1363; 1362 where it `is_set`.
    pub(super) fn row_column(&mut self, image: RowImage, column: Name, is_set: bool) -> R<LocalId> {
        let (before, event) = self.program.as_ref().and_then(|b| b.fires).expect("inside of a trigger");
        let missing = match (image, event) {
            (RowImage::Old, _) if is_set => None,
            (RowImage::Old, TriggerEvent::Insert) => Some(("OLD", "on INSERT")),
            (RowImage::New, TriggerEvent::Delete) => Some(("NEW", "on DELETE")),
            _ => None,
        };
        let at = self.prev_end as usize;
        if let Some((row, what)) = missing {
            return Err(ParseError::at(err!(ER_TRG_NO_SUCH_ROW_IN_TRG, row, what), at));
        }
        let fixed = match image {
            RowImage::Old => Some(("OLD", "")),
            RowImage::New => (!before).then_some(("NEW", "after ")),
        };
        if let (true, Some((row, when))) = (is_set, fixed) {
            return Err(ParseError::at(err!(ER_TRG_CANT_CHANGE_ROW, row, when), at));
        }
        let column = self.shown(column);
        Ok(self.builder().row_column(image, &column))
    }

    /// A variable of the program. Error 1327.
    pub(super) fn local(&mut self) -> R<LocalId> {
        let start = self.tok.start as usize;
        let name = self.name()?;
        let name = self.shown(name);
        let found = self.builder().variable(&name);
        found.ok_or_else(|| ParseError::at(err!(ER_SP_UNDECLARED_VAR, name), start))
    }

    /// The number of LIMIT by a variable, which is an integer. Error 1327.
    pub(super) fn local_number(&mut self) -> R<ExprId> {
        let start = self.tok.start as usize;
        let local = self.local()?;
        let is_integer = self.builder().program.locals[local as usize].data_type.as_ref().is_some_and(|t| {
            use BaseType as B;
            matches!(t.base, B::TinyInt | B::SmallInt | B::MediumInt | B::Int | B::BigInt | B::Bool | B::Bit)
        });
        if !is_integer {
            return Err(self.syntax_at(start as u32));
        }
        Ok(self.add(Expr::Local(local)))
    }

    pub(super) fn shown(&self, name: Name) -> String {
        String::from_utf8_lossy(self.raw(name)).into_owned()
    }

    /// Reads a part of the body with a tree of its own.
    pub(super) fn part(&mut self, inside: impl FnOnce(&mut Self) -> R<Statement>) -> R<PartId> {
        let start = self.tok.start;
        let mut aside = Aside {
            extra: Vec::new(),
            exprs: Vec::new(),
            lists: Vec::new(),
            queries: Vec::new(),
            tables: Vec::new(),
            notes: Vec::new(),
            reserved: Vec::new(),
            hints: None,
            tallest: 0,
            merged: 0,
        };
        self.exchange(&mut aside);
        let statement = inside(self)?;
        self.exchange(&mut aside);
        let part = Parsed {
            // The text follows once the program is whole.
            source: Arc::from([]),
            own: start..self.prev_end.max(start),
            extra: aside.extra,
            exprs: aside.exprs,
            lists: aside.lists,
            queries: aside.queries,
            tables: aside.tables,
            notes: aside.notes,
            reserved: aside.reserved,
            hints: aside.hints,
            param_count: 0,
            statement,
            height: aside.tallest + aside.merged,
            utf8mb4_collation: None,
        };
        let parts = &mut self.builder().program.parts;
        parts.push(Arc::new(part));
        Ok(parts.len() as PartId - 1)
    }

    fn exchange(&mut self, aside: &mut Aside) {
        use std::mem::swap;
        swap(&mut self.extra, &mut aside.extra);
        swap(&mut self.exprs, &mut aside.exprs);
        swap(&mut self.lists, &mut aside.lists);
        swap(&mut self.queries, &mut aside.queries);
        swap(&mut self.tables, &mut aside.tables);
        swap(&mut self.notes, &mut aside.notes);
        swap(&mut self.reserved, &mut aside.reserved);
        swap(&mut self.hints, &mut aside.hints);
        swap(&mut self.tallest, &mut aside.tallest);
        swap(&mut self.merged, &mut aside.merged);
    }

    /// An expression as a part: `DO expr`.
    pub(super) fn value_part(&mut self) -> R<PartId> {
        self.part(|p| {
            let value = p.expr()?;
            Ok(Statement::Do(p.list_of(&[value])))
        })
    }
}
