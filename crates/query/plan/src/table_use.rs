//! What a statement does with the tables, columns and routines that it names: for privileges and metadata locks.

use catalog::Table;

/// A table that a statement touches, for privileges and metadata locks. Its fields are what each of these asks for by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableUse {
    pub schema: String,
    pub table: String,
    pub id: u64,
    /// The session's own: no privileges, no metadata lock.
    pub temporary: bool,
    pub read: bool,
    pub insert: bool,
    pub update: bool,
    pub delete: bool,
    /// FOR UPDATE / FOR SHARE.
    pub lock: bool,
    /// FOR UPDATE.
    pub for_update: bool,
    /// The action of a foreign key may change its rows: no privilege is asked for, but it is locked as one that is written.
    pub carried: bool,
    /// A view that the statement names is made of it.
    pub in_view: bool,
    /// The statement changes its rows, by its own name or by a view's.
    pub is_target: bool,
    /// An UPDATE of several tables names it beside those that it changes: as in MySQL it is opened as they are, whose columns are not
    /// known yet.
    pub joined: bool,
    /// Stored functions and triggers that the statement calls use it, and write to it where it is `carried`: it asks for no privilege.
    pub by_routine: bool,
    pub columns: ColumnUse,
}

/// A routine that a statement calls itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutineUse {
    pub schema: String,
    pub kind: catalog::RoutineKind,
    pub name: String,
    /// The definer of the view that calls it; `None`: the session does.
    pub caller: Option<String>,
    /// The view that the statement names, for error 1356.
    pub view: Option<(String, String)>,
}

impl TableUse {
    /// Nothing is done with it yet.
    pub fn new(table: &Table) -> TableUse {
        TableUse::named(table.schema.clone(), table.name.clone(), table.id, table.temporary)
    }

    /// The table of another use, with which nothing is done.
    pub fn unused(other: &TableUse) -> TableUse {
        TableUse::named(other.schema.clone(), other.table.clone(), other.id, other.temporary)
    }

    fn named(schema: String, table: String, id: u64, temporary: bool) -> TableUse {
        TableUse {
            schema,
            table,
            id,
            temporary,
            read: false,
            insert: false,
            update: false,
            delete: false,
            lock: false,
            for_update: false,
            carried: false,
            in_view: false,
            is_target: false,
            joined: false,
            by_routine: false,
            columns: ColumnUse::default(),
        }
    }

    /// Is it locked as one whose rows change?
    pub fn is_written(&self) -> bool {
        self.insert || self.update || self.delete || self.for_update || self.carried
    }

    /// Do rows change in it that others see?
    pub fn changes_shared(&self) -> bool {
        !self.temporary && (self.insert || self.update || self.delete || self.carried)
    }

    /// Does the statement itself use it?
    pub fn is_own(&self) -> bool {
        let named = self.read || self.insert || self.update || self.delete || self.lock || self.joined;
        named || self.in_view || !self.by_routine
    }

    /// Does the statement itself change its rows? What foreign keys and routines do is not its own.
    pub fn is_changed(&self) -> bool {
        self.insert || self.update || self.delete || self.is_target
    }

    /// Is its metadata locked as that of a table whose rows change?
    pub fn is_opened_for_write(&self) -> bool {
        self.is_written() || self.joined
    }
}

/// The columns of a table that a statement names, for privileges on columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnUse {
    pub read: Vec<String>,
    /// `*` is among what is read.
    pub reads_all: bool,
    pub insert: Vec<String>,
    /// INSERT without a list of columns.
    pub inserts_all: bool,
    pub update: Vec<String>,
}

/// A right that a view needs on a table or view that it is made of, whoever uses the view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewRight {
    /// The view that the statement names, for error 1356.
    pub view: (String, String),
    /// The view whose right it is: that one, or one inside of it.
    pub of: (String, String),
    /// SQL SECURITY DEFINER: `user@host` of the definer. `None`: INVOKER.
    pub definer: Option<String>,
    pub schema: String,
    pub table: String,
    /// It is read.
    pub read: bool,
    /// Columns that are read whatever the statement uses of the view.
    pub columns: Vec<String>,
    /// Columns that INSERT needs whatever it sets.
    pub inserted: Vec<String>,
    /// Columns that are needed as far as the statement uses a column of the view [`ViewRight::shown_by`]: that one, and the table's.
    pub shown: Vec<(String, String)>,
    /// See [`TableUse::id`].
    pub shown_by: Option<u64>,
    /// What the statement does with the view of this id it does with the table.
    pub as_view: Option<u64>,
}

impl ViewRight {
    /// What a view that encloses this one's needs: a column of `table` for each that is read of this one's in its own columns, or always.
    /// `reads`: of the view that shows it, the column and the place in the list that it is read for, if it is that.
    pub fn shown_through(&mut self, table: &Table, reads: &[(String, Option<usize>)]) {
        for (name, column) in std::mem::take(&mut self.shown) {
            for (_, item) in reads.iter().filter(|(read, _)| read.eq_ignore_ascii_case(&name)) {
                match item {
                    Some(i) => self.shown.push((table.columns[*i].name.clone(), column.clone())),
                    None => self.columns.push(column.clone()),
                }
            }
        }
        self.shown_by = Some(table.id);
    }
}
