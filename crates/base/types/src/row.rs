//! Rows as bytes: null bitmap, fixed-width columns at fixed offsets, then variable-length columns. Any column is read in O(1).
//!
//! ```text
//!  0        1          3                        fixed_at            ends_at            data_at
//! | format | columns  | null bits, 1 = NULL    | fixed columns     | end offsets       | bytes of variable columns |
//! | u8     | u16      | ceil(columns / 8)      | in column order   | u16 or u32 each   | in column order           |
//!
//! format   0x01; 0x81 when the end offsets are u32 (64 KiB of variable bytes and more); others when values are outside: see [`long`]
//! ends     from data_at; a NULL has no bytes
//! ```
//!
//! All numbers are little-endian at MySQL's natural widths; DECIMAL is in MySQL's binary form. A NULL's fixed bytes are
//! there and zero. `columns` is how many columns the table had when the row was written: rows from before an
//! ADD COLUMN are shorter, and readers compute the offsets of that many columns.
//!
//! A column has a *place* in the row, which it keeps. In a table as it was made, column `i` is at place `i`. Where columns came or
//! went without a rewrite of the rows, new columns have got the next places, in whichever order the table lists its columns, and
//! places of dropped columns stay: in older rows with what was there, in new ones with NULL.

pub mod long;

use crate::key::{year_from_byte, year_to_byte};
use crate::{DataType, Date, DateTime, Decimal, Time, TypeKind, Value};
use std::borrow::Cow;

const FORMAT: u8 = 0x01;
const FORMAT_WIDE: u8 = 0x81;
const HEADER: usize = 3;

/// How a column lies in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Bytes of a two's complement integer.
    Signed(u8),
    Unsigned(u8),
    Year,
    Float,
    Double,
    Decimal {
        precision: u8,
        scale: u8,
    },
    Date,
    Time,
    DateTime {
        fraction: bool,
    },
    Variable,
    /// A column of type NULL: no bytes.
    Nothing,
}

impl Form {
    fn of(t: &DataType) -> Form {
        use TypeKind::*;
        let integer = |bytes| if t.unsigned { Form::Unsigned(bytes) } else { Form::Signed(bytes) };
        match t.kind {
            TinyInt => integer(1),
            SmallInt => integer(2),
            MediumInt => integer(3),
            Int => integer(4),
            BigInt => integer(8),
            Bit => Form::Unsigned(t.length.clamp(1, 64).div_ceil(8) as u8),
            Enum => Form::Unsigned(2),
            Set => Form::Unsigned(8),
            Year => Form::Year,
            Float => Form::Float,
            Double => Form::Double,
            TypeKind::Decimal => Form::Decimal { precision: t.length as u8, scale: t.decimals },
            TypeKind::Date => Form::Date,
            TypeKind::Time => Form::Time,
            TypeKind::DateTime | Timestamp => Form::DateTime { fraction: t.decimals > 0 },
            Null => Form::Nothing,
            _ => Form::Variable,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Form::Signed(n) | Form::Unsigned(n) => n as usize,
            Form::Year => 1,
            Form::Float => 4,
            Form::Double => 8,
            Form::Decimal { precision, scale } => Decimal::binary_bytes(precision as u32, scale),
            Form::Date => 3,
            Form::Time => 6,
            Form::DateTime { fraction: false } => 5,
            Form::DateTime { fraction: true } => 8,
            Form::Variable | Form::Nothing => 0,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Column {
    form: Form,
    /// From the start of the fixed columns.
    fixed: u32,
    /// Variable columns before this one.
    variable: u32,
    /// Its bytes are documents.
    json: bool,
    /// In a narrow row of all places: where the fixed bytes, or the end offset, are.
    at: u32,
    place: u16,
    /// Where its NULL bit is in a row.
    null_at: u16,
    null_bit: u8,
}

impl Column {
    /// The value of a variable column.
    #[inline]
    fn value<'r>(&self, bytes: &'r [u8]) -> Value<'r> {
        if self.json { Value::Json(Cow::Borrowed(bytes)) } else { Value::Bytes(Cow::Borrowed(bytes)) }
    }

    #[inline]
    fn is_null(&self, row: &[u8]) -> bool {
        row[self.null_at as usize] & self.null_bit != 0
    }
}

/// What lies in front of a place.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Bytes of fixed columns, number of variable ones.
    fixed: u32,
    variable: u32,
    /// The column that has it; `None`: it was dropped.
    column: Option<u16>,
}

