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

/// A document by the bits of `draw`, at most so deep.
fn drawn(draw: &mut impl FnMut(u64) -> u64, depth: usize) -> Json {
    let kinds = if depth == 0 { 8 } else { 10 };
    match draw(kinds) {
        0 => Json::Null,
        1 => Json::Bool(draw(2) == 0),
        2 => Json::Int(draw(u64::MAX) as i64 >> draw(64)),
        3 => Json::UInt(draw(u64::MAX) >> draw(64)),
        4 => Json::Double(draw(1000) as f64 / 8.0),
        5 => Json::String("é".repeat(draw(4) as usize * if draw(20) == 0 { 20_000 } else { 30 })),
        6 => Json::Decimal(crate::Decimal::parse(b"-12.50").0),
        7 => Json::Opaque(opaque::BLOB, vec![7; draw(200) as usize]),
        8 => Json::Array((0..draw(5)).map(|_| drawn(draw, depth - 1)).collect()),
        _ => Json::Object(Object::from_members((0..draw(5)).map(|i| (key(i), drawn(draw, depth - 1))).collect())),
    }
}

fn key(i: u64) -> String {
    "k".repeat(1 + i as usize % 3) + &i.to_string()
}

#[test]
fn parts_are_those_of_the_tree() {
    let mut seed = 1u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) % below
    };
    let (mut found, mut large) = (0, 0);
    for _ in 0..6000 {
        let doc = drawn(&mut draw, 4);
        let bytes = binary::encode(&doc);
        large += usize::from(bytes.len() > 1 << 16);
        let legs: Vec<path::Leg> = (0..draw(4))
            .map(|_| match draw(2) {
                0 => path::Leg::Member(key(draw(5))),
                _ => path::Leg::Cell(path::Index { from_end: draw(2) == 0, n: draw(4) as u32 }),
            })
            .collect();
        let part = part::Part::of(&bytes).unwrap().seek(&legs);
        let path = path::Path { legs };
        let expected = path.seek_one(&doc).unwrap();
        assert_eq!(part.is_some(), expected.is_some(), "{doc:?} {path:?}");
        if let (Some(part), Some(expected)) = (part, expected) {
            found += 1;
            assert_eq!(part.to_document(), Some(binary::encode(expected)));
            assert_eq!(part.length(), Some(expected.length()));
            let mut text = Vec::new();
            part.write(&mut text).unwrap();
            assert_eq!(text, expected.to_text());
            let text = if let Json::String(text) = expected { Some(text.as_bytes()) } else { None };
            assert_eq!(part.string(), text);
        }
    }
    assert!(found > 1000 && large > 10, "the cases must be met: {found} parts, {large} large documents");
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
        let found: Vec<String> = path::parse(path).unwrap().seek(&v).unwrap().into_iter().map(show).collect();
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

#[test]
fn containers_are_small_or_large_as_they_must_be() {
    // Around the length at which offsets no longer have 16 bits, and inside of other containers.
    for length in [65_500, 65_520, 65_524, 65_525, 65_526, 65_527, 65_528, 65_530, 65_536, 70_000] {
        let mut v = Json::Array(vec![Json::Int(1), Json::String("a".repeat(length)), Json::Array(Vec::new())]);
        for _ in 0..3 {
            assert_eq!(binary::decode(&binary::encode(&v)), Some(v.clone()), "{length}");
            v = Json::Object(Object::from_members(vec![("k".to_string(), v), ("l".to_string(), Json::Null)]));
        }
    }
    // A level that costs as much as two of those inside of it would take for ever.
    let deep = format!("{}\"{}\"{}", "[".repeat(99), "a".repeat(70_000), "]".repeat(99));
    let v = doc(&deep);
    let bytes = binary::encode(&v);
    assert_eq!(binary::decode(&bytes), Some(v));
    assert!(binary::tree_bytes(&bytes) >= bytes.len() + 99 * size_of::<Json>());
    assert_eq!(binary::tree_bytes(&binary::encode(&doc("[1, [2, 3], {\"a\": 4}]"))) / size_of::<Json>(), 7);
}

#[test]
fn merging_goes_through_both_once() {
    let (a, b) =
        (doc(r#"{"a": 1, "bb": {"x": 1}, "c": [1]}"#), doc(r#"{"a": null, "bb": {"y": 2}, "c": 2, "d": {"e": null}}"#));
    assert_eq!(
        show(&a.clone().merge_preserve(b.clone())),
        r#"{"a": [1, null], "c": [1, 2], "d": {"e": null}, "bb": {"x": 1, "y": 2}}"#
    );
    assert_eq!(show(&a.merge_patch(b)), r#"{"c": 2, "d": {}, "bb": {"x": 1, "y": 2}}"#);
}

/// Each byte of a document in every other value: what is no document is refused, and nothing panics, recurses without end or takes
/// memory beyond the bytes.
#[test]
fn damaged_binary_documents_are_refused() {
    let mut whole = doc(r#"{"a": {"b": [true, false, null, 1, -70000]}, "c": "text", "d": [[], {}, 2.5]}"#);
    let Json::Object(members) = &mut whole else { panic!("an object") };
    members.insert("e".to_string(), Json::Decimal(crate::Decimal::from_parts(false, 1250, 2)));
    let bytes = binary::encode(&whole);
    for at in 0..bytes.len() {
        for value in 0..=255 {
            let mut changed = bytes.clone();
            changed[at] = value;
            binary::tree_bytes(&changed);
            for document in [binary::decode(&changed), binary::decode_foreign(&changed)].into_iter().flatten() {
                document.to_text();
            }
        }
    }
    // An array that holds itself.
    assert_eq!(binary::decode_foreign(&[2, 1, 0, 7, 0, 2, 0, 0]), None);
    // More elements than there are bytes.
    assert_eq!(binary::decode_foreign(&[3, 255, 255, 255, 255, 8, 0, 0, 0]), None);
}
