//! Places in a document: those of a stored one that paths lead to are found by its offsets, and no tree is made of the rest.

use std::borrow::Cow;
use std::cell::OnceCell;
use types::json::part::Part;
use types::json::path::Path;
use types::json::{Json, binary};
use types::{Result, Value};

/// A document in which places are looked for.
pub struct Places<'v> {
    pub v: Value<'v>,
    /// Its tree, once it is needed; of a text from the start.
    pub tree: OnceCell<Json>,
}

/// One of its places.
pub enum Place<'d> {
    Part(Part<'d>),
    Tree(&'d Json),
}

const WELL_FORMED: &str = "JSON values hold well-formed documents";

/// A stored document's whole.
pub fn whole(document: &[u8]) -> Part<'_> {
    Part::of(document).expect(WELL_FORMED)
}

impl Places<'_> {
    fn tree(&self) -> Result<&Json> {
        if let Some(tree) = self.tree.get() {
            return Ok(tree);
        }
        let tree = super::document(&self.v)?;
        Ok(self.tree.get_or_init(|| tree))
    }

    /// What the path leads to, in document order.
    pub fn seek(&self, path: &Path) -> Result<Vec<Place<'_>>> {
        if let (Value::Json(bytes), None, false) = (&self.v, self.tree.get(), path.has_wildcard()) {
            return Ok(whole(bytes).seek(&path.legs).map(Place::Part).into_iter().collect());
        }
        Ok(path.seek(self.tree()?)?.into_iter().map(Place::Tree).collect())
    }

    /// The one place that a path without wildcards leads to.
    pub fn seek_one(&self, path: &Path) -> Result<Option<Place<'_>>> {
        Ok(self.seek(path)?.into_iter().next())
    }

    /// As [`Json::length`].
    pub fn length(&self) -> usize {
        match (&self.v, self.tree.get()) {
            (_, Some(tree)) => tree.length(),
            (Value::Json(bytes), None) => Place::Part(whole(bytes)).length(),
            (v, None) => unreachable!("a text has its tree from the start: {v:?}"),
        }
    }
}

impl<'d> Place<'d> {
    /// Members or elements; 1 of a scalar.
    pub fn length(&self) -> usize {
        match self {
            Place::Part(part) => part.length().expect(WELL_FORMED),
            Place::Tree(tree) => tree.length(),
        }
    }

    /// Its tree. Errors of [`crate::error::check_memory`].
    pub fn tree(self) -> Result<Cow<'d, Json>> {
        Ok(match self {
            Place::Part(_) => Cow::Owned(super::document(&self.value())?),
            Place::Tree(tree) => Cow::Borrowed(tree),
        })
    }

    /// A document of its own.
    pub fn value<'a>(&self) -> Value<'a> {
        Value::Json(Cow::Owned(match self {
            Place::Part(part) => part.to_document().expect(WELL_FORMED),
            Place::Tree(tree) => binary::encode(tree),
        }))
    }
}
