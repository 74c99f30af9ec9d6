//! The doublewrite file: pages go there first, and are durable there before they overwrite their old copies. A page torn by a
//! crash in the data file is whole here.
//!
//! ```text
//!  0        8           12        16                         16384
//!  +--------+-----------+---------+--------------------------+--------+--------+-----
//!  | magic  | crc32     | count   | page id u64 x count      | page 0 | page 1 | ...
//!  +--------+-----------+---------+--------------------------+--------+--------+-----
//!  crc32 covers the bytes 12..16384
//! ```

use crate::Result;
use crate::page::{self, PAGE_BYTES, PageId, get_u32, get_u64, put_u32, put_u64};
use io::{AlignedBuf, Directory, File, OpenOptions};

pub const FILE_NAME: &str = "clearway.doublewrite";
/// Pages of one batch.
pub const BATCH_PAGES: usize = 128;
const MAGIC: &[u8; 8] = b"CWDBLWR1";
const IDS_AT: usize = 16;
const _: () = assert!(IDS_AT + BATCH_PAGES * 8 <= PAGE_BYTES);

pub struct Doublewrite {
    file: File,
}

impl Doublewrite {
    pub fn open(directory: &Directory, direct: bool) -> Result<Doublewrite> {
        let file = directory.open_file(FILE_NAME, OpenOptions::CREATE.direct(direct))?;
        let bytes = ((1 + BATCH_PAGES) * PAGE_BYTES) as u64;
        if file.len()? < bytes {
            file.allocate(0, bytes)?;
            directory.sync()?;
        }
        Ok(Doublewrite { file })
    }

    /// Makes a batch durable. `batch` is one page for the header, then the sealed pages.
    pub fn write(&self, batch: &mut [u8], ids: &[PageId]) -> Result<()> {
        let (header, pages) = batch.split_at_mut(PAGE_BYTES);
        assert!(ids.len() <= BATCH_PAGES && pages.len() >= ids.len() * PAGE_BYTES);
        header.fill(0);
        header[..8].copy_from_slice(MAGIC);
        put_u32(header, 12, ids.len() as u32);
        for (i, id) in ids.iter().enumerate() {
            put_u64(header, IDS_AT + i * 8, *id);
        }
        let crc = crc32fast::hash(&header[12..]);
        put_u32(header, 8, crc);
        self.file.write_at(&batch[..(1 + ids.len()) * PAGE_BYTES], 0)?;
        self.file.sync_data()?;
        Ok(())
    }

    /// Empties the file: from now on pages are written without it, and its copies grow old.
    pub fn forget(&self) -> Result<()> {
        self.file.write_at(&AlignedBuf::zeroed(PAGE_BYTES), 0)?;
        Ok(self.file.sync_data()?)
    }

    /// After a crash: puts whole copies over pages of the last batch that are torn in the data file. Returns their ids.
    pub fn restore(&self, data: &File) -> Result<Vec<PageId>> {
        let mut header = AlignedBuf::zeroed(PAGE_BYTES);
        if self.file.read_up_to(&mut header, 0)? < PAGE_BYTES
            || &header[..8] != MAGIC
            || crc32fast::hash(&header[12..]) != get_u32(&header, 8)
        {
            // Never written, or torn itself: then no page of the batch had gone to its place yet.
            return Ok(Vec::new());
        }
        let (mut copy, mut page) = (AlignedBuf::zeroed(PAGE_BYTES), AlignedBuf::zeroed(PAGE_BYTES));
        let mut restored = Vec::new();
        for i in 0..(get_u32(&header, 12) as usize).min(BATCH_PAGES) {
            let id = get_u64(&header, IDS_AT + i * 8);
            let at = id * PAGE_BYTES as u64;
            self.file.read_at(&mut copy, ((1 + i) * PAGE_BYTES) as u64)?;
            if page::verify(&copy, id).is_err() {
                continue; // the batch's own write was cut short: the data file is untouched
            }
            let got = data.read_up_to(&mut page, at)?;
            if got < PAGE_BYTES || page::verify(&page, id).is_err() {
                data.write_at(&copy, at)?;
                restored.push(id);
            }
        }
        data.sync_data()?;
        Ok(restored)
    }
}
