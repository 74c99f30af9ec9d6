//! Expressions: one value each, as MySQL 8.4 shows it.

mod common;

use common::Database;

#[test]
fn values() {
    let mut db = Database::new();
    for (text, wanted) in [
        ("1 + 1", "2"),
        ("7 / 2", "3.5000"),
        ("1 / 0", "NULL"),
        ("7 DIV 2", "3"),
        ("-7 % 3", "-1"),
        ("1.10 + 2.205", "3.305"),
        ("'3 apples' + 1", "4"),
        ("1e2 * 2", "200"),
        ("2 = 2.0", "1"),
        ("'a' = 'A'", "1"),
        ("BINARY 'a' = 'A'", "0"),
        ("NULL = NULL", "NULL"),
        ("NULL <=> NULL", "1"),
        ("NULL AND 0", "0"),
        ("NULL OR 1", "1"),
        ("NOT NULL", "NULL"),
        ("1 IN (2, NULL)", "NULL"),
        ("1 IN (1, NULL)", "1"),
        ("5 BETWEEN 1 AND NULL", "NULL"),
        ("0 BETWEEN 1 AND NULL", "0"),
        ("'abc' LIKE 'A_c'", "1"),
        ("5 & 3 | 8", "9"),
        ("~0", "18446744073709551615"),
        ("CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' END", "b"),
        ("IF(1 > 2, 'x', 'y')", "y"),
        ("IFNULL(NULL, 3)", "3"),
        ("NULLIF(1, 1)", "NULL"),
        ("COALESCE(NULL, 'a', 'b')", "a"),
        ("CONCAT('a', 1, 2.5)", "a12.5"),
        ("CONCAT_WS('-', 'a', NULL, 'b')", "a-b"),
        ("SUBSTRING('hello', 2, 3)", "ell"),
        ("SUBSTRING('hello', -3)", "llo"),
        ("LEFT('hello', 2)", "he"),
        ("LPAD('7', 3, '0')", "007"),
        ("TRIM('  a ')", "a"),
        ("UPPER('añb')", "AÑB"),
        ("CHAR_LENGTH('añb')", "3"),
        ("LENGTH('añb')", "4"),
        ("LOCATE('B', 'abc')", "2"),
        ("REPLACE('abab', 'a', 'x')", "xbxb"),
        ("REVERSE('añb')", "bña"),
        ("HEX(255)", "FF"),
        ("HEX('abc')", "616263"),
        ("UNHEX('4D79')", "My"),
        ("MD5('a')", "0cc175b9c0f1b6a831c399e269772661"),
        ("SHA1('a')", "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"),
        ("CONV('ff', 16, 10)", "255"),
        ("BIN(5)", "101"),
        ("CRC32('MySQL')", "3259397556"),
        ("ROUND(2.5)", "3"),
        ("ROUND(-1.58, 1)", "-1.6"),
        ("TRUNCATE(1.999, 1)", "1.9"),
        ("FLOOR(-1.5)", "-2"),
        ("CEIL(1.2)", "2"),
        ("ABS(-3)", "3"),
        ("MOD(7, 4)", "3"),
        ("POW(2, 10)", "1024"),
        ("FORMAT(1234567.891, 2)", "1,234,567.89"),
        ("GREATEST(1, 5, 3)", "5"),
        ("LEAST('b', 'a')", "a"),
        ("FIELD('b', 'a', 'b')", "2"),
        ("ELT(2, 'a', 'b')", "b"),
        ("INET_ATON('10.0.0.1')", "167772161"),
        ("INET_NTOA(167772161)", "10.0.0.1"),
        ("CAST('12' AS SIGNED) + 1", "13"),
        ("CAST(1.567 AS DECIMAL(4,1))", "1.6"),
        ("CAST('2024-02-30' AS DATE)", "NULL"),
        ("DATE '2024-01-31' + INTERVAL 1 MONTH", "2024-02-29"),
        ("DATE_ADD('2024-01-01', INTERVAL 36 HOUR)", "2024-01-02 12:00:00"),
        ("DATEDIFF('2024-03-01', '2024-02-01')", "29"),
        ("DATE_FORMAT('2024-03-01 14:05:09', '%W %D %M %Y %h:%i:%s %p')", "Friday 1st March 2024 02:05:09 PM"),
        ("EXTRACT(YEAR_MONTH FROM '2024-03-01')", "202403"),
        ("YEAR('2024-03-01')", "2024"),
        ("LAST_DAY('2024-02-05')", "2024-02-29"),
        ("TIMESTAMPDIFF(MONTH, '2024-01-31', '2024-03-01')", "1"),
        ("NOW()", "2023-11-14 23:13:20"),
        ("UNIX_TIMESTAMP('2023-11-14 23:13:20')", "1700000000"),
        ("FROM_UNIXTIME(1700000000)", "2023-11-14 23:13:20"),
        ("DATABASE()", "test"),
        ("CONNECTION_ID()", "7"),
        ("USER()", "root@localhost"),
        ("@x := 5", "5"),
        ("(1, 2) = (1, 2)", "1"),
        ("(1, 2) IN ((3, 4), (1, 2))", "1"),
        ("1 XOR 1", "0"),
        ("STRCMP('a', 'b')", "-1"),
        ("INTERVAL(23, 1, 15, 17, 30, 44)", "3"),
        ("SUBSTRING_INDEX('www.mysql.com', '.', -2)", "mysql.com"),
        ("INSERT('Quadratic', 3, 4, 'What')", "QuWhattic"),
        ("TO_BASE64('abc')", "YWJj"),
        ("FROM_BASE64('YWJj')", "abc"),
        ("BIT_COUNT(29)", "4"),
    ] {
        assert_eq!(db.rows(&format!("SELECT {text}")), [wanted], "{text}");
    }
}

