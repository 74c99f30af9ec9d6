//! Global transaction identifiers and sets of them, as MySQL writes, prints and encodes them.
//!
//! ```text
//!   text      uuid:1-5:7, uuid:3            intervals with both ends in them, UUIDs in order
//!   encoded   UUIDs u64 | { UUID 16 bytes | intervals u64 | { first u64 | behind the last u64 } }
//! ```

use std::collections::BTreeMap;
use std::fmt;

/// A source's identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub [u8; 16]);

impl Uuid {
    /// 32 hexadecimal digits, with dashes between the groups of a UUID or without any.
    pub fn parse(text: &str) -> Option<Uuid> {
        let text = text.trim();
        let text = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(text);
        let digits: Vec<u8> = match text.len() {
            36 => {
                if [8, 13, 18, 23].iter().any(|at| text.as_bytes()[*at] != b'-') {
                    return None;
                }
                text.bytes().filter(|b| *b != b'-').collect()
            }
            32 => text.bytes().collect(),
            _ => return None,
        };
        if digits.len() != 32 {
            return None;
        }
        let mut uuid = [0; 16];
        for (byte, pair) in uuid.iter_mut().zip(digits.chunks(2)) {
            let digit = |b: u8| (b as char).to_digit(16);
            *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
        }
        Some(Uuid(uuid))
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

/// A transaction's number, as `gtid_next` names it: `uuid:7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gtid {
    pub uuid: Uuid,
    pub number: u64,
}

impl Gtid {
    /// `None`: it is not one UUID with one number.
    pub fn parse(text: &str) -> Option<Gtid> {
        let (uuid, number) = text.split_once(':')?;
        let number = number.trim();
        let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        let number = number.parse().ok().filter(|n| digits && (1..=NUMBER_MAX).contains(n))?;
        Some(Gtid { uuid: Uuid::parse(uuid)?, number })
    }
}

impl fmt::Display for Gtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.uuid, self.number)
    }
}

/// The greatest number of a transaction.
pub const NUMBER_MAX: u64 = i64::MAX as u64 - 1;

/// A set of GTIDs: for each source, intervals `first..end` in order that do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GtidSet(BTreeMap<Uuid, Vec<(u64, u64)>>);

impl GtidSet {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Is any number of this source in it?
    pub fn has_source(&self, uuid: Uuid) -> bool {
        self.0.contains_key(&uuid)
    }

    pub fn contains(&self, uuid: Uuid, number: u64) -> bool {
        let intervals = self.0.get(&uuid).map_or(&[][..], |i| i);
        let behind = intervals.partition_point(|(_, end)| *end <= number);
        intervals.get(behind).is_some_and(|(first, _)| *first <= number)
    }

    pub fn add(&mut self, uuid: Uuid, number: u64) {
        self.add_interval(uuid, number, number + 1);
    }

    /// Adds `first..end`.
    fn add_interval(&mut self, uuid: Uuid, first: u64, end: u64) {
        let intervals = self.0.entry(uuid).or_default();
        // Most of the time it goes on where the last one ends.
        if let Some(last) = intervals.last_mut()
            && last.1 == first
        {
            last.1 = end;
            return;
        }
        let from = intervals.partition_point(|(_, e)| *e < first);
        let to = intervals.partition_point(|(f, _)| *f <= end);
        let merged = intervals[from..to].iter().fold((first, end), |(f, e), i| (f.min(i.0), e.max(i.1)));
        intervals.splice(from..to, [merged]);
    }

    pub fn union(&mut self, other: &GtidSet) {
        for (uuid, intervals) in &other.0 {
            for (first, end) in intervals {
                self.add_interval(*uuid, *first, *end);
            }
        }
    }

    pub fn subtract(&mut self, other: &GtidSet) {
        for (uuid, gone) in &other.0 {
            let Some(intervals) = self.0.get_mut(uuid) else { continue };
            for (first, end) in gone {
                let mut left = Vec::with_capacity(intervals.len() + 1);
                for (f, e) in intervals.iter().copied() {
                    left.extend([(f, e.min(*first)), (f.max(*end), e)].into_iter().filter(|(f, e)| f < e));
                }
                *intervals = left;
            }
            if intervals.is_empty() {
                self.0.remove(uuid);
            }
        }
    }

    pub fn is_subset_of(&self, other: &GtidSet) -> bool {
        let within = |uuid: &Uuid, first: &u64, end: &u64| {
            let intervals = other.0.get(uuid).map_or(&[][..], |i| i);
            intervals.iter().any(|(f, e)| f <= first && end <= e)
        };
        self.0.iter().all(|(uuid, intervals)| intervals.iter().all(|(first, end)| within(uuid, first, end)))
    }

    pub fn intersects(&self, other: &GtidSet) -> bool {
        let mut left = self.clone();
        left.subtract(other);
        left != *self
    }

    /// The lowest number of a source that is not in it; `None`: all are used up.
    pub fn next_free(&self, uuid: Uuid) -> Option<u64> {
        let first = self.0.get(&uuid).and_then(|i| i.first());
        let free = first.filter(|(first, _)| *first == 1).map_or(1, |(_, end)| *end);
        (free <= NUMBER_MAX).then_some(free)
    }