/// The layout of a table's rows, computed once per schema version.
#[derive(Clone, Debug)]
pub struct RowLayout {
    columns: Vec<Column>,
    places: Vec<Place>,
    /// Column `i` is at place `i`, and no place is without a column.
    in_order: bool,
    /// Bytes of all fixed columns, number of variable columns.
    fixed_bytes: u32,
    variables: u32,
    /// Start of the fixed columns in a row of all places.
    fixed_at: u32,
    /// First bytes of a narrow row of all places, the usual one, and where its variable bytes begin.
    usual: [u8; HEADER],
    usual_data_at: u32,
}

/// Where the sections of one row are.
#[derive(Clone, Copy)]
struct Sections {
    places: usize,
    fixed_at: usize,
    ends_at: usize,
    /// Bytes of an end offset: 2 or 4.
    end_bytes: usize,
    data_at: usize,
}

impl RowLayout {
    /// Of a table as it was made. At most 65,535 columns (MySQL has 4,096).
    pub fn new(columns: &[DataType]) -> RowLayout {
        RowLayout::evolved(columns, &(0..columns.len()).collect::<Vec<_>>())
    }

    /// Of a table whose columns came and went: the types at all places, and which place each column has.
    ///
    /// # Panics
    /// When two columns have the same place, or one of them none.
    pub fn evolved(types: &[DataType], place_of: &[usize]) -> RowLayout {
        assert!(types.len() <= u16::MAX as usize, "a row's column count is 16 bits");
        let mut fixed: u32 = 0;
        let mut variable = 0;
        let mut places: Vec<Place> = Vec::with_capacity(types.len());
        for t in types {
            places.push(Place { fixed, variable, column: None });
            let form = Form::of(t);
            fixed += form.bytes() as u32;
            variable += (form == Form::Variable) as u32;
        }
        let fixed_at = (HEADER + types.len().div_ceil(8)) as u32;
        let ends_at = fixed_at + fixed;
        let mut columns = Vec::with_capacity(place_of.len());
        for (i, place) in place_of.iter().copied().enumerate() {
            let (form, there) = (Form::of(&types[place]), &mut places[place]);
            let before = there.column.replace(i as u16);
            assert!(before.is_none(), "two columns at one place");
            let (fixed, variable) = (there.fixed, there.variable);
            columns.push(Column {
                form,
                fixed,
                variable,
                json: types[place].kind == TypeKind::Json,
                at: if form == Form::Variable { ends_at + variable * 2 } else { fixed_at + fixed },
                place: place as u16,
                null_at: (HEADER + place / 8) as u16,
                null_bit: 1 << (place % 8),
            });
        }
        let [low, high] = (types.len() as u16).to_le_bytes();
        RowLayout {
            in_order: columns.len() == places.len() && columns.iter().enumerate().all(|(i, c)| c.place as usize == i),
            columns,
            places,
            fixed_bytes: fixed,
            variables: variable,
            fixed_at,
            usual: [FORMAT, low, high],
            usual_data_at: ends_at + variable * 2,
        }
    }

