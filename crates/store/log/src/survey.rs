//! The log of a server that does not run, for people who look for a fault: what both control slots say, and one group after the
//! other from a place in the log on. Nothing is written, and nothing is believed: a group is shown with what its header says, and the
//! walk ends where a start would end it.

use io::Directory;
use std::path::Path;

use crate::control::{Control, ControlFile};
use crate::format::{block_floor, group_bytes};
use crate::recovery::{Epochs, Reader};
use crate::segment::Segments;
use crate::{Error, Lsn, Result};

/// A log opened for reading.
pub struct Survey {
    slots: [std::result::Result<Control, String>; 2],
    now: Control,
    segments_end: Lsn,
    reader: Reader,
    next: Lsn,
}

/// One step of a survey.
#[derive(Debug, PartialEq, Eq)]
pub enum Step<'s> {
    /// `payload`: what the group says, if it is not sealed.
    Group { start: Lsn, end: Lsn, epoch: u32, payload_bytes: usize, payload: Option<&'s [u8]> },
    /// No valid group starts at `lsn`, and why.
    End { lsn: Lsn, why: &'static str },
}

impl Survey {
    /// Opens the log in `directory` and stands at its checkpoint.
    ///
    /// Errors: `Corrupt` when neither control slot is whole or a segment from the checkpoint on is missing; `Io`.
    pub fn open(directory: &Path) -> Result<Survey> {
        let home = Directory::open(directory)?;
        let slots = ControlFile::read(&home)?;
        let newest = slots.iter().flatten().max_by_key(|control| control.sequence);
        let Some(now) = newest.cloned() else {
            let why = slots.map(|slot| slot.expect_err("none is whole")).join("; ");
            return Err(Error::Corrupt { file: home.join(crate::control::FILE_NAME), offset: 0, lsn: 0, why });
        };
        let (_, stretch) = Segments::open(home, now.log_id, now.segment_data_bytes, now.checkpoint, Lsn::MAX)?;
        let segments_end = stretch.end();
        let reader = Reader::new(stretch, Epochs::of(&now));
        Ok(Survey { slots, next: now.checkpoint, now, segments_end, reader })
    }

    /// Where recovery would begin.
    pub fn checkpoint(&self) -> Lsn {
        self.now.checkpoint
    }

    /// Lines about the control file and the segments.
    pub fn head(&self) -> Vec<String> {
        let slot = |slot: &std::result::Result<Control, String>| match slot {
            Ok(c) => format!(
                "sequence {}, log id {:016x}, checkpoint {}, durable {}, epoch {} from {}, payload of {} bytes",
                c.sequence,
                c.log_id,
                c.checkpoint,
                c.durable,
                c.epoch,
                c.epoch_start,
                c.payload.len()
            ),
            Err(why) => format!("damaged: {why}"),
        };
        let mut lines: Vec<String> =
            self.slots.iter().enumerate().map(|(i, one)| format!("control slot {i}: {}", slot(one))).collect();
        let (first, bytes) = (block_floor(self.now.checkpoint), self.now.segment_data_bytes);
        let (from, to) = (first / bytes, self.segments_end / bytes - 1);
        lines.push(format!(
            "segments {from} to {to}, {bytes} bytes of the stream each, up to LSN {}",
            self.segments_end
        ));
        lines
    }

    /// Goes on at `lsn`, at or above the checkpoint; if no group starts there the next step is the end.
    pub fn seek(&mut self, lsn: Lsn) {
        self.next = lsn.max(self.now.checkpoint);
    }

    /// The next group, or the end of what is valid. Errors: `Io`.
    pub fn step(&mut self) -> Result<Step<'_>> {
        let start = self.next;
        if !start.is_multiple_of(8) {
            return Ok(Step::End { lsn: start, why: "groups start at multiples of 8" });
        }
        let header = match self.reader.check(start)? {
            Ok(header) => header,
            Err(why) => return Ok(Step::End { lsn: start, why }),
        };
        let payload_bytes = header.payload_bytes as usize;
        let end = start + group_bytes(payload_bytes);
        self.next = end;
        let bytes = self.reader.bytes(start, (end - start) as usize)?.expect("just checked");
        let payload = &bytes[crate::format::GROUP_HEADER..][..payload_bytes];
        Ok(Step::Group { start, end, epoch: header.epoch, payload_bytes, payload: (!header.sealed).then_some(payload) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Log, Options};

    #[test]
    fn groups_come_as_they_were_appended_and_the_end_says_why() {
        let home = std::env::temp_dir().join(format!("clearway-survey-{}", std::process::id()));
        let options = || Options { segment_bytes: Some(1 << 20), ring_bytes: 64 << 10, ..Options::default() };
        let (log, _) = Log::open(&home, options()).expect("a new log");
        let ends: Vec<Lsn> = [&b"one"[..], b"two and more"].map(|text| log.append(&[text]).expect("room").end).into();
        log.wait_flushed(ends[1]).expect("flushed");
        drop(log);
        let mut survey = Survey::open(&home).expect("a log");
        assert!(survey.head()[0].contains("checkpoint 4096") && survey.head().len() == 3, "{:?}", survey.head());
        for (text, end) in [(&b"one"[..], ends[0]), (b"two and more", ends[1])] {
            let Step::Group { end: found, payload, .. } = survey.step().expect("readable") else { panic!("a group") };
            assert_eq!((found, payload), (end, Some(text)));
        }
        assert_eq!(survey.step().expect("readable"), Step::End { lsn: ends[1], why: "no group starts here" });
        survey.seek(ends[0]);
        assert!(matches!(survey.step().expect("readable"), Step::Group { start, .. } if start == ends[0]));
        std::fs::remove_dir_all(&home).expect("removed");
    }
}
