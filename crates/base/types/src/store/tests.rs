//! Every expectation here is what a MySQL server answered.

use super::*;

const TEXT: DataType = DataType::string(TypeKind::VarChar, 255, CollationId::UTF8MB4_0900_AI_CI);

fn put(value: Value<'static>, source: DataType, column: DataType, mode: SqlMode) -> (String, u16) {
    let members = ["a".to_string(), "b".to_string()];
    let context = StoreContext { mode, column: "c", row: 1, members: &members };
    match coerce_for_store(value, &source, &column, &context) {
        Ok((stored, warning)) => {
            let text = String::from_utf8_lossy(&stored.to_text(&column)).into_owned();
            (text, warning.map_or(0, |w| w.code))
        }
        Err(e) => (e.message, e.code),
    }
}

fn text(value: &'static str, column: DataType, mode: SqlMode) -> (String, u16) {
    put(Value::Bytes(value.as_bytes().into()), TEXT, column, mode)
}

#[track_caller]
fn check(got: (String, u16), stored: &str, code: u16) {
    assert_eq!(got, (stored.to_string(), code));
}

const LOOSE: SqlMode = SqlMode::NONE;
const STRICT: SqlMode = SqlMode::DEFAULT;

#[test]
fn integers() {
    let tiny = DataType::new(TypeKind::TinyInt);
    check(put(Value::Int(300), DataType::new(TypeKind::BigInt), tiny, LOOSE), "127", 1264);
    check(text("12x", tiny, LOOSE), "12", 1265);
    check(text("x", tiny, LOOSE), "0", 1366);
    check(text("x", tiny, STRICT), "Incorrect integer value: 'x' for column 'c' at row 1", 1366);
    check(text("", tiny, STRICT), "Incorrect integer value: '' for column 'c' at row 1", 1366);
    check(text("1.5", tiny, STRICT), "2", 0);
    check(text(" 7 ", tiny, STRICT), "7", 0);
    check(text("300x", tiny, STRICT), "Out of range value for column 'c' at row 1", 1264);
    check(put(Value::Double(2.5), DataType::new(TypeKind::Double), tiny, STRICT), "2", 0);
    check(put(Value::Int(-1), DataType::new(TypeKind::BigInt), tiny.unsigned(), LOOSE), "0", 1264);
    let big = DataType::new(TypeKind::BigInt);
    check(text("9223372036854775808", big, LOOSE), "9223372036854775807", 1264);
    check(text("1e3", big.unsigned(), STRICT), "1000", 0);
    check(text("1e99", big.unsigned(), LOOSE), "18446744073709551615", 1264);
    let date = Value::Date(Date::new(2024, 1, 2));
    check(put(date, DataType::new(TypeKind::Date), big, STRICT), "20240102", 0);
}

#[test]
fn decimals_and_doubles() {
    let d = DataType::decimal(5, 2);
    check(text("1234.5", d, LOOSE), "999.99", 1264);
    check(text("1.235", d, STRICT), "1.24", 1265);
    check(text("x", d, LOOSE), "0.00", 1366);
    check(text("1.2x", d, STRICT), "Incorrect decimal value: '1.2x' for column 'c' at row 1", 1366);
    check(put(Value::Double(1.2355), DataType::new(TypeKind::Double), d, STRICT), "1.24", 1265);
    let float = DataType::new(TypeKind::Float);
    check(text("1e50", float, LOOSE), "3.40282e38", 1264);
    check(text("x", float, STRICT), "Incorrect FLOAT value: 'x' for column 'c' at row 1", 1366);
    check(text("-1", float.unsigned(), LOOSE), "0", 1264);
    check(text("1e400", DataType::new(TypeKind::Double), STRICT), "Out of range value for column 'c' at row 1", 1264);
}

