//! LOAD DATA LOCAL, until the client has sent its file.

use crate::session::plans::Planned;

/// A LOAD DATA LOCAL whose file the client was asked for.
pub(crate) struct Upload {
    pub planned: Box<Planned>,
    /// Statements behind it in the same text.
    pub rest: Vec<u8>,
}
