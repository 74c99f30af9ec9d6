//! The control file: where recovery starts. Two slots that say the same.
//!
//! ```text
//!   clearway.control:  | slot 0: 64 KiB | slot 1: 64 KiB |
//!   slot:   0 magic "CLRWCTRL" | 8 version u32 | 12 crc32 u32 over 16..72+payload | 16 sequence u64 | 24 log id u64
//!           32 segment data bytes u64 | 40 checkpoint LSN u64 | 48 durable LSN u64 | 56 epoch start LSN u64
//!           64 epoch u32 | 68 payload bytes u32 | 72 payload
//! ```
//!
//! `durable`: all of the log below it was on disk when the slot was written, so recovery must find it whole.
//! `epoch` and `epoch start`: see `format`.
//!
//! ## One bad slot loses nothing
//!
//! A store writes one slot, makes it durable, and only then writes the other; it has succeeded when both are durable. So *what a store that
//! succeeded said stands in both slots until the next store begins*, and whichever slot then turns out bad, the other holds either that or
//! something newer. Falling back to a checkpoint or an epoch from before would be silent loss: groups of the last epoch would count as
//! leftovers. A slot torn by a power cut belongs to a store that had not succeeded, and nobody has acted upon it.
//!
//! A store begins with the slot that was not written last, so that a slot which a failed store left torn is never all there is.

use io::{Directory, File, OpenOptions};

use crate::format::{VERSION, u32_at, u64_at};
use crate::{Error, Lsn, Result};

pub const FILE_NAME: &str = "clearway.control";
const NEW_NAME: &str = "clearway.control.new";
const MAGIC: &[u8; 8] = b"CLRWCTRL";
const SLOT_BYTES: usize = 64 << 10;
const PAYLOAD_AT: usize = 72;
/// The engine's state in a checkpoint, at most.
pub const PAYLOAD_BYTES_MAX: usize = SLOT_BYTES - PAYLOAD_AT;

/// One slot's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    pub sequence: u64,
    pub log_id: u64,
    pub segment_data_bytes: u64,
    pub checkpoint: Lsn,
    pub durable: Lsn,
    pub epoch_start: Lsn,
    pub epoch: u32,
    pub payload: Vec<u8>,
}

impl Control {
    fn encode(&self) -> Vec<u8> {
        assert!(self.payload.len() <= PAYLOAD_BYTES_MAX, "a checkpoint payload of {} bytes", self.payload.len());
        assert!(self.checkpoint <= self.durable, "a checkpoint above what is durable");
        let mut bytes = vec![0; (PAYLOAD_AT + self.payload.len()).next_multiple_of(4096)];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        let words =
            [self.sequence, self.log_id, self.segment_data_bytes, self.checkpoint, self.durable, self.epoch_start];
        for (i, word) in words.into_iter().enumerate() {
            bytes[16 + 8 * i..24 + 8 * i].copy_from_slice(&word.to_le_bytes());
        }
        bytes[64..68].copy_from_slice(&self.epoch.to_le_bytes());
        bytes[68..72].copy_from_slice(&(self.payload.len() as u32).to_le_bytes());
        bytes[PAYLOAD_AT..PAYLOAD_AT + self.payload.len()].copy_from_slice(&self.payload);
        let crc = crc32fast::hash(&bytes[16..PAYLOAD_AT + self.payload.len()]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// A whole file that says this.
    pub fn file_bytes(&self) -> Vec<u8> {
        let mut slot = Control { sequence: 1, ..self.clone() }.encode();
        slot.resize(SLOT_BYTES, 0);
        slot.repeat(2)
    }

    fn decode(bytes: &[u8]) -> std::result::Result<Control, &'static str> {
        if bytes[..8] != MAGIC[..] {
            return Err("not a control slot");
        }
        let payload_bytes = u32_at(bytes, 68) as usize;
        if payload_bytes > PAYLOAD_BYTES_MAX
            || crc32fast::hash(&bytes[16..PAYLOAD_AT + payload_bytes]) != u32_at(bytes, 12)
        {
            return Err("checksum mismatch");
        }
        if u32_at(bytes, 8) != VERSION {
            return Err("unknown format version");
        }
        Ok(Control {
            sequence: u64_at(bytes, 16),
            log_id: u64_at(bytes, 24),
            segment_data_bytes: u64_at(bytes, 32),
            checkpoint: u64_at(bytes, 40),
            durable: u64_at(bytes, 48),
            epoch_start: u64_at(bytes, 56),
            epoch: u32_at(bytes, 64),
            payload: bytes[PAYLOAD_AT..PAYLOAD_AT + payload_bytes].to_vec(),
        })
    }
}

/// The open file and what it says.
pub struct ControlFile {
    file: File,
    pub now: Control,
    /// The slot to be written first: the other one is whole.
    next: usize,
}

impl ControlFile {
    /// Makes the file, with `first` in it. It appears under its name only when it is whole.
    pub fn create(directory: &Directory, first: Control) -> Result<ControlFile> {
        let options = OpenOptions { truncate: true, ..OpenOptions::create(sync::waits::Wait::LogFile) };
        let file = directory.open_file(NEW_NAME, options)?;
        file.write_at(&vec![0; 2 * SLOT_BYTES], 0)?;
        let mut control = ControlFile { file, now: first.clone(), next: 0 };
        control.store(first)?;
        directory.rename(NEW_NAME, FILE_NAME)?;
        Ok(control)
    }