    /// Columns of the layout.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Appends the row to `out`. `values` are of the columns' types already, one for each column.
    ///
    /// # Panics
    /// When a value is not one of its column's type.
    pub fn encode(&self, out: &mut Vec<u8>, values: &[Value<'_>]) {
        assert_eq!(values.len(), self.columns.len(), "a value for each column");
        let start = out.len();
        let mut data_bytes = 0;
        for value in values {
            if let Value::Bytes(b) | Value::Json(b) = value {
                data_bytes += b.len();
            }
        }
        let end_bytes = if data_bytes > u16::MAX as usize { 4 } else { 2 };
        assert!(data_bytes <= u32::MAX as usize, "a row's variable columns hold at most 4 GiB");
        let ends_at = start + (self.fixed_at + self.fixed_bytes) as usize;
        let data_at = ends_at + self.variables as usize * end_bytes;
        out.reserve(data_at - start + data_bytes);
        out.resize(data_at, 0);
        out[start] = if end_bytes == 4 { FORMAT_WIDE } else { FORMAT };
        out[start + 1..start + HEADER].copy_from_slice(&self.usual[1..]);
        let fixed_at = start + self.fixed_at as usize;
        let mut put = |column: &Column, value: &Value<'_>| {
            if value.is_null() {
                out[start + column.null_at as usize] |= column.null_bit;
            }
            if column.form == Form::Variable {
                match value {
                    Value::Bytes(b) | Value::Json(b) => out.extend_from_slice(b),
                    Value::Null => {}
                    other => panic!("a column of bytes cannot hold {other:?}"),
                }
                let end = (out.len() - data_at) as u32;
                let at = ends_at + column.variable as usize * end_bytes;
                out[at..at + end_bytes].copy_from_slice(&end.to_le_bytes()[..end_bytes]);
            } else if !value.is_null() {
                put_fixed(out, fixed_at + column.fixed as usize, column.form, value);
            }
        };
        if self.in_order {
            self.columns.iter().zip(values).for_each(|(column, value)| put(column, value));
            return;
        }
        for column in self.places.iter().filter_map(|p| p.column) {
            put(&self.columns[column as usize], &values[column as usize]);
        }
        self.fill_dropped(&mut out[start..], ends_at - start, end_bytes);
    }

    /// Places of dropped columns are NULL; a variable one ends where the one before it does.
    #[cold]
    fn fill_dropped(&self, row: &mut [u8], ends_at: usize, end_bytes: usize) {
        for (i, place) in self.places.iter().enumerate().filter(|(_, p)| p.column.is_none()) {
            row[HEADER + i / 8] |= 1 << (i % 8);
            let next = self.places.get(i + 1).map_or(self.variables, |p| p.variable);
            let at = ends_at + place.variable as usize * end_bytes;
            if next > place.variable && place.variable > 0 {
                row.copy_within(at - end_bytes..at, at);
            }
        }
    }