    /// Reads MySQL's text; blanks go for nothing. `None`: it is no set.
    pub fn parse(text: &str) -> Option<GtidSet> {
        let mut set = GtidSet::default();
        for part in text.split(',') {
            let part = part.trim();
            if part.is_empty() {
                continue;
            }
            let mut words = part.split(':').map(str::trim);
            let uuid = Uuid::parse(words.next()?)?;
            let mut any = false;
            for interval in words {
                any = true;
                let (first, last) = interval.split_once('-').unwrap_or((interval, interval));
                let number = |word: &str| word.trim().parse::<u64>().ok().filter(|n| *n <= NUMBER_MAX);
                let (first, last) = (number(first)?, number(last)?);
                if first == 0 {
                    return None;
                }
                // MySQL takes an interval that ends before it begins for an empty one.
                if first <= last {
                    set.add_interval(uuid, first, last + 1);
                }
            }
            if !any {
                return None;
            }
        }
        Some(set)
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = (self.0.len() as u64).to_le_bytes().to_vec();
        for (uuid, intervals) in &self.0 {
            out.extend_from_slice(&uuid.0);
            out.extend_from_slice(&(intervals.len() as u64).to_le_bytes());
            for (first, end) in intervals {
                out.extend_from_slice(&first.to_le_bytes());
                out.extend_from_slice(&end.to_le_bytes());
            }
        }
        out
    }

    /// `None`: it is not what [`GtidSet::encode`] or a replica writes.
    pub fn decode(bytes: &[u8]) -> Option<GtidSet> {
        let mut rest = bytes;
        let mut take = |n: usize| {
            let (first, second) = rest.split_at_checked(n)?;
            rest = second;
            Some(first)
        };
        let word = |b: &[u8]| u64::from_le_bytes(b.try_into().expect("eight bytes"));
        let mut set = GtidSet::default();
        let sources = word(take(8)?);
        for _ in 0..sources {
            let uuid = Uuid(take(16)?.try_into().ok()?);
            let intervals = word(take(8)?);
            let mut before = 0;
            for _ in 0..intervals {
                let (first, end) = (word(take(8)?), word(take(8)?));
                if first <= before || first >= end || end > NUMBER_MAX + 1 {
                    return None;
                }
                set.add_interval(uuid, first, end);
                before = end;
            }
        }
        rest.is_empty().then_some(set)
    }
}

impl fmt::Display for GtidSet {
    /// As `@@gtid_executed` shows it: sources behind each other with a comma and a line break between them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (uuid, intervals)) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(",\n")?;
            }
            write!(f, "{uuid}")?;
            for (first, end) in intervals {
                match end - first {
                    1 => write!(f, ":{first}")?,
                    _ => write!(f, ":{first}-{}", end - 1)?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";

    fn set(text: &str) -> GtidSet {
        GtidSet::parse(&text.replace('A', A).replace('B', "4e11fa47-71ca-11e1-9e33-c80aa9429562")).unwrap()
    }

    #[test]
    fn texts_are_brought_into_one_form() {
        for (given, printed) in [
            ("", ""),
            ("A:1", "A:1"),
            ("A:1-3:2-5:9, A:6", "A:1-6:9"),
            (" A : 7 : 1 - 2 ,\nB:1", "A:1-2:7,\nB:1"),
            ("A:5-3", ""),
            ("A:3-5:1-2", "A:1-5"),
        ] {
            assert_eq!(set(given), set(&printed.replace('\n', "")), "{given}");
            let shown = printed.replace('A', A).replace('B', "4e11fa47-71ca-11e1-9e33-c80aa9429562");
            assert_eq!(set(given).to_string(), shown);
        }
        for bad in ["x", "A", "A:", "A:0", "A:1-", "A:-1", "A:9223372036854775807", "zzzz:1"] {
            assert_eq!(GtidSet::parse(&bad.replace('A', A)), None, "{bad}");
        }
    }

    #[test]
    fn one_number_is_no_interval() {
        let gtid = Gtid::parse(&format!(" {} : 7 ", A.to_uppercase())).unwrap();
        assert_eq!(gtid.to_string(), format!("{A}:7"));
        for bad in ["", "A", "A:", "A:0", "A:1-2", "A:+1", "A:1:2", "A:9223372036854775807", "A:tag:1", "x:1"] {
            assert_eq!(Gtid::parse(&bad.replace('A', A)), None, "{bad}");
        }
    }

    #[test]
    fn sets_are_added_and_taken_away() {
        let mut s = set("A:1-10");
        s.subtract(&set("A:3:5-6:10-20,B:1"));
        assert_eq!(s, set("A:1-2:4:7-9"));
        assert!(set("A:7-8").is_subset_of(&s) && !set("A:6-8").is_subset_of(&s));
        assert!(!s.intersects(&set("A:3,B:1")) && s.intersects(&set("A:3-4")));
        s.union(&set("A:3,B:4"));
        assert_eq!(s, set("A:1-4:7-9,B:4"));
        s.subtract(&set("B:1-100"));
        assert_eq!(s, set("A:1-4:7-9"));
        assert_eq!(s.next_free(Uuid::parse(A).unwrap()), Some(5));
        assert_eq!(set("A:2-3").next_free(Uuid::parse(A).unwrap()), Some(1));
        assert!(s.contains(Uuid::parse(A).unwrap(), 8) && !s.contains(Uuid::parse(A).unwrap(), 6));
    }

    #[test]
    fn what_is_encoded_reads_back_and_nothing_shorter_does() {
        let s = set("A:1-4:7-9,B:4");
        let bytes = s.encode();
        assert_eq!(GtidSet::decode(&bytes), Some(s));
        assert!((0..bytes.len()).all(|len| GtidSet::decode(&bytes[..len]).is_none()));
        let mut huge = bytes;
        huge[0] = 0xFF;
        assert_eq!(GtidSet::decode(&huge), None);
    }
}
