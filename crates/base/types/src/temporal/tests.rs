use super::parse::{Parsed, datetime_from_number, parse_datetime, parse_time, time_from_number};
use super::*;

fn show(value: Option<Parsed<DateTime>>) -> String {
    let Some(parsed) = value else { return "NULL".into() };
    let mut out = Vec::new();
    parsed.value.write(parsed.fsp, &mut out);
    String::from_utf8(out).unwrap()
}

/// Each expected value is what MySQL answers to CAST(... AS DATETIME(6)), cut to the digits given.
#[test]
fn liberal_datetime_literals() {
    for (text, expected) in [
        ("2024-02-29 12:34:56", "2024-02-29 12:34:56"),
        ("2024-02-29T12:34:56.789", "2024-02-29 12:34:56.789"),
        ("2024-2-3 4:5:6", "2024-02-03 04:05:06"),
        ("2024-2-3", "2024-02-03 00:00:00"),
        ("24-02-29", "2024-02-29 00:00:00"),
        ("70/1/1", "1970-01-01 00:00:00"),
        ("20240229", "2024-02-29 00:00:00"),
        ("240229", "2024-02-29 00:00:00"),
        ("20240229123456", "2024-02-29 12:34:56"),
        ("240229123456", "2024-02-29 12:34:56"),
        ("2024-01-01 23:59:59.9999999", "2024-01-02 00:00:00.000000"),
        ("2024-02-30", "NULL"),
        ("2023-02-29", "NULL"),
        ("2024-13-01", "NULL"),
        ("2024-01-01 24:00:00", "NULL"),
        ("abc", "NULL"),
        ("", "NULL"),
        ("0000-00-00", "0000-00-00 00:00:00"),
        ("2024-00-00", "2024-00-00 00:00:00"),
        ("2024-01-01 10:00:00+02:00", "2024-01-01 08:00:00"),
        ("2024.01.02.03.04.05", "2024-01-02 03:04:05"),
        ("1-2-3", "0001-02-03 00:00:00"),
        ("2024-001-02", "2024-01-02 00:00:00"),
        ("12024-01-02", "NULL"),
        ("2024-01-0203", "NULL"),
        ("2024-01-02 03:04:05+15:00", "NULL"),
        (" 2024-01-02 ", "2024-01-02 00:00:00"),
    ] {
        assert_eq!(show(parse_datetime(text.as_bytes(), SqlMode::NONE)), expected, "{text}");
    }
    assert_eq!(parse_datetime(b"2024-01-02 x", SqlMode::NONE).unwrap().problem, Problem::Truncated);
    for (text, expected) in [
        ("2024:01:02", Some((b':', 4, Some(b'-')))),
        ("2024-01-02 3-4-5", Some((b'-', 12, Some(b':')))),
        ("2024-01-02-3:4:5", Some((b'-', 10, Some(b' ')))),
        ("2024-01-02  3:4:5", Some((b' ', 11, None))),
        ("2024-01-02 3::4:5", Some((b':', 13, None))),
        ("2024-01-02 ", Some((b' ', 10, None))),
        (" 2024-01-02", Some((b' ', 0, None))),
        ("1-2-3 4:5:6.7 .", Some((b' ', 13, None))),
        ("2024-01-02T3:4:5", None),
        ("20240102.5", None),
    ] {
        let found = parse_datetime(text.as_bytes(), SqlMode::NONE).and_then(|p| p.delimiter);
        assert_eq!(found.map(|d| (d.byte, d.position, d.preferred)), expected, "{text}");
    }
    for none in ["20240102 030405", "1-2-3 4:5: 6", "1-2-3 4-5-6-", "2024-01-02 10:11:12+1:00", "20240102T"] {
        assert_eq!(parse_datetime(none.as_bytes(), SqlMode::NONE), None, "{none}");
    }
    assert_eq!(parse_datetime(b"0000-00-00", SqlMode::DEFAULT), None);
    assert_eq!(parse_datetime(b"2024-00-01", SqlMode::DEFAULT), None);
    assert!(parse_datetime(b"2024-02-31", SqlMode::ALLOW_INVALID_DATES).is_some());
}

