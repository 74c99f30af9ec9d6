//! The doublewrite file: pages go there first, and are durable there before they overwrite their old copies. A page torn by a
//! crash in the data file is whole here. Two halves take turns, so that one is written while the other's pages go to their places:
//!
//! ```text
//!  half 0                                        half 1
//!  +--------+--------+--------+-----+----------+--------+--------+-----
//!  | header | page 0 | page 1 | ... | page 127 | header | page 0 | ...
//!  +--------+--------+--------+-----+----------+--------+--------+-----
//!
//!  header, 16 KiB
//!  0        8           12        16
//!  +--------+-----------+---------+--------------------------+
//!  | magic  | crc32     | count   | page id u64 x count      |     crc32 covers the bytes 12..16384
//!  +--------+-----------+---------+--------------------------+
//! ```

use crate::page::{self, PAGE_BYTES, PageId, get_u32, get_u64, page_lsn, put_u32, put_u64};
use crate::{Error, Result};
use io::{AlignedBuf, Directory, ErrorKind, File, OpenOptions};
use log::Lsn;
use std::collections::BTreeMap;

pub const FILE_NAME: &str = "clearway.doublewrite";
/// Pages of one batch.
pub const BATCH_PAGES: usize = 128;
/// Batches that may be under way at once.
pub const HALVES: usize = 2;
const HALF_BYTES: u64 = ((1 + BATCH_PAGES) * PAGE_BYTES) as u64;
const MAGIC: &[u8; 8] = b"CWDBLWR2";
/// What the magic of any version begins with.
const FAMILY: &[u8] = MAGIC.split_at(7).0;
const IDS_AT: usize = 16;
const _: () = assert!(IDS_AT + BATCH_PAGES * 8 <= PAGE_BYTES);

pub struct Doublewrite {
    file: File,
}

impl Doublewrite {
    pub fn open(directory: &Directory, direct: bool) -> Result<Doublewrite> {
        let file =
            directory.open_file(FILE_NAME, OpenOptions::create(sync::waits::Wait::DoublewriteFile).direct(direct))?;
        let bytes = HALVES as u64 * HALF_BYTES;
        if file.len()? < bytes {
            file.allocate(0, bytes)?;
            directory.sync()?;
        }
        Ok(Doublewrite { file })
    }

    /// Makes a batch durable in a half whose former batch is in the data file. `batch` is one page for the header, then the
    /// sealed pages.
    pub fn write(&self, half: usize, batch: &mut [u8], ids: &[PageId]) -> Result<()> {
        let (header, pages) = batch.split_at_mut(PAGE_BYTES);
        assert!(half < HALVES && ids.len() <= BATCH_PAGES && pages.len() >= ids.len() * PAGE_BYTES);
        header.fill(0);
        header[..8].copy_from_slice(MAGIC);
        put_u32(header, 12, ids.len() as u32);
        for (i, id) in ids.iter().enumerate() {
            put_u64(header, IDS_AT + i * 8, *id);
        }
        let crc = crc32fast::hash(&header[12..]);
        put_u32(header, 8, crc);
        self.file.write_at(&batch[..(1 + ids.len()) * PAGE_BYTES], half as u64 * HALF_BYTES)?;
        self.file.sync_data()?;
        Ok(())
    }

    /// Empties the file: from now on pages are written without it, and its copies grow old.
    pub fn forget(&self) -> Result<()> {
        let zeroes = AlignedBuf::zeroed(PAGE_BYTES);
        for half in 0..HALVES as u64 {
            self.file.write_at(&zeroes, half * HALF_BYTES)?;
        }
        Ok(self.file.sync_data()?)
    }

    /// Zeros in place of all copies.
    pub fn overwrite(&self) -> Result<()> {
        let zeroes = AlignedBuf::zeroed((1 + BATCH_PAGES) * PAGE_BYTES);
        for half in 0..HALVES as u64 {
            self.file.write_at(&zeroes, half * HALF_BYTES)?;
        }
        Ok(self.file.sync_data()?)
    }

