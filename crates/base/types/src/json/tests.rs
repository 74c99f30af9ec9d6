//! Results are MySQL 9.7's.

use super::*;

fn doc(text: &str) -> Json {
    parse::parse(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

fn show(v: &Json) -> String {
    String::from_utf8(v.to_text()).unwrap()
}

#[test]
fn text_is_normalised() {
    for (given, expected) in [
        (r#"{"bb":1,"a":[1.0,2e3,-0,"x\u0041\n"],"a":null}"#, r#"{"a": null, "bb": 1}"#),
        (
            r#" [ 1.0 , 1e20, 18446744073709551615, 18446744073709551616, true ] "#,
            "[1.0, 1e20, 18446744073709551615, 1.8446744073709552e19, true]",
        ),
        (r#""\ud83d\ude00\u0001""#, "\"😀\\u0001\""),
        ("{}", "{}"),
    ] {
        assert_eq!(show(&doc(given)), expected);
    }
}

#[test]
fn binary_form_comes_back() {
    let big = format!("[{}]", vec![r#"{"n": [70000, -70000, 5000000000], "key": "0123456789"}"#; 3000].join(", "));
    for text in [r#"{"a": [1, -2, 3.5, true, null, "é"], "b": {"c": {}}}"#, "[]", "7", "\"x\"", &big] {
        let v = doc(text);
        assert_eq!(show(&binary::decode(&binary::encode(&v)).unwrap()), text);
    }
    let v = Json::Array(vec![
        Json::Decimal(crate::Decimal::parse(b"12.50").0),
        Json::Opaque(opaque::BLOB, vec![1, 2, 255]),
        Json::UInt(7),
    ]);
    assert_eq!(binary::decode(&binary::encode(&v)), Some(v.clone()));
    assert_eq!(show(&v), r#"[12.50, "base64:type252:AQL/", 7]"#);
    // Cut anywhere it is no document, and nothing panics.
    let bytes = binary::encode(&doc(r#"{"a": [1, 70000, "xyz", 2.5]}"#));
    for n in 0..bytes.len() {
        assert_eq!(binary::decode(&bytes[..n]), None);
    }
}

#[test]
fn paths_lead_where_mysql_goes() {
    let v = doc(r#"{"a": [1, 2, {"b": 3}], "b": {"a": 4}, "c d": 5}"#);
    for (path, expected) in [
        ("$.a[0]", "1"),
        ("$.a[last].b", "3"),
        ("$.a[last-1]", "2"),
        ("$.a[1 to last]", r#"2,{"b": 3}"#),
        ("$**.b", r#"{"a": 4},3"#),
        ("$.\"c d\"", "5"),
        ("$.b[0][last].a", "4"),
        ("$.a[*].b", "3"),
        ("$.nope", ""),
    ] {
        let found: Vec<String> = path::parse(path).unwrap().seek(&v).into_iter().map(show).collect();
        assert_eq!(found.join(","), expected, "{path}");
    }
    for (path, at) in [("$.a[", 4), ("a", 1), ("$.", 2), ("$**", 3)] {
        assert_eq!(path::parse(path), Err(at), "{path}");
    }
}

#[test]
fn order_is_by_kind_then_value() {
    let ordered =
        ["null", "-1", "1.5", "2", r#""a""#, r#""b""#, "{}", r#"{"a": 1}"#, "[]", "[1]", "[1, 2]", "false", "true"];
    for (i, a) in ordered.iter().enumerate() {
        for (j, b) in ordered.iter().enumerate() {
            assert_eq!(doc(a).compare(&doc(b)), i.cmp(&j), "{a} {b}");
        }
    }
    assert!(doc("9007199254740993").compare(&doc("9007199254740992.0")).is_gt());
}