#[test]
fn errors_and_names() {
    let mut db = Database::new();
    for (text, code) in [
        ("SELECT nosuch", 1054),
        ("SELECT nosuch(1)", 1305),
        ("SELECT LENGTH()", 1582),
        ("SELECT 9223372036854775807 + 1", 1690),
        ("SELECT (SELECT 1 UNION ALL SELECT 2)", 1242),
        ("SELECT (SELECT 1, 2)", 1241),
        ("SELECT * ", 1096),
        ("SELECT 1 UNION SELECT 1, 2", 1222),
        ("SELECT COUNT(*) FROM (SELECT 1 a, 2 a) t", 1060),
        ("SELECT CAST(1 AS SIGNED ARRAY)", 1235),
        ("SELECT 1 WHERE ROW_NUMBER() OVER () = 1", 3593),
    ] {
        assert_eq!(db.error(text).0, code, "{text}");
    }
    let names = db.run("SELECT 1 + 1, 'x', 2 AS two, now() ").unwrap().1.names;
    assert_eq!(names, ["1 + 1", "x", "two", "now()"]);
}

/// Mangled fragments and paths end in a value or an error, and the values are those of the function: a text or NULL.
#[test]
fn xml_of_anything() {
    let mut db = Database::new();
    let fragments =
        ["<a k=\"1\"><b>x</b><!-- c --><b d='2'/></a>", "<?p q=\"1\"?><!DOCTYPE a SYSTEM \"s\"><a><![CDATA[<]]></a>"];
    let paths = [
        "/a/b[@k=\"1\" and position()<last()]/../*[1]|//b",
        "count(//b[contains(.,\"x\")])+sum(/a/@k)*-2 div 3",
        "substring(concat(/a,\"y\"),2,$@v)!=string-length(/a/descendant-or-self::b)",
    ];
    let pieces = [
        "<",
        ">",
        "/",
        "[",
        "]",
        "(",
        ")",
        "\"",
        "&",
        "<!--",
        "]]>",
        "<![CDATA[",
        "?",
        "!",
        "é",
        "::",
        "..",
        "@",
        "$",
        "|",
        "-",
        "9",
    ];
    for seed in common::seeds(1..300) {
        let mut random = common::Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut mangle = |text: &str| {
            let mut text: Vec<char> = text.chars().collect();
            for _ in 0..=random.next(3) {
                let at = random.next(text.len() as u64 + 1) as usize;
                match random.next(3) {
                    0 => text.truncate(at.max(1)),
                    1 => drop(text.drain(at..(at + 2).min(text.len()))),
                    _ => drop(text.splice(at..at, random.of(&pieces).chars())),
                }
            }
            String::from_iter(text).replace('\'', "''")
        };
        let fragment = mangle(fragments[seed as usize % fragments.len()]);
        let path = mangle(paths[seed as usize % paths.len()]);
        for text in
            [format!("EXTRACTVALUE('{fragment}', '{path}')"), format!("UPDATEXML('{fragment}', '{path}', 'new')")]
        {
            match db.run(&format!("SELECT {text}, ISNULL({text}) IN (0, 1)")) {
                Ok((_, rows)) => assert!(rows.rows[0].ends_with('1'), "{text}"),
                Err(e) => assert!(matches!(e.code, 1105 | 1690), "{text}: {} {}", e.code, e.message),
            }
        }
    }
    assert_eq!(db.error(&format!("SELECT EXTRACTVALUE('<a/>', '/{}')", "a/".repeat(5000))).0, 1105);
    assert_eq!(db.error(&format!("SELECT EXTRACTVALUE('<a/>', '1{}')", "+1".repeat(5000))).0, 1105);
}