    /// After a crash: puts whole copies over pages of the last two batches that are torn in the data file. Returns their ids.
    ///
    /// The halves take turns strictly, so for each page in either the newer copy is the last that was sent to the data file.
    ///
    /// Pages that are whole are written once more: when the sync of a batch failed and the server died before it repeated the
    /// batch, the kernel holds pages that it takes for clean and that never reached the device. Redo would find nothing to do there, and
    /// a power cut after the next checkpoint would lose them. All pages of which that may be so are in the halves.
    pub fn restore(&self, data: &File) -> Result<Vec<PageId>> {
        let mut buffer = AlignedBuf::zeroed(PAGE_BYTES);
        // By page: the newest copy's LSN and place.
        let mut copies: BTreeMap<PageId, (Lsn, u64)> = BTreeMap::new();
        for half in 0..HALVES as u64 {
            for (i, id) in self.ids(half * HALF_BYTES, &mut buffer)?.into_iter().enumerate() {
                let at = half * HALF_BYTES + ((1 + i) * PAGE_BYTES) as u64;
                self.file.read_at(&mut buffer, at)?;
                if page::verify(&buffer, id).is_err() {
                    continue; // the batch's own write was cut short: nothing of it has gone to the data file
                }
                let found = (page_lsn(&buffer), at);
                copies.entry(id).and_modify(|newest| *newest = found.max(*newest)).or_insert(found);
            }
        }
        let mut restored = Vec::new();
        for (id, (_, copy_at)) in copies {
            let at = id * PAGE_BYTES as u64;
            let got = match data.read_up_to(&mut buffer, at) {
                // What cannot be read here is as good as torn.
                Err(error) if error.kind() == ErrorKind::Device => 0,
                got => got?,
            };
            if got == PAGE_BYTES && buffer.iter().all(|byte| *byte == 0) {
                // Never written, and then redo has its image; or given back to the file system since, where the disk may be full.
                continue;
            }
            if got < PAGE_BYTES || page::verify(&buffer, id).is_err() {
                self.file.read_at(&mut buffer, copy_at)?;
                restored.push(id);
            }
            data.write_at(&buffer, at)?;
        }
        data.sync_data()?;
        Ok(restored)
    }

