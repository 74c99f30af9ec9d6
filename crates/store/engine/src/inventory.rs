//! What lies in the data file and in the buffer pool, for those who look at the server.

use crate::engine::Engine;
use crate::page::node::Node;
use crate::page::{self, PAGE_BYTES, PageType};
use crate::recovery::{DATA_FILE, INITIAL_PAGES};
use crate::{Result, Tree};
use std::sync::atomic::Ordering;

/// The file that holds all trees.
#[derive(Clone, Copy, Debug)]
pub struct DataFile {
    /// In the data directory.
    pub name: &'static str,
    pub bytes: u64,
    /// Bytes that it takes in the file system: free space may have been given back.
    pub allocated_bytes: u64,
    /// Of `bytes`, those of units that nobody owns.
    pub free_bytes: u64,
    /// What a new file begins with.
    pub initial_bytes: u64,
    pub page_bytes: u64,
}

/// What belongs to a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeSpace {
    /// Bytes of pages in use.
    pub used_bytes: u64,
    /// Bytes of pages that nobody else may use.
    pub spare_bytes: u64,
}

/// A page in memory.
#[derive(Clone, Debug)]
pub struct BufferPage {
    pub frame: u64,
    pub page: u64,
    /// `None`: somebody was writing to it.
    pub content: Option<PageContent>,
    /// LSN of the oldest change that is not in the file; 0: there is none.
    pub dirty_since: u64,
    /// Is it being written to the file?
    pub in_flight: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct PageContent {
    pub kind: Option<PageType>,
    /// LSN behind the newest change.
    pub lsn: u64,
    /// Of nodes: the tree, how many slots, how many bytes of them.
    pub node: Option<(u32, u64, u64)>,
}

impl Engine {
    pub fn data_file(&self) -> Result<DataFile> {
        let (space, page) = (&self.core().space, PAGE_BYTES as u64);
        Ok(DataFile {
            name: DATA_FILE,
            bytes: space.file_pages() * page,
            allocated_bytes: self.core().pool.file().allocated()?,
            free_bytes: space.free_pages() * page,
            initial_bytes: INITIAL_PAGES * page,
            page_bytes: page,
        })
    }

    /// Exactly what a tree has, its long values with it.
    pub fn tree_space(&self, tree: Tree) -> TreeSpace {
        let (used, spare) = self.core().space.pages_of(tree.id);
        TreeSpace { used_bytes: used * PAGE_BYTES as u64, spare_bytes: spare * PAGE_BYTES as u64 }
    }

    /// The pages in memory, in the order in which the clock that evicts will come to them. Takes no latch.
    pub fn buffer_pages(&self) -> impl Iterator<Item = BufferPage> + '_ {
        let pool = &self.core().pool;
        pool.occupied().map(|(frame, page, dirty_since)| BufferPage {
            frame: frame as u64,
            page,
            content: pool.read_resident(page).and_then(|view| {
                let content = content(view.bytes());
                view.validate().then_some(content)
            }),
            dirty_since,
            // Relaxed: a figure to show.
            in_flight: pool.meta(page).in_flight.load(Ordering::Relaxed) != 0,
        })
    }
}

/// From bytes that may change meanwhile.
fn content(bytes: &[u8]) -> PageContent {
    let node = Node(bytes);
    let of_node = node.is_node().then(|| (node.tree(), node.len() as u64, node.used() as u64));
    PageContent { kind: page::page_type(bytes), lsn: page::page_lsn(bytes), node: of_node }
}