#[test]
fn numbers_as_dates_and_times() {
    let date = |n| show(datetime_from_number(n, 0, SqlMode::NONE));
    assert_eq!(date(20240229), "2024-02-29 00:00:00");
    assert_eq!(date(240229), "2024-02-29 00:00:00");
    assert_eq!(date(700101), "1970-01-01 00:00:00");
    assert_eq!(date(20240229123456), "2024-02-29 12:34:56");
    assert_eq!(date(100), "NULL");
    assert_eq!(date(0), "0000-00-00 00:00:00");
    assert_eq!(time_from_number(-123456, 0).unwrap().value, Time::new(true, 12, 34, 56, 0));
    assert_eq!(time_from_number(1275, 0), None);
    assert_eq!(time_from_number(9_000_000, 0).unwrap().value, Time::MAX);
}

#[test]
fn time_literals() {
    let show = |text: &str| {
        let Some(parsed) = parse_time(text.as_bytes(), SqlMode::NONE) else { return "NULL".to_string() };
        let mut out = Vec::new();
        parsed.value.write(parsed.fsp, &mut out);
        String::from_utf8(out).unwrap()
    };
    for (text, expected) in [
        ("12:34:56", "12:34:56"),
        ("-1 2:03:04.5", "-26:03:04.5"),
        ("12:34", "12:34:00"),
        ("1234", "00:12:34"),
        ("123456.789", "12:34:56.789"),
        ("900:00:00", "838:59:59"),
        ("2024-01-02 03:04:05", "03:04:05"),
        ("5 10", "130:00:00"),
        ("10:11:12.1234567", "10:11:12.123457"),
        ("00:60:00", "NULL"),
        ("x", "NULL"),
    ] {
        assert_eq!(show(text), expected, "{text}");
    }
}

#[test]
fn day_numbers_count_every_day_of_the_calendar() {
    assert_eq!(Date::new(1970, 1, 1).to_days(), calendar::DAYS_1970);
    assert_eq!(Date::new(9999, 12, 31).to_days(), calendar::DAYS_MAX);
    let mut days = Date::new(1, 1, 1).to_days();
    for year in 1..=9999 {
        for month in 1..=12 {
            for day in 1..=days_in_month(year, month) {
                let date = Date::new(year, month, day);
                assert_eq!(date.to_days(), days);
                assert_eq!(Date::from_days(days), date);
                days += 1;
            }
        }
    }
}

#[test]
fn weeks_weekdays_and_intervals() {
    // SELECT WEEK('2008-02-20', m), WEEK('2008-12-31', m) for m in 0..8 on a MySQL server.
    let weeks = |date: Date| (0..8).map(|m| date.week(m).1).collect::<Vec<_>>();
    assert_eq!(Date::new(2008, 2, 20).week(0).1, 7);
    assert_eq!(Date::new(2008, 2, 20).week(1).1, 8);
    assert_eq!(weeks(Date::new(2008, 12, 31)), [52, 53, 52, 1, 53, 52, 53, 52]);
    assert_eq!(Date::new(1987, 1, 1).week(0), (1987, 0));
    assert_eq!(Date::new(2026, 11, 21).weekday(), 5);
    let at = |text: &str| parse_datetime(text.as_bytes(), SqlMode::NONE).unwrap().value;
    let month = Interval::new(IntervalUnit::Month, 1);
    assert_eq!(at("2024-01-31").add(month), Some(at("2024-02-29")));
    assert_eq!(at("2024-03-31 10:00:00").add(month.neg()), Some(at("2024-02-29 10:00:00")));
    let composite = Interval::parse(IntervalUnit::DaySecond, b"1 1:1:1").expect("four numbers");
    assert_eq!(at("2024-12-30 23:00:00").add(composite), Some(at("2025-01-01 00:01:01")));
    let short = Interval::parse(IntervalUnit::SecondMicrosecond, b"-1.5");
    assert_eq!(short, Some(Interval { months: 0, micros: -1_500_000 }));
    assert_eq!(Interval::parse(IntervalUnit::YearMonth, b"2021-13-01"), None);
    assert_eq!(at("9999-12-31").add(Interval::new(IntervalUnit::Day, 1)), None);
    assert_eq!(DateTime::from_unix(0, 0), Some(at("1970-01-01")));
}
