//! Memory of [`PageMeta`]s, which is given back when none of the pages that share it is in memory.
//!
//! A page of the kernel holds the metas of 64 neighbouring pages, a *group*. Each group counts its pages in memory. Who takes the last
//! one away claims all 64 latches, as a loader would, so that nobody else has one or can get one, and gives the memory back: then all
//! are evicted, with version 0. A version that somebody remembers must not come again with other bytes, so the pool keeps a floor above
//! all versions that went, and a page that is loaded begins there.

use super::{PageMeta, Pool};
use crate::page::PageId;
use std::ops::Range;
use std::sync::atomic::Ordering;

use super::table::Table;

/// Pages of a group.
pub(super) const GROUP_PAGES: usize = Table::<PageMeta>::PER_KERNEL_PAGE;

impl Pool {
    /// Claims a page that is not in memory. False: it is, or somebody loads it.
    pub(super) fn claim_for_load(&self, id: PageId) -> bool {
        let latch = &self.meta(id).latch;
        if !latch.try_claim_for_load() {
            return false;
        }
        // Acquire: pairs with the Release in `forget_group`. If the word that we claimed had been zeroed, that was after the floor had been
        // raised: the kernel takes a page from all processors before it returns, and nobody zeroes a word that is claimed.
        latch.raise_version(self.version_floor.load(Ordering::Acquire));
        true
    }

    /// A page comes into memory. By its loader.
    pub(super) fn count_resident(&self, id: PageId) {
        // Relaxed: a number; `forget_group` looks at the latches.
        self.residents[id as usize / GROUP_PAGES].fetch_add(1, Ordering::Relaxed);
    }

    /// Pages leave memory, theirs is given back. By who holds them exclusively, which ends that.
    pub(super) fn let_go(&self, ids: Range<PageId>) {
        self.discard(ids.clone());
        for id in ids {
            self.meta(id).latch.set_evicted();
            let group = id as usize / GROUP_PAGES;
            // Relaxed: as above. A page that somebody loads meanwhile is counted already, or is claimed.
            if self.residents[group].fetch_sub(1, Ordering::Relaxed) == 1 {
                self.forget_group(group);
            }
        }
    }

    /// Gives the metas of a group back if none of its pages is in memory or about to be.
    fn forget_group(&self, group: usize) {
        let pages = group * GROUP_PAGES..(group + 1) * GROUP_PAGES;
        let Some(metas) = self.metas.get(pages.clone()) else { return };
        let claimed = metas.iter().take_while(|meta| meta.latch.try_claim_for_load()).count();
        if claimed < metas.len() {
            metas[..claimed].iter().for_each(|meta| meta.latch.set_evicted());
            return;
        }
        // Relaxed: who ended the write did so before somebody could evict the page.
        debug_assert!(metas.iter().all(|meta| meta.in_flight.load(Ordering::Relaxed) == 0));
        let newest = metas.iter().map(|meta| meta.latch.version()).max().expect("a group has pages");
        self.version_floor.fetch_max(newest + 1, Ordering::Release); // pairs with the Acquire in `claim_for_load`
        // All that others may change of a claimed latch is the waiters bit, and they are woken.
        self.metas.forget(pages);
        metas.iter().for_each(|meta| meta.latch.wake_evicted());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{self, PAGE_BYTES, PageType};
    use io::faults::SimDisk;
    use io::{Directory, OpenOptions};

    const GROUP: u64 = GROUP_PAGES as u64;

    /// A pool over a file in which some pages are whole.
    fn pool(disk: &SimDisk, pages: u64, frames: usize, whole: impl Iterator<Item = PageId>) -> Pool {
        let directory = Directory::open(disk.root()).unwrap();
        let file = directory.open_file("data", OpenOptions::create(sync::waits::Wait::DataFile)).unwrap();
        for id in whole {
            let mut bytes = vec![0; PAGE_BYTES];
            page::init(&mut bytes, id, PageType::Leaf, 1);
            page::seal(&mut bytes);
            file.write_at(&bytes, id * PAGE_BYTES as u64).unwrap();
        }
        Pool::new(file, "data".into(), pages, frames).unwrap()
    }

    #[test]
    fn a_group_that_left_memory_is_given_back_and_its_versions_do_not_return() {
        let disk = SimDisk::mount("/sim/metas", 1);
        let ids = GROUP..2 * GROUP;
        let pool = pool(&disk, 4 * GROUP, 128, ids.clone());
        let read = |id| pool.read(id).unwrap().stamp();
        for _ in 0..10 {
            pool.exclusive(GROUP).unwrap().bytes_mut()[PAGE_BYTES / 2] ^= 1;
        }
        let before: Vec<_> = ids.clone().map(read).collect();
        assert!(before.iter().all(|stamp| stamp.is_current(&pool)));
        let newest = ids.clone().map(|id| pool.meta(id).latch.version()).max().unwrap();
        while pool.residents[1].load(Ordering::Relaxed) > 0 {
            pool.give(&pool.evict(64, 256));
        }
        assert!(ids.clone().all(|id| pool.meta(id).latch.is_evicted() && pool.meta(id).latch.version() == 0));
        let floor = pool.version_floor.load(Ordering::Relaxed);
        assert!(floor > newest);
        for id in ids {
            read(id);
            assert!(pool.meta(id).latch.version() > floor);
        }
        assert!(!before.iter().any(|stamp| stamp.is_current(&pool)));
        disk.unmount();
    }

    #[test]
    fn readers_and_writers_meet_while_groups_come_and_go() {
        let disk = SimDisk::mount("/sim/metas-threads", 1);
        // One page of each group, and fewer frames than groups: each eviction gives a group back.
        let groups = 64;
        let pool = pool(&disk, groups * GROUP, 24, (0..groups).map(|group| group * GROUP + 7));
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let pool = &pool;
                scope.spawn(move || {
                    let mut random = thread;
                    for step in 0..4000 {
                        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        let id = (random >> 33) % groups * GROUP + 7;
                        if step % 4 == 0 {
                            let page = pool.exclusive(id).unwrap();
                            assert_eq!(page::verify(page.bytes(), id), Ok(()));
                        } else {
                            let view = pool.read(id).unwrap();
                            let sound = page::verify(view.bytes(), id);
                            assert!(!view.validate() || sound.is_ok(), "page {id}: {sound:?}");
                        }
                    }
                });
            }
        });
        assert!(pool.version_floor.load(Ordering::Relaxed) > 100, "groups were given back");
        disk.unmount();
    }
}
