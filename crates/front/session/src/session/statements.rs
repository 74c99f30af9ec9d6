//! Prepared statements and their cursors.

use crate::performance::Instance;
use crate::session::plans::Planned;
use protocol::ParameterType;
use sql::ast::Parsed;
use std::collections::HashMap;
use std::sync::Arc;
use types::{DataType, Value};

/// A statement that waits for executions.
pub(crate) struct Stmt {
    pub body: Body,
    pub types: Vec<ParameterType>,
    /// What COM_STMT_SEND_LONG_DATA has brought, by parameter.
    pub long: Vec<(u16, Vec<u8>)>,
    /// Why the long data is no good: told at the execution.
    pub long_failed: bool,
    pub cursor: Option<Cursor>,
    /// What others see of it, and of its executions.
    pub instance: Arc<Instance>,
}

impl Stmt {
    pub fn parsed(&self) -> Arc<Parsed> {
        match &self.body {
            Body::Planned(planned) => Arc::clone(&planned.parsed),
            Body::Other(parsed) => Arc::clone(parsed),
        }
    }
}

pub(crate) enum Body {
    Planned(Box<Planned>),
    /// A statement that the executor does not run.
    Other(Arc<Parsed>),
}

pub(crate) struct Cursor {
    pub rows: std::vec::IntoIter<Vec<Value<'static>>>,
    pub types: Vec<DataType>,
    pub bytes: usize,
}

#[derive(Default)]
pub(crate) struct Statements {
    /// Sorted by id, since ids only grow. `None` while it is executed: session and statement are borrowed side by side.
    pub by_id: Vec<(u32, Option<Box<Stmt>>)>,
    pub by_name: HashMap<String, u32>,
    pub last_id: u32,
    /// Where the one was that was taken last.
    last_at: usize,
    pub cursor_bytes: usize,
}

impl Statements {
    #[inline]
    pub fn place(&self, id: u32) -> Option<usize> {
        match self.by_id.get(self.last_at) {
            Some((last, _)) if *last == id => Some(self.last_at),
            _ => self.by_id.binary_search_by_key(&id, |(id, _)| *id).ok(),
        }
    }

    #[inline]
    pub fn take(&mut self, id: u32) -> Option<Box<Stmt>> {
        let at = self.place(id)?;
        self.last_at = at;
        self.by_id[at].1.take()
    }

    /// After [`Statements::take`]. No statement is closed while it runs.
    #[inline]
    pub fn put_back(&mut self, id: u32, stmt: Box<Stmt>) {
        let at = self.place(id).expect("its place was kept");
        self.by_id[at].1 = Some(stmt);
    }

    #[inline]
    pub fn get(&self, id: u32) -> Option<&Stmt> {
        self.by_id[self.place(id)?].1.as_deref()
    }

    /// What the statement says, which is there and does not run.
    pub fn parsed(&self, id: u32) -> Arc<Parsed> {
        self.get(id).expect("it is there").parsed()
    }

    pub fn get_mut(&mut self, id: u32) -> Option<&mut Stmt> {
        let at = self.place(id)?;
        self.by_id[at].1.as_deref_mut()
    }

    pub fn add(&mut self, stmt: Stmt) -> u32 {
        self.last_id += 1;
        self.by_id.push((self.last_id, Some(Box::new(stmt))));
        self.last_id
    }

    /// None is left. Later ones have other ids.
    pub fn clear(&mut self) {
        *self = Statements { last_id: self.last_id, ..Statements::default() };
    }

    pub fn remove(&mut self, id: u32) -> Option<Box<Stmt>> {
        let at = self.place(id)?;
        self.by_id.remove(at).1
    }
}
