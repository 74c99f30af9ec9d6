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

/// The longest tag.
pub const TAG_BYTES_MAX: usize = 32;

/// What tells numbers of one server apart that are given out for different ends: `a-z`, `_`, and digits behind the first. Empty: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// Zeroes behind its end.
    bytes: [u8; TAG_BYTES_MAX],
}

impl Tag {
    /// Capitals are as good. `None`: it is no tag.
    pub fn parse(text: &str) -> Option<Tag> {
        let mut tag = Tag::default();
        let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !starts || text.len() > TAG_BYTES_MAX {
            return None;
        }
        for (byte, c) in tag.bytes.iter_mut().zip(text.bytes()) {
            *byte = Some(c.to_ascii_lowercase()).filter(|c| c.is_ascii_alphanumeric() || *c == b'_')?;
        }
        Some(tag)
    }

    pub fn as_str(&self) -> &str {
        let end = self.bytes.iter().position(|b| *b == 0).unwrap_or(TAG_BYTES_MAX);
        std::str::from_utf8(&self.bytes[..end]).expect("tags are ASCII")
    }

    pub fn is_empty(&self) -> bool {
        self.bytes[0] == 0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A transaction's number, as `gtid_next` names it: `uuid:7` or `uuid:tag:7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gtid {
    pub uuid: Uuid,
    pub tag: Tag,
    pub number: u64,
}

impl Gtid {
    /// `None`: it is not one UUID with one number.
    pub fn parse(text: &str) -> Option<Gtid> {
        let (uuid, rest) = text.split_once(':')?;
        let (tag, number) = match rest.split_once(':') {
            Some((tag, number)) => (Tag::parse(tag.trim())?, number),
            None => (Tag::default(), rest),
        };
        let number = number.trim();
        let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        let number = number.parse().ok().filter(|n| digits && (1..=NUMBER_MAX).contains(n))?;
        Some(Gtid { uuid: Uuid::parse(uuid)?, tag, number })
    }
}

impl fmt::Display for Gtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Gtid { uuid, tag, number } = self;
        if tag.is_empty() { write!(f, "{uuid}:{number}") } else { write!(f, "{uuid}:{tag}:{number}") }
    }
}

/// The greatest number of a transaction.
pub const NUMBER_MAX: u64 = i64::MAX as u64 - 1;

/// A set of GTIDs: for each source and tag, intervals `first..end` in order that do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GtidSet(BTreeMap<(Uuid, Tag), Vec<(u64, u64)>>);

/// In the first word of a set that has tags, lowest and highest byte; its number of sources and tags stands between them.
const TAGGED: u64 = 1 << 56 | 1;

impl GtidSet {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Is any number of this source in it, with a tag or without?
    pub fn has_source(&self, uuid: Uuid) -> bool {
        self.0.range((uuid, Tag::default())..).next().is_some_and(|((first, _), _)| *first == uuid)
    }

    fn intervals(&self, uuid: Uuid, tag: Tag) -> &[(u64, u64)] {
        self.0.get(&(uuid, tag)).map_or(&[], |intervals| intervals)
    }