    /// The pages of the batch at `at`; none if there is no whole header.
    fn ids(&self, at: u64, header: &mut AlignedBuf) -> Result<Vec<PageId>> {
        let whole = self.file.read_up_to(header, at)? == PAGE_BYTES;
        if !whole || crc32fast::hash(&header[12..]) != get_u32(header, 8) || !header.starts_with(FAMILY) {
            // Never written, or torn itself: then no page of the batch had gone to its place yet.
            return Ok(Vec::new());
        }
        if !header.starts_with(MAGIC) {
            let name = self.file.path().display();
            return Err(Error::Corrupt(format!(
                "{name} is of another version of this server, which must be used first"
            )));
        }
        let count = (get_u32(header, 12) as usize).min(BATCH_PAGES);
        Ok((0..count).map(|i| get_u64(header, IDS_AT + i * 8)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{OFF_LSN, PageType};
    use io::Op;
    use io::faults::{Action, Rule, Script, SimDisk};

    fn sealed(id: PageId, lsn: Lsn) -> Vec<u8> {
        let mut bytes = vec![0; PAGE_BYTES];
        page::init(&mut bytes, id, PageType::Leaf, 1);
        put_u64(&mut bytes, OFF_LSN, lsn);
        page::seal(&mut bytes);
        bytes
    }

    fn write(doublewrite: &Doublewrite, half: usize, pages: &[(PageId, Lsn)]) {
        let mut batch = AlignedBuf::zeroed((1 + BATCH_PAGES) * PAGE_BYTES);
        for (i, (id, lsn)) in pages.iter().enumerate() {
            batch[(1 + i) * PAGE_BYTES..][..PAGE_BYTES].copy_from_slice(&sealed(*id, *lsn));
        }
        let ids: Vec<PageId> = pages.iter().map(|(id, _)| *id).collect();
        doublewrite.write(half, &mut batch, &ids).unwrap();
    }

    #[test]
    fn torn_pages_of_both_halves_come_back_in_their_newest_copy() {
        let disk = SimDisk::mount("/sim/doublewrite-halves", 1);
        let directory = Directory::open(disk.root()).unwrap();
        let data = directory.open_file("data", OpenOptions::create(sync::waits::Wait::DoublewriteFile)).unwrap();
        let doublewrite = Doublewrite::open(&directory, false).unwrap();
        for (id, lsn) in [(0, 50), (1, 60), (2, 70), (3, 80)] {
            data.write_at(&sealed(id, lsn), id * PAGE_BYTES as u64).unwrap();
        }
        // Page 1 is in both: whichever half is the newer one, its newer copy counts.
        for (older, newer) in [(0, 1), (1, 0)] {
            write(&doublewrite, older, &[(1, 100), (2, 110)]);
            write(&doublewrite, newer, &[(3, 120), (1, 200)]);
            for id in [1u64, 2, 3] {
                data.write_at(&[7; 512], id * PAGE_BYTES as u64 + 4096).unwrap();
            }
            assert_eq!(doublewrite.restore(&data).unwrap(), [1, 2, 3]);
            let mut bytes = vec![0; PAGE_BYTES];
            for (id, lsn) in [(0, 50), (1, 200), (2, 110), (3, 120)] {
                data.read_at(&mut bytes, id * PAGE_BYTES as u64).unwrap();
                assert!(bytes == sealed(id, lsn), "page {id}");
            }
        }
        doublewrite.forget().unwrap();
        data.write_at(&[7; 512], 2 * PAGE_BYTES as u64).unwrap();
        assert_eq!(doublewrite.restore(&data).unwrap(), [0u64; 0], "copies that have grown old are not used");
        disk.unmount();
    }

    /// A batch was written, its sync failed, and the process died: what the start finds in the kernel's memory is durable afterwards.
    #[test]
    fn pages_whose_sync_failed_are_written_again() {
        let disk = SimDisk::mount("/sim/doublewrite-sync", 1);
        let directory = Directory::open(disk.root()).unwrap();
        let data = directory.open_file("data", OpenOptions::create(sync::waits::Wait::DoublewriteFile)).unwrap();
        let doublewrite = Doublewrite::open(&directory, false).unwrap();
        data.write_at(&sealed(1, 50), PAGE_BYTES as u64).unwrap();
        data.sync_all().unwrap();
        directory.sync().unwrap();
        write(&doublewrite, 0, &[(1, 100)]);
        data.write_at(&sealed(1, 100), PAGE_BYTES as u64).unwrap();
        let mut script = Script::default();
        script.push(Rule::new(Action::FailOnce, Some(Op::Sync), 1).within("data"));
        disk.set_script(script);
        data.sync_data().unwrap_err();
        assert_eq!(doublewrite.restore(&data).unwrap(), [0u64; 0]);
        doublewrite.forget().unwrap();
        disk.crash();
        disk.reboot();
        let data = Directory::open(disk.root())
            .unwrap()
            .open_file("data", OpenOptions::write(sync::waits::Wait::DoublewriteFile))
            .unwrap();
        let mut bytes = vec![0; PAGE_BYTES];
        data.read_at(&mut bytes, PAGE_BYTES as u64).unwrap();
        assert!(bytes == sealed(1, 100));
        disk.unmount();
    }

    #[test]
    fn a_page_whose_blocks_went_back_takes_no_room_again() {
        let disk = SimDisk::mount("/sim/doublewrite-hole", 1);
        let directory = Directory::open(disk.root()).unwrap();
        let data = directory.open_file("data", OpenOptions::create(sync::waits::Wait::DoublewriteFile)).unwrap();
        let doublewrite = Doublewrite::open(&directory, false).unwrap();
        for id in 0..4 {
            data.write_at(&sealed(id, 50), id * PAGE_BYTES as u64).unwrap();
        }
        write(&doublewrite, 0, &[(1, 100), (2, 110)]);
        data.punch(2 * PAGE_BYTES as u64, PAGE_BYTES as u64).unwrap();
        data.write_at(&[7; 512], PAGE_BYTES as u64 + 4096).unwrap();
        disk.set_room(Some(0));
        assert_eq!(doublewrite.restore(&data).unwrap(), [1]);
        disk.unmount();
    }

    #[test]
    fn the_file_of_another_version_is_refused() {
        let disk = SimDisk::mount("/sim/doublewrite-version", 1);
        let directory = Directory::open(disk.root()).unwrap();
        let doublewrite = Doublewrite::open(&directory, false).unwrap();
        write(&doublewrite, 0, &[(1, 100)]);
        doublewrite.file.write_at(b"CWDBLWR1", 0).unwrap();
        let refused = doublewrite
            .restore(&directory.open_file("data", OpenOptions::create(sync::waits::Wait::DoublewriteFile)).unwrap());
        assert!(matches!(&refused, Err(Error::Corrupt(what)) if what.contains("another version")), "{refused:?}");
        disk.unmount();
    }
}
