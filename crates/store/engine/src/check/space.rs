//! The bitmaps against the pages that were reached.

use super::{Checker, Reached};
use crate::page::node::Node;
use crate::page::{self, PageId, PageType};
use crate::space::{self, GROUP_PAGES, bitmap_page};
use std::collections::BTreeMap;

impl Checker<'_> {
    pub(super) fn space(&mut self) {
        let pages = self.reached.len() as u64;
        // By what they are and whose: how many, and the first.
        let mut lost: BTreeMap<(String, Option<u32>), (u64, PageId)> = BTreeMap::new();
        for group in 0..pages.div_ceil(GROUP_PAGES) {
            let first = group * GROUP_PAGES;
            if bitmap_page(group) >= pages {
                break;
            }
            let Some(bitmap) = self.reach(bitmap_page(group), PageType::Bitmap, Reached::Bitmap) else { continue };
            for id in first..first + GROUP_PAGES {
                let allocated = space::is_allocated(&bitmap, id);
                if id >= pages {
                    if allocated {
                        self.say(Some(id), None, "it is allocated, and past the end of the file");
                    }
                    continue;
                }
                self.report.pages_allocated += allocated as u64;
                match (allocated, self.reached[id as usize]) {
                    (true, None) => self.unreached(id, &mut lost),
                    (false, Some(how)) => self.say(Some(id), None, format!("it is {how}, and free by the bitmap")),
                    _ => {}
                }
            }
        }
        for ((what, tree), (count, first)) in lost {
            self.say(
                Some(first),
                tree,
                format!("nothing leads to {count} allocated pages of type {what}, this the first"),
            );
        }
    }

    fn unreached(&mut self, id: PageId, lost: &mut BTreeMap<(String, Option<u32>), (u64, PageId)>) {
        let Some(page) = self.page(id) else { return };
        let kind = page::page_type(&page);
        if let Some(kind @ (PageType::Overflow | PageType::Undo | PageType::UndoSegment)) = kind {
            self.report.leaked.push((id, kind));
            return;
        }
        let what = kind.map_or_else(|| page[page::OFF_TYPE].to_string(), |kind| format!("{kind:?}"));
        let tree = Node(&page).is_node().then(|| Node(&page).tree());
        lost.entry((what, tree)).or_insert((0, id)).0 += 1;
    }
}
