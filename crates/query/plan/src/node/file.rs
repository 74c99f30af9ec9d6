//! LOAD DATA: how a file is read, and where its fields go.

use super::Assigned;
use types::DataType;
use types::charset::Charset;

/// FIELDS and LINES clauses. Empty: none.
#[derive(Clone, Debug)]
pub struct FileFormat {
    pub fields_terminated: Vec<u8>,
    pub enclosed: Option<u8>,
    /// Only strings are enclosed in what is written.
    pub optionally_enclosed: bool,
    pub escaped: Option<u8>,
    pub lines_starting: Vec<u8>,
    pub lines_terminated: Vec<u8>,
}

impl FileFormat {
    /// Fields are told apart by their widths alone.
    pub fn is_fixed(&self) -> bool {
        self.fields_terminated.is_empty() && self.enclosed.is_none()
    }
}

impl Default for FileFormat {
    fn default() -> FileFormat {
        FileFormat {
            fields_terminated: b"\t".to_vec(),
            enclosed: None,
            optionally_enclosed: false,
            escaped: Some(b'\\'),
            lines_starting: Vec::new(),
            lines_terminated: b"\n".to_vec(),
        }
    }
}

/// The lines of LOAD DATA.
pub struct FileSource {
    pub format: FileFormat,
    pub charset: Charset,
    /// Of a field.
    pub data_type: DataType,
    pub ignore_lines: u64,
    pub targets: Vec<FieldTarget>,
    /// How many bytes each of them takes in a file of fixed widths; empty for other files.
    pub widths: Vec<usize>,
    pub set: Vec<(usize, Assigned)>,
}

/// Where a field goes.
pub enum FieldTarget {
    Column(usize),
    Variable(String),
    /// A generated column: what the file says of it is passed over.
    Nowhere,
}
