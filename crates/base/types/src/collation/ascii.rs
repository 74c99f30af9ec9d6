//! Which ASCII characters a collation takes for equal, as a table: most texts have no others, and weights of single characters are
//! looked for at every place of a text where LIKE, LOCATE and the like may begin.

use super::CollationId;
use std::sync::OnceLock;

/// By ASCII character: the least one that is equal to it.
pub type Classes = [u8; 128];

/// Above all ids that the registry has.
const IDS: usize = 512;
static CLASSES: [OnceLock<Classes>; IDS] = [const { OnceLock::new() }; IDS];

#[inline]
pub fn classes(collation: CollationId) -> &'static Classes {
    let id = collation.info().id;
    CLASSES[id.0 as usize].get_or_init(|| make(id))
}

#[cold]
fn make(collation: CollationId) -> Classes {
    let least = |c: u8| (0..c).find(|other| collation.char_equal_by_weight((*other).into(), c.into())).unwrap_or(c);
    std::array::from_fn(|c| least(c as u8))
}

/// How many bytes of a text stand before its first character that may equal `wanted`, an ASCII character. The character set has ASCII
/// in single bytes below 0x80, and nothing else there.
pub fn before_candidate(classes: &Classes, text: &[u8], wanted: u8) -> usize {
    let class = classes[wanted as usize];
    let may_equal = |b: &u8| classes.get(*b as usize).is_none_or(|of_byte| *of_byte == class);
    text.iter().position(may_equal).unwrap_or(text.len())
}
