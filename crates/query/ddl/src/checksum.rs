//! CHECKSUM TABLE: the sum of the CRC-32s of a table's rows, each over the bytes that MySQL's server has for a row in memory, so that
//! equal rows have equal sums on both servers.
//!
//! ```text
//!   null bits | column | column | ...                  columns in the order of the table, hidden ones of indexes among them
//!
//!   null bits    bit 0 is 1 in tables of fixed records, see `Image::new`
//!                then a bit for each nullable column, 1 = NULL: virtual columns behind the others
//!                unused bits of the last byte are 1, all eight of it where the last byte is full
//!   column       numbers at their widths, low byte first; DECIMAL and temporals in MySQL's binary forms, high byte first
//!                CHAR and BINARY padded to the longest value; VARCHAR, TEXT, BLOB and JSON (as text) without their lengths
//! ```
//! A NULL has bytes too: in InnoDB those of the column's default, in other engines those of its type's zero.
//!
//! Engine MyISAM keeps the sum of a table with CHECKSUM=1 beside its rows, over the records that it stores ([`Record::Stored`]).

use crate::fill::check_interrupt;
use catalog::error;
use catalog::{Column, ColumnDefault, StorageEngine, Table};
use engine::{Cursor, Direction, PARTS_A_THREAD, Read, Transaction};
use expr::store;
use run::{long, write};
use types::temporal::record;
use types::{DataType, Result, TypeKind, Value};

/// Which bytes of a row are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// As MySQL's server reads it.
    Read,
    /// As engine MyISAM stores it: no virtual columns, JSON in its binary form, bits among the null bits only there.
    Stored,
}

/// Sums up a base table as the transaction sees it, in parts by up to `threads` threads.
pub fn sum_table(tx: &mut Transaction, table: &Table, record: Record, threads: usize) -> Result<u32> {
    let tree = table.indexes[0].tree;
    let parts = tx.parts(tree, threads * PARTS_A_THREAD).map_err(error::engine)?;
    let sums = tx.read_parts(&parts, threads, |tx, part| {
        let mut sum = Sum::new(table, record);
        let mut scan = Cursor::new(tree, part.range(), Direction::Forward, Read::Consistent, 0);
        let (mut rows, mut inside) = (0, Vec::new());
        while let Some(entry) = scan.next(tx).map_err(error::engine)? {
            let row = long::inside(tx, table, entry.value, &mut inside)?;
            sum.add(|i| write::column(table, row, i));
            rows += 1;
            check_interrupt(tx, rows)?;
        }
        Ok(sum.total)
    });
    sums.into_iter().try_fold(0, |total: u32, sum: Result<u32>| Ok(total.wrapping_add(sum?)))
}

/// The sum of rows so far.
struct Sum {
    image: Image,
    row: Vec<u8>,
    total: u32,
}

impl Sum {
    fn new(table: &Table, record: Record) -> Sum {
        Sum { image: Image::new(table, record), row: Vec::new(), total: 0 }
    }

    /// `value_of` gives column `i` of the row. The order of rows does not matter.
    fn add<'v>(&mut self, value_of: impl Fn(usize) -> Value<'v>) {
        self.row.clear();
        self.image.put(&mut self.row, value_of);
        self.total = self.total.wrapping_add(crc32fast::hash(&self.row));
    }
}

/// How rows of a table lie in the memory of MySQL's server.
struct Image {
    /// The null bits of a row without NULLs.
    null_bits: Vec<u8>,
    fields: Vec<Field>,
}