    /// Source, tag, and the first and the last number of each interval, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Uuid, Tag, u64, u64)> {
        let intervals = |((uuid, tag), intervals): (&(Uuid, Tag), &Vec<(u64, u64)>)| {
            let (uuid, tag) = (*uuid, *tag);
            intervals.clone().into_iter().map(move |(first, end)| (uuid, tag, first, end - 1))
        };
        self.0.iter().flat_map(intervals)
    }

    pub fn contains(&self, gtid: Gtid) -> bool {
        let intervals = self.intervals(gtid.uuid, gtid.tag);
        let behind = intervals.partition_point(|(_, end)| *end <= gtid.number);
        intervals.get(behind).is_some_and(|(first, _)| *first <= gtid.number)
    }

    pub fn add(&mut self, gtid: Gtid) {
        self.add_interval((gtid.uuid, gtid.tag), gtid.number, gtid.number + 1);
    }

    /// Adds `first..end`.
    fn add_interval(&mut self, source: (Uuid, Tag), first: u64, end: u64) {
        let intervals = self.0.entry(source).or_default();
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
        for (source, intervals) in &other.0 {
            for (first, end) in intervals {
                self.add_interval(*source, *first, *end);
            }
        }
    }

    pub fn subtract(&mut self, other: &GtidSet) {
        for (source, gone) in &other.0 {
            let Some(intervals) = self.0.get_mut(source) else { continue };
            for (first, end) in gone {
                let mut left = Vec::with_capacity(intervals.len() + 1);
                for (f, e) in intervals.iter().copied() {
                    left.extend([(f, e.min(*first)), (f.max(*end), e)].into_iter().filter(|(f, e)| f < e));
                }
                *intervals = left;
            }
            if intervals.is_empty() {
                self.0.remove(source);
            }
        }
    }

    pub fn is_subset_of(&self, other: &GtidSet) -> bool {
        let within = |(uuid, tag): &(Uuid, Tag), first: &u64, end: &u64| {
            other.intervals(*uuid, *tag).iter().any(|(f, e)| f <= first && end <= e)
        };
        self.0.iter().all(|(source, intervals)| intervals.iter().all(|(first, end)| within(source, first, end)))
    }

    pub fn intersects(&self, other: &GtidSet) -> bool {
        let mut left = self.clone();
        left.subtract(other);
        left != *self
    }

    /// The lowest number of a source under a tag that is not in it; `None`: all are used up.
    pub fn next_free(&self, uuid: Uuid, tag: Tag) -> Option<u64> {
        let first = self.intervals(uuid, tag).first();
        let free = first.filter(|(first, _)| *first == 1).map_or(1, |(_, end)| *end);
        (free <= NUMBER_MAX).then_some(free)
    }

    /// The same, of none that is among `reserved`.
    pub fn next_free_beside(&self, reserved: &GtidSet, uuid: Uuid, tag: Tag) -> Option<u64> {
        if reserved.is_empty() {
            return self.next_free(uuid, tag);
        }
        let mut taken = self.clone();
        taken.union(reserved);
        taken.next_free(uuid, tag)
    }

    /// Takes one number out.
    pub fn remove(&mut self, gtid: Gtid) {
        let mut one = GtidSet::default();
        one.add(gtid);
        self.subtract(&one);
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
            let (mut any, mut tag) = (false, Tag::default());
            for word in words {
                any = true;
                if let Some(next) = Tag::parse(word) {
                    tag = next;
                    continue;
                }
                let (first, last) = word.split_once('-').unwrap_or((word, word));
                let number = |word: &str| word.trim().parse::<u64>().ok().filter(|n| *n <= NUMBER_MAX);
                let (first, last) = (number(first)?, number(last)?);
                if first == 0 {
                    return None;
                }
                // MySQL takes an interval that ends before it begins for an empty one.
                if first <= last {
                    set.add_interval((uuid, tag), first, last + 1);
                }
            }
            if !any {
                return None;
            }
        }
        Some(set)
    }

    pub fn encode(&self) -> Vec<u8> {
        let tagged = self.0.keys().any(|(_, tag)| !tag.is_empty());
        let count = self.0.len() as u64;
        let mut out = if tagged { TAGGED | count << 8 } else { count }.to_le_bytes().to_vec();
        for ((uuid, tag), intervals) in &self.0 {
            out.extend_from_slice(&uuid.0);
            if tagged {
                let tag = tag.as_str();
                // As a packed number: of one byte, whose lowest bit says so.
                out.push((tag.len() as u8) << 1);
                out.extend_from_slice(tag.as_bytes());
            }
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
        let front = word(take(8)?);
        let tagged = front & TAGGED == TAGGED && front >> 56 == 1;
        let sources = if tagged { front << 8 >> 16 } else { front };
        for _ in 0..sources {
            let uuid = Uuid(take(16)?.try_into().ok()?);
            let mut tag = Tag::default();
            if tagged {
                let len = take(1)?[0];
                let text = std::str::from_utf8(take(usize::from(len >> 1))?).ok()?;
                if len & 1 != 0 {
                    return None;
                }
                if !text.is_empty() {
                    tag = Tag::parse(text)?;
                }
            }
            let intervals = word(take(8)?);
            let mut before = 0;
            for _ in 0..intervals {
                let (first, end) = (word(take(8)?), word(take(8)?));
                if first <= before || first >= end || end > NUMBER_MAX + 1 {
                    return None;
                }
                set.add_interval((uuid, tag), first, end);
                before = end;
            }
        }
        rest.is_empty().then_some(set)
    }
}