#[test]
fn strings() {
    let v = DataType::string(TypeKind::VarChar, 3, CollationId::UTF8MB4_0900_AI_CI);
    check(text("abcd", v, LOOSE), "abc", 1265);
    check(text("abcd", v, STRICT), "Data too long for column 'c' at row 1", 1406);
    check(text("abc  ", v, STRICT), "abc", 1265);
    check(text("日本語", v, STRICT), "日本語", 0);
    check(put(Value::Int(12345), DataType::new(TypeKind::BigInt), v, LOOSE), "123", 1265);
    let c = DataType { kind: TypeKind::Char, ..v };
    check(text("ab   ", c, STRICT), "ab", 0);
    let b = DataType::string(TypeKind::Binary, 3, CollationId::BINARY);
    check(text("a", b, STRICT), "a\0\0", 0);
    let binary = DataType::string(TypeKind::VarBinary, 9, CollationId::BINARY);
    let bad = put(Value::Bytes(b"\xFF".into()), binary, v, STRICT);
    check(bad, "Incorrect string value: '\\xFF' for column 'c' at row 1", 1366);
    let latin = DataType::string(TypeKind::VarChar, 9, CollationId::LATIN1_SWEDISH_CI);
    check(put(Value::Bytes(b"\xE9".into()), latin, v, STRICT), "é", 0);
    check(text("aΩ", latin, LOOSE), "a?", 1366);
}

#[test]
fn temporals() {
    let date = DataType::new(TypeKind::Date);
    check(text("2024-02-30", date, LOOSE), "0000-00-00", 1264);
    check(text("2024-02-30", date, STRICT), "Incorrect date value: '2024-02-30' for column 'c' at row 1", 1292);
    check(text("x", date, LOOSE), "0000-00-00", 1265);
    check(text("2024-01-01 10:00:00", date, STRICT), "2024-01-01", 1292);
    check(text("2024-01-01x", date, LOOSE), "2024-01-01", 1265);
    check(text("0000-00-00", date, LOOSE), "0000-00-00", 0);
    check(text("0000-00-00", date, STRICT), "Incorrect date value: '0000-00-00' for column 'c' at row 1", 1292);
    let datetime = DataType::new(TypeKind::DateTime);
    check(text("2024-01-01 10:00:00.6", datetime, STRICT), "2024-01-01 10:00:01", 0);
    check(text("2024-01-01 10:00:00x", datetime, LOOSE), "2024-01-01 10:00:00", 1265);
    let time = DataType::new(TypeKind::Time);
    check(text("900:00:00", time, LOOSE), "838:59:59", 1264);
    check(text("10:00:00x", time, LOOSE), "10:00:00", 1265);
    check(text("2024-01-01 10:11:12", time, LOOSE), "10:11:12", 1265);
    let noon = Value::DateTime(parse_datetime(b"2024-01-01 10:11:12", LOOSE).expect("a date").value);
    check(put(noon, DataType::new(TypeKind::DateTime), time, LOOSE), "10:11:12", 0);
    check(put(Value::Int(1275), DataType::new(TypeKind::BigInt), time, LOOSE), "00:00:00", 1264);
    let year = DataType::new(TypeKind::Year);
    for (given, stored, code) in
        [("1", "2001", 0), ("99", "1999", 0), ("0", "2000", 0), ("70x", "1970", 1265), ("2156", "0000", 1264)]
    {
        check(text(given, year, LOOSE), stored, code);
    }
}

#[test]
fn enums_sets_and_bits() {
    let e = DataType { kind: TypeKind::Enum, ..TEXT };
    for (given, stored, code) in [("A", "1", 0), ("2", "2", 0), ("c", "0", 1265), ("", "0", 1265), ("3", "0", 1265)] {
        check(text(given, e, LOOSE), stored, code);
    }
    let s = DataType { kind: TypeKind::Set, ..TEXT };
    for (given, stored, code) in [("a,b", "3", 0), ("a,z", "1", 1265), ("B", "2", 0), ("", "0", 0), ("3", "3", 0)] {
        check(text(given, s, LOOSE), stored, code);
    }
    check(put(Value::Int(4), DataType::new(TypeKind::BigInt), s, LOOSE), "0", 1265);
    let bit = DataType { length: 3, ..DataType::new(TypeKind::Bit) };
    check(text("1", bit, LOOSE), "\u{7}", 1264);
    check(
        put(Value::Int(8), DataType::new(TypeKind::BigInt), bit, STRICT),
        "Data too long for column 'c' at row 1",
        1406,
    );
}