struct Field {
    /// Its place in [`Table::columns`].
    column: usize,
    form: Form,
    null_bit: Option<usize>,
    /// Engine MyISAM keeps the high bits of a BIT among the null bits, from this one on.
    bits_at: Option<usize>,
    /// A NULL's bytes.
    absent: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Form {
    Integer {
        bytes: usize,
    },
    Bit {
        bits: u32,
        record: Record,
    },
    Year,
    Float,
    Double,
    Decimal {
        precision: u32,
        scale: u8,
    },
    Date,
    Time {
        digits: u8,
    },
    DateTime {
        digits: u8,
    },
    Timestamp {
        digits: u8,
    },
    Padded {
        bytes: usize,
        blank: &'static [u8],
    },
    Bytes,
    Json {
        record: Record,
    },
    /// A virtual column in a stored record.
    Nothing,
}

impl Image {
    fn new(table: &Table, record: Record) -> Image {
        let columns = || table.columns.iter().enumerate().filter(|(_, c)| !c.is_row_id());
        let mut fields: Vec<Field> = columns().map(|(i, c)| Field::new(i, c, table.engine, record)).collect();
        // A record of fixed length begins with the mark of a deleted one.
        let mut next = usize::from(!is_packed(table));
        for stored in [true, false] {
            for (field, (_, c)) in fields.iter_mut().zip(columns()) {
                if c.generated.as_ref().is_none_or(|g| g.stored) != stored {
                    continue;
                }
                if c.data_type.nullable {
                    field.null_bit = Some(next);
                    next += 1;
                }
                if let (Form::Bit { bits, .. }, StorageEngine::MyIsam) = (field.form, table.engine)
                    && bits % 8 > 0
                {
                    field.bits_at = Some(next);
                    next += bits as usize % 8;
                }
            }
        }
        let mut null_bits = vec![0; next.div_ceil(8)];
        if let Some(last) = null_bits.last_mut().filter(|_| record == Record::Read || next % 8 > 0) {
            *last |= 0xFF << (next % 8);
        }
        if let Some(first) = null_bits.first_mut().filter(|_| !is_packed(table)) {
            *first |= 1;
        }
        Image { null_bits, fields }
    }

    fn put<'v>(&self, row: &mut Vec<u8>, value_of: impl Fn(usize) -> Value<'v>) {
        row.extend_from_slice(&self.null_bits);
        for field in &self.fields {
            let value = value_of(field.column);
            if let (true, Some(bit)) = (value.is_null(), field.null_bit) {
                row[bit / 8] |= 1 << (bit % 8);
            }
            match (field.form, field.bits_at) {
                (Form::Bit { bits, record }, Some(at)) => {
                    let number = put_high_bits(row, value.to_u64(), bits, at);
                    Form::Bit { bits, record }.put(row, &Value::UInt(number));
                }
                _ if value.is_null() => row.extend_from_slice(&field.absent),
                _ => field.form.put(row, &value),
            }
        }
    }
}

/// Puts the high bits of a BIT among the null bits, from `at` on. MySQL reads them back from there: those of a byte whose bits
/// are all 1 are 1.
fn put_high_bits(row: &mut [u8], mut number: u64, bits: u32, at: usize) -> u64 {
    let low = bits - bits % 8;
    for i in 0..bits % 8 {
        let (high, place) = (1 << (low + i), at + i as usize);
        if row[place / 8] >> (place % 8) & 1 == 1 {
            number |= high;
        } else if number & high != 0 {
            row[place / 8] |= 1 << (place % 8);
        }
    }
    number
}

/// MySQL packs records with a column of varying length; ROW_FORMAT=FIXED lets texts that lie elsewhere alone vary.
fn is_packed(table: &Table) -> bool {
    let format = table.create_options.get("ROW_FORMAT");
    let varies = |c: &Column| match c.data_type.kind {
        TypeKind::VarChar | TypeKind::VarBinary => format != Some("FIXED"),
        _ => matches!(Form::of(c, Record::Read), Form::Bytes | Form::Json { .. }),
    };
    format == Some("DYNAMIC") || table.columns.iter().any(varies)
}

impl Field {
    fn new(column: usize, c: &Column, engine: StorageEngine, record: Record) -> Field {
        let form = Form::of(c, record);
        let mut absent = Vec::new();
        match (&c.default, c.array_of()) {
            _ if record == Record::Stored && c.data_type.kind == TypeKind::Json => {}
            (_, Some(element)) if !element.kind.is_bytes() => absent.resize(BLOB_BYTES, 0),
            (ColumnDefault::Value(v), _) if engine.is_transactional() && !v.is_null() => form.put(&mut absent, v),
            // The zero of an ENUM is no member, and not its first one.
            _ if c.data_type.kind == TypeKind::Enum => form.put(&mut absent, &Value::UInt(0)),
            _ => form.put(&mut absent, &store::implicit_default(&c.data_type)),
        }
        Field { column, form, null_bit: None, bits_at: None, absent }
    }
}