impl fmt::Display for GtidSet {
    /// As `@@gtid_executed` shows it: sources behind each other with a comma and a line break between them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = None;
        for ((uuid, tag), intervals) in &self.0 {
            if before != Some(uuid) {
                if before.replace(uuid).is_some() {
                    f.write_str(",\n")?;
                }
                write!(f, "{uuid}")?;
            }
            if !tag.is_empty() {
                write!(f, ":{tag}")?;
            }
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
            ("A:T2:1-3,A:t2:4:_c:7", "A:_c:7:t2:1-4"),
            ("A:5:tag:1,A:1-4,A:empty", "A:1-5:tag:1"),
            ("A:x:5-3:y:1,B:y:1", "A:y:1,\nB:y:1"),
        ] {
            assert_eq!(set(given), set(&printed.replace('\n', "")), "{given}");
            let shown = printed.replace('A', A).replace('B', "4e11fa47-71ca-11e1-9e33-c80aa9429562");
            assert_eq!(set(given).to_string(), shown);
        }
        for bad in ["x", "A", "A:", "A:0", "A:1-", "A:-1", "A:9223372036854775807", "zzzz:1", "A:1x", "A:a-b:1", "A::1"]
        {
            assert_eq!(GtidSet::parse(&bad.replace('A', A)), None, "{bad}");
        }
    }

    #[test]
    fn one_number_is_no_interval() {
        let gtid = Gtid::parse(&format!(" {} : 7 ", A.to_uppercase())).unwrap();
        assert_eq!(gtid.to_string(), format!("{A}:7"));
        let tagged = Gtid::parse(&format!("{A}:Some_Tag1:7")).unwrap();
        assert_eq!(tagged.to_string(), format!("{A}:some_tag1:7"));
        assert!(
            Tag::parse(&"t".repeat(TAG_BYTES_MAX)).is_some() && Tag::parse(&"t".repeat(TAG_BYTES_MAX + 1)).is_none()
        );
        for bad in
            ["", "A", "A:", "A:0", "A:1-2", "A:+1", "A:1:2", "A:9223372036854775807", "A:1:tag", "A:t:u:1", "x:1"]
        {
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
        let (uuid, tag) = (Uuid::parse(A).unwrap(), Tag::parse("t").unwrap());
        assert_eq!(s.next_free(uuid, Tag::default()), Some(5));
        assert_eq!(set("A:2-3").next_free(uuid, Tag::default()), Some(1));
        assert_eq!(set("A:2-3:t:1-2").next_free(uuid, tag), Some(3));
        let gtid = |number| Gtid { uuid, tag: Tag::default(), number };
        let mut reserved = set("A:5,A:6:t:1");
        assert_eq!(
            s.next_free_beside(&reserved, uuid, Tag::default()),
            s.next_free_beside(&set("A:5-6"), uuid, Tag::default())
        );
        reserved.remove(gtid(5));
        assert_eq!(s.next_free_beside(&reserved, uuid, Tag::default()), Some(5));
        assert!(s.contains(gtid(8)) && !s.contains(gtid(6)) && !s.contains(Gtid { tag, ..gtid(8) }));
        assert!(set("A:t:1").has_source(uuid) && !set("B:1").has_source(uuid));
        assert_eq!(set("A:1-3:t:5").iter().collect::<Vec<_>>(), [(uuid, Tag::default(), 1, 3), (uuid, tag, 5, 5)]);
    }

    #[test]
    fn what_is_encoded_reads_back_and_nothing_shorter_does() {
        for s in [set("A:1-4:7-9,B:4"), set("A:1-4:t:7-9,B:tag_2:4")] {
            let bytes = s.encode();
            assert_eq!(GtidSet::decode(&bytes), Some(s));
            assert!((0..bytes.len()).all(|len| GtidSet::decode(&bytes[..len]).is_none()));
            let mut huge = bytes;
            huge[1] = 0xFF;
            assert_eq!(GtidSet::decode(&huge), None);
        }
        // As MySQL 9.7 writes it.
        let tagged = set("A:1:t_1:77").encode();
        assert_eq!(tagged[..8], [1, 2, 0, 0, 0, 0, 0, 1]);
        assert_eq!(tagged[65..69], *b"\x06t_1");
    }
}
