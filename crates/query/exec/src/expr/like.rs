//! LIKE.

use types::collation::CollationId;

/// `text LIKE pattern ESCAPE escape` under the collation.
pub fn matches(text: &[u8], pattern: &[u8], escape: Option<char>, collation: CollationId) -> bool {
    collation.like(text, pattern, escape)
}