    /// What each slot says, or why it says nothing. Reads only.
    pub fn read(directory: &Directory) -> Result<[std::result::Result<Control, String>; 2]> {
        let file = directory.open_file(FILE_NAME, OpenOptions::read(sync::waits::Wait::LogFile))?;
        Ok([0, 1].map(|slot| read_slot(&file, slot)))
    }

    /// Opens the file. `Corrupt` when no slot is whole.
    pub fn open(directory: &Directory) -> Result<ControlFile> {
        let file = directory.open_file(FILE_NAME, OpenOptions::write(sync::waits::Wait::LogFile))?;
        let slots = [0, 1].map(|slot| read_slot(&file, slot));
        let whole = slots.iter().enumerate().filter_map(|(slot, read)| Some((slot, read.as_ref().ok()?)));
        let Some((newest, now)) = whole.max_by_key(|(_, control)| control.sequence) else {
            let why = slots.map(|slot| slot.expect_err("none is whole")).join("; ");
            return Err(Error::Corrupt { file: directory.join(FILE_NAME), offset: 0, lsn: 0, why });
        };
        let control = ControlFile { now: now.clone(), next: newest, file };
        // It may be in the kernel's cache only (see `recovery::harden`). The bytes are the same, so a torn write does no harm.
        control.write(newest, &control.now.encode())?;
        Ok(ControlFile { next: 1 - newest, ..control })
    }

    /// Durably replaces both slots. `control.sequence` is set here. After an error the file says either what it said before or this.
    pub fn store(&mut self, mut control: Control) -> Result<()> {
        // Counted also when it fails: the next attempt is newer than what this one may leave.
        self.now.sequence += 1;
        control.sequence = self.now.sequence;
        let bytes = control.encode();
        for _ in 0..2 {
            self.write(self.next, &bytes)?;
            self.next = 1 - self.next;
        }
        self.now = control;
        Ok(())
    }

    fn write(&self, slot: usize, bytes: &[u8]) -> Result<()> {
        self.file.write_at(bytes, (slot * SLOT_BYTES) as u64)?;
        Ok(self.file.sync_data()?)
    }
}

/// What a slot says, or why it says nothing.
fn read_slot(file: &File, slot: usize) -> std::result::Result<Control, String> {
    let mut bytes = vec![0; SLOT_BYTES];
    let read = file.read_at(&mut bytes, (slot * SLOT_BYTES) as u64).map_err(|error| error.to_string());
    read.and_then(|()| Control::decode(&bytes).map_err(str::to_owned)).map_err(|why| format!("slot {slot}: {why}"))
}