/// Length and address of a text that lies elsewhere. MySQL takes them for the value of a multi-valued index whose elements are no
/// strings, so that its sums of such a table differ from start to start; here it is the array.
const BLOB_BYTES: usize = 12;

impl Form {
    fn of(c: &Column, record: Record) -> Form {
        use TypeKind as K;
        let t: &DataType = &c.data_type;
        let digits = t.decimals;
        let members = c.members.len();
        if record == Record::Stored && c.generated.as_ref().is_some_and(|g| !g.stored) {
            return Form::Nothing;
        }
        match t.kind {
            K::TinyInt => Form::Integer { bytes: 1 },
            K::SmallInt => Form::Integer { bytes: 2 },
            K::MediumInt => Form::Integer { bytes: 3 },
            K::Int => Form::Integer { bytes: 4 },
            K::BigInt => Form::Integer { bytes: 8 },
            K::Enum => Form::Integer { bytes: if members < 256 { 1 } else { 2 } },
            K::Set if members > 32 => Form::Integer { bytes: 8 },
            K::Set => Form::Integer { bytes: members.div_ceil(8) },
            K::Bit => Form::Bit { bits: t.length, record },
            K::Year => Form::Year,
            K::Float => Form::Float,
            K::Double => Form::Double,
            K::Decimal => Form::Decimal { precision: t.length, scale: digits },
            K::Date => Form::Date,
            K::Time => Form::Time { digits },
            K::DateTime => Form::DateTime { digits },
            K::Timestamp => Form::Timestamp { digits },
            K::Binary => Form::Padded { bytes: t.length as usize, blank: &[0] },
            K::Char => {
                let set = t.collation.charset();
                let blank: &[u8] = match (set.mbminlen(), set.name()) {
                    (2, "utf16le") => &[b' ', 0],
                    (2, _) => &[0, b' '],
                    (4, _) => &[0, 0, 0, b' '],
                    _ => b" ",
                };
                Form::Padded { bytes: (t.length * set.mbmaxlen()) as usize, blank }
            }
            K::Json => Form::Json { record },
            _ => Form::Bytes,
        }
    }

    /// Appends a value that is not NULL.
    fn put(self, out: &mut Vec<u8>, value: &Value<'_>) {
        let at = out.len();
        match (self, value) {
            (Form::Integer { bytes }, v) => out.extend_from_slice(&v.to_integer().to_le_bytes()[..bytes]),
            (Form::Bit { bits, record }, v) => {
                let bytes = if record == Record::Read { bits.div_ceil(8) } else { bits / 8 } as usize;
                out.extend_from_slice(&v.to_u64().to_be_bytes()[8 - bytes..]);
            }
            (Form::Year, v) => record::put_year(out, v.to_u64()),
            (Form::Float, v) => out.extend_from_slice(&(v.to_f64() as f32).to_le_bytes()),
            (Form::Double, v) => out.extend_from_slice(&v.to_f64().to_le_bytes()),
            (Form::Decimal { precision, scale }, Value::Decimal(v)) => v.write_binary(precision, scale, out),
            (Form::Date, Value::Date(d)) => record::put_date(out, *d),
            (Form::Time { digits }, Value::Time(t)) => record::put_time(out, *t, digits),
            (Form::DateTime { digits }, Value::DateTime(t)) => record::put_datetime(out, *t, digits),
            (Form::Timestamp { digits }, Value::DateTime(t)) => record::put_timestamp(out, *t, digits),
            (Form::Padded { bytes, blank }, Value::Bytes(b)) => {
                out.extend_from_slice(b);
                match blank {
                    [byte] => out.resize(at + bytes, *byte),
                    _ => out.extend(std::iter::repeat_n(blank, (bytes - b.len()) / blank.len()).flatten()),
                }
                debug_assert_eq!(out.len(), at + bytes, "blanks fill it to the end");
            }
            (Form::Bytes, Value::Bytes(b)) => out.extend_from_slice(b),
            (Form::Nothing, _) => {}
            (Form::Json { record: Record::Stored }, Value::Json(b)) => out.extend_from_slice(b),
            (Form::Json { .. }, v) => v.write_text(&DataType::new(TypeKind::Json), out),
            (_, other) => unreachable!("a column cannot hold {other:?}"),
        }
    }
}