    /// Appends `row` with new values of some columns, without decoding the others; of a column given twice the last counts.
    /// False, and nothing appended, when the row is not of all places, or long, or columns are not in the order of their places:
    /// decode and encode it.
    ///
    /// # Panics
    /// As [`RowLayout::encode`].
    pub fn patch(&self, out: &mut Vec<u8>, row: &[u8], columns: &[usize], values: &[Value<'_>]) -> bool {
        assert_eq!(columns.len(), values.len(), "a value for each column");
        let mut added = 0;
        let mut moves = false;
        for (c, value) in columns.iter().zip(values) {
            moves |= self.columns[*c].form == Form::Variable;
            if let Value::Bytes(b) | Value::Json(b) = value {
                added += b.len();
            }
        }
        if row.first_chunk() != Some(&self.usual) || row.len() + added > u16::MAX as usize || (moves && !self.in_order)
        {
            return false;
        }
        let start = out.len();
        let data_at = self.usual_data_at as usize;
        out.extend_from_slice(if moves { &row[..data_at] } else { row });
        for (c, value) in columns.iter().zip(values) {
            let column = &self.columns[*c];
            let (byte, bit) = (start + column.null_at as usize, column.null_bit);
            let at = start + column.at as usize;
            match value {
                Value::Null => {
                    out[byte] |= bit;
                    out[at..at + column.form.bytes()].fill(0);
                }
                value => {
                    out[byte] &= !bit;
                    if column.form != Form::Variable {
                        put_fixed(out, at, column.form, value);
                    }
                }
            }
        }
        if moves {
            let variables = self.columns.iter().enumerate().filter(|(_, c)| c.form == Form::Variable);
            for (i, column) in variables {
                match columns.iter().rposition(|c| *c == i).map(|n| &values[n]) {
                    None => out.extend_from_slice(self.get_bytes(row, i).unwrap_or(&[])),
                    Some(Value::Bytes(b) | Value::Json(b)) => out.extend_from_slice(b),
                    Some(Value::Null) => {}
                    Some(other) => panic!("a column of bytes cannot hold {other:?}"),
                }
                let end = (out.len() - start - data_at) as u16;
                let at = start + column.at as usize;
                out[at..at + 2].copy_from_slice(&end.to_le_bytes());
            }
        }
        true
    }

    /// Column `i` of an encoded row. `None`: it is outside ([`RowLayout::outside`]), or the row was written before the column was added and
    /// is shorter (take the column's default).
    ///
    /// # Panics
    /// When the row is cut short: rows come from checksummed pages.
    #[inline]
    pub fn get<'r>(&self, row: &'r [u8], i: usize) -> Option<Value<'r>> {
        if row.first_chunk() != Some(&self.usual) {
            return self.get_slow(row, i);
        }
        let column = &self.columns[i];
        if column.is_null(row) {
            return Some(Value::Null);
        }
        let at = column.at as usize;
        if column.form != Form::Variable {
            return Some(get_fixed(&row[at..], column.form));
        }
        let end = |at: usize| u16::from_le_bytes([row[at], row[at + 1]]) as usize;
        let from = if column.variable == 0 { 0 } else { end(at - 2) };
        let data = &row[self.usual_data_at as usize..];
        Some(column.value(&data[from..end(at)]))
    }

    /// A row of fewer places, with wide end offsets, or with values outside.
    #[cold]
    fn get_slow<'r>(&self, row: &'r [u8], i: usize) -> Option<Value<'r>> {
        let column = self.columns[i];
        if long::is_whole_outside(row) {
            return None;
        }
        let sections = self.sections(row);
        if column.place as usize >= sections.places || long::is_outside(row, column.place as usize) {
            return None;
        }
        if column.is_null(row) {
            return Some(Value::Null);
        }
        if column.form == Form::Variable {
            return Some(column.value(variable(row, &sections, column.variable as usize)));
        }
        Some(get_fixed(&row[sections.fixed_at + column.fixed as usize..], column.form))
    }

    /// Whether column `i` is NULL; `None` as for [`RowLayout::get`].
    #[inline]
    pub fn is_null(&self, row: &[u8], i: usize) -> Option<bool> {
        let column = &self.columns[i];
        ((column.place as usize) < written_places(row)).then(|| column.is_null(row))
    }

    /// The bytes of column `i` when it is a string that is not NULL and in the row.
    #[inline]
    pub fn get_bytes<'r>(&self, row: &'r [u8], i: usize) -> Option<&'r [u8]> {
        let column = self.columns[i];
        let sections = self.sections(row);
        if column.place as usize >= sections.places || column.form != Form::Variable || column.is_null(row) {
            return None;
        }
        Some(variable(row, &sections, column.variable as usize))
    }

    /// All columns, those behind the end of a shorter row as `None`.
    pub fn values<'r>(&self, row: &'r [u8]) -> impl Iterator<Item = Option<Value<'r>>> {
        (0..self.columns.len()).map(move |i| self.get(row, i))
    }

    #[inline]
    fn sections(&self, row: &[u8]) -> Sections {
        let places = written_places(row);
        let end_bytes = if row[0] & 0x80 == 0 { 2 } else { 4 };
        let (fixed_at, fixed_bytes, variables) = if places == self.places.len() {
            (self.fixed_at as usize, self.fixed_bytes, self.variables)
        } else {
            self.older(places)
        };
        let ends_at = fixed_at + fixed_bytes as usize;
        Sections { places, fixed_at, ends_at, end_bytes, data_at: ends_at + variables as usize * end_bytes }
    }

    /// Start of the fixed columns, their bytes and the number of variable columns in a row of fewer places.
    #[cold]
    fn older(&self, places: usize) -> (usize, u32, u32) {
        assert!(places < self.places.len(), "a row with more columns than its table");
        let next = self.places[places];
        (HEADER + places.div_ceil(8), next.fixed, next.variable)
    }
}

#[inline]
fn written_places(row: &[u8]) -> usize {
    assert_eq!(row[0] & !(0x80 | long::LONG), FORMAT, "unknown row format");
    u16::from_le_bytes([row[1], row[2]]) as usize
}

#[inline]
fn variable<'r>(row: &'r [u8], sections: &Sections, index: usize) -> &'r [u8] {
    &row[variable_range(row, sections, index)]
}

#[inline]
fn variable_range(row: &[u8], sections: &Sections, index: usize) -> std::ops::Range<usize> {
    let end = |index: usize| {
        let at = sections.ends_at + index * sections.end_bytes;
        if sections.end_bytes == 2 {
            u16::from_le_bytes([row[at], row[at + 1]]) as usize
        } else {
            u32::from_le_bytes([row[at], row[at + 1], row[at + 2], row[at + 3]]) as usize
        }
    };
    let from = if index == 0 { 0 } else { end(index - 1) };
    sections.data_at + from..sections.data_at + end(index)
}

fn put_fixed(out: &mut [u8], at: usize, form: Form, value: &Value<'_>) {
    let mut put = |v: u64, bytes: usize| out[at..at + bytes].copy_from_slice(&v.to_le_bytes()[..bytes]);
    match (form, value) {
        (Form::Signed(n), Value::Int(v)) => put(*v as u64, n as usize),
        (Form::Signed(n), Value::UInt(v)) => put(*v, n as usize),
        (Form::Unsigned(n), Value::UInt(v)) => put(*v, n as usize),
        (Form::Unsigned(n), Value::Int(v)) => put(*v as u64, n as usize),
        (Form::Year, Value::UInt(v)) => put(year_to_byte(*v) as u64, 1),
        (Form::Year, Value::Int(v)) => put(year_to_byte(*v as u64) as u64, 1),
        (Form::Float, Value::Double(v)) => put((*v as f32).to_bits() as u64, 4),
        (Form::Double, Value::Double(v)) => put(v.to_bits(), 8),
        (Form::Decimal { precision, scale }, Value::Decimal(v)) => {
            // 65 digits take at most 30 bytes.
            let mut binary = Vec::with_capacity(32);
            v.write_binary(precision as u32, scale, &mut binary);
            out[at..at + binary.len()].copy_from_slice(&binary);
        }
        (Form::Date, Value::Date(v)) => put(v.0 as u64, 3),
        (Form::Time, Value::Time(v)) => put(v.0 as u64, 6),
        (Form::DateTime { fraction: false }, Value::DateTime(v)) => put(v.0 >> 24, 5),
        (Form::DateTime { fraction: true }, Value::DateTime(v)) => put(v.0, 8),
        (form, value) => panic!("a column {form:?} cannot hold {value:?}"),
    }
}

#[inline]
fn get_fixed(bytes: &[u8], form: Form) -> Value<'static> {
    match form {
        Form::Signed(4) => Value::Int(i32::from_le_bytes(first(bytes)) as i64),
        Form::Signed(8) => Value::Int(i64::from_le_bytes(first(bytes))),
        Form::Unsigned(4) => Value::UInt(u32::from_le_bytes(first(bytes)) as u64),
        Form::Unsigned(8) => Value::UInt(u64::from_le_bytes(first(bytes))),
        Form::Signed(n) => {
            let unused = 64 - n as u32 * 8;
            Value::Int((little(bytes, n as usize) << unused) as i64 >> unused)
        }
        Form::Unsigned(n) => Value::UInt(little(bytes, n as usize)),
        Form::Year => Value::UInt(year_from_byte(bytes[0])),
        Form::Float => Value::Double(f32::from_le_bytes(first(bytes)) as f64),
        Form::Double => Value::Double(f64::from_le_bytes(first(bytes))),
        Form::Decimal { precision, scale } => {
            let width = Decimal::binary_bytes(precision as u32, scale);
            let decimal = Decimal::read_binary(&bytes[..width], precision as u32, scale);
            Value::Decimal(decimal.expect("a DECIMAL column holds its own binary form"))
        }
        Form::Date => Value::Date(Date(little(bytes, 3) as u32)),
        Form::Time => Value::Time(Time((little(bytes, 6) << 16) as i64 >> 16)),
        Form::DateTime { fraction: false } => Value::DateTime(DateTime(little(bytes, 5) << 24)),
        Form::DateTime { fraction: true } => Value::DateTime(DateTime(little(bytes, 8))),
        Form::Variable | Form::Nothing => Value::Null,
    }
}

#[inline]
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    *bytes.first_chunk().expect("a row holds its fixed columns")
}

#[inline]
fn little(bytes: &[u8], n: usize) -> u64 {
    let mut wide = [0; 8];
    wide[..n].copy_from_slice(&bytes[..n]);
    u64::from_le_bytes(wide)
}
