//! Properties of the codecs over random values of every type and collation: keys sort as their values compare, are free
//! of prefixes, decode where they promise to; rows give back what was put in, also to a layout with more columns.

use proptest::prelude::*;
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hasher};
use types::key::{decode_part, encode_part, encode_prefix_bounds, is_reversible, part_length, successor};
use types::{
    Charset, CollationId, DataType, Date, DateTime, Decimal, KeyPart, RowLayout, Time, TypeKind, Value,
    collation::COLLATIONS, compare_nulls_first,
};

/// Characters that are near one another in some collation: cases, accents, blanks, controls, ignorables, expansions.
const CHARACTERS: &[char] = &[
    'a', 'A', 'b', 'B', 'á', 'Á', 'ä', 'å', 'z', 's', 'ß', 'é', ' ', ' ', '\t', '\0', '\u{1}', '!', '~', '0', '9', 'ÿ',
    'Æ', '\u{A0}', '\u{AD}', 'Ω', 'ω', '日', '本', '가', '\u{D7A3}', '\u{301}', '\u{133}', 'ﬁ', '😀', '😁', '\u{FFFD}',
];

fn string_of(charset: Charset) -> BoxedStrategy<Vec<u8>> {
    let character = prop_oneof![8 => proptest::sample::select(CHARACTERS), 1 => any::<char>()];
    let encode = move |text: Vec<char>| {
        let mut out = Vec::new();
        for c in text {
            charset.encode(c as u32, &mut out);
        }
        out
    };
    match charset {
        Charset::Binary => {
            proptest::collection::vec(prop_oneof![Just(0), Just(1), Just(255), any::<u8>()], 0..6).boxed()
        }
        _ => prop_oneof![
            9 => proptest::collection::vec(character, 0..6).prop_map(encode),
            1 => (0usize..300).prop_map(|n| vec![b' '; n]).prop_map(|mut v| { v.push(b'!'); v }),
        ]
        .boxed(),
    }
}

fn date() -> impl Strategy<Value = Date> {
    prop_oneof![Just(Date::ZERO), (0u32..=9999, 0u32..=12, 0u32..=31).prop_map(|(y, m, d)| Date::new(y, m, d))]
}

fn values(t: DataType) -> BoxedStrategy<Value<'static>> {
    use TypeKind::*;
    let plain = match t.kind {
        TinyInt | SmallInt | MediumInt | Int | BigInt => {
            let (low, high) = t.integer_bounds();
            let near = prop_oneof![Just(low as i128), Just(high as i128), -2i128..3, any::<i64>().prop_map(i128::from)];
            near.prop_map(move |v| {
                let v = v.clamp(low as i128, high as i128);
                if t.unsigned { Value::UInt(v as u64) } else { Value::Int(v as i64) }
            })
            .boxed()
        }
        TypeKind::Decimal => {
            let digits = proptest::collection::vec(b'0'..=b'9', t.length as usize);
            (digits, 0..=t.length as usize, any::<bool>())
                .prop_map(move |(mut digits, zeros, negative)| {
                    digits[..zeros].fill(b'0');
                    let point = (t.length - t.decimals as u32) as usize;
                    let text =
                        [if negative { b"-0" } else { b"00" }, &digits[..point], b".", &digits[point..]].concat();
                    Value::Decimal(types::Decimal::parse(&text).0)
                })
                .boxed()
        }
        Float => any::<f32>().prop_filter("not NaN", |v| !v.is_nan()).prop_map(|v| Value::Double(v as f64)).boxed(),
        Double => any::<f64>().prop_filter("not NaN", |v| !v.is_nan()).prop_map(Value::Double).boxed(),
        Bit => (0..1u64 << t.length).prop_map(Value::UInt).boxed(),
        Year => prop_oneof![Just(0u64), 1901u64..=2155].prop_map(Value::UInt).boxed(),
        TypeKind::Date => date().prop_map(Value::Date).boxed(),
        TypeKind::Time => (types::Time::MIN.0..=types::Time::MAX.0).prop_map(|v| Value::Time(types::Time(v))).boxed(),
        TypeKind::DateTime | Timestamp => (date(), 0u32..24, 0u32..60, 0u32..60, 0u32..1_000_000)
            .prop_map(move |(date, h, m, s, us)| {
                Value::DateTime(types::DateTime::new(date, h, m, s, if t.decimals > 0 { us } else { 0 }))
            })
            .boxed(),
        Enum => (0u64..=65535).prop_map(Value::UInt).boxed(),
        Set => any::<u64>().prop_map(Value::UInt).boxed(),
        _ => string_of(t.collation.charset()).prop_map(|b| Value::Bytes(b.into())).boxed(),
    };
    if t.nullable { prop_oneof![1 => Just(Value::Null), 9 => plain].boxed() } else { plain }
}

fn types() -> impl Strategy<Value = DataType> {
    use TypeKind::*;
    let mut all: Vec<DataType> = Vec::new();
    for kind in [TinyInt, SmallInt, MediumInt, Int, BigInt] {
        all.extend([DataType::new(kind), DataType::new(kind).unsigned()]);
    }
    all.extend([Float, Double, Year, TypeKind::Date, TypeKind::Time, TypeKind::DateTime, Enum, Set].map(DataType::new));
    all.push(DataType { decimals: 6, ..DataType::new(TypeKind::DateTime) });
    all.extend([1, 9, 63].map(|length| DataType { length, ..DataType::new(Bit) }));
    all.extend([(1, 0), (5, 2), (10, 10), (18, 9), (65, 30), (65, 0), (38, 13)].map(|(p, s)| DataType::decimal(p, s)));
    for c in COLLATIONS {
        let kind = if c.id == CollationId::BINARY { VarBinary } else { VarChar };
        // Collations twice as often as the rest.
        all.extend([DataType::string(kind, 255, c.id); 2]);
    }
    (proptest::sample::select(all), any::<bool>()).prop_map(|(t, nullable)| DataType { nullable, ..t })
}

fn parts() -> impl Strategy<Value = (KeyPart, Value<'static>, Value<'static>)> {
    (types(), any::<bool>()).prop_flat_map(|(t, descending)| {
        let part = KeyPart { descending, ..KeyPart::new(t) };
        (Just(part), values(t), values(t))
    })
}

fn encoded(part: &KeyPart, value: &Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode_part(&mut out, part, value);
    out
}

fn order(part: &KeyPart, a: &Value<'_>, b: &Value<'_>) -> Ordering {
    let order = compare_nulls_first(a, b, part.data_type.collation);
    if part.descending { order.reverse() } else { order }
}

/// Columns with a row of values, and columns that come later with theirs.
fn tables_that_grow() -> impl Strategy<Value = (Vec<DataType>, Vec<Value<'static>>, Vec<DataType>, Vec<Value<'static>>)>
{
    let columns = (proptest::collection::vec(types(), 1..10), proptest::collection::vec(types(), 0..10));
    columns.prop_flat_map(|(columns, added)| {
        let values_of = |columns: &[DataType]| columns.iter().map(|t| values(*t)).collect::<Vec<_>>();
        let (row, later) = (values_of(&columns), values_of(&added));
        (Just(columns), row, Just(added), later)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn keys_sort_as_values_compare((part, a, b) in parts()) {
        let (x, y) = (encoded(&part, &a), encoded(&part, &b));
        let expected = order(&part, &a, &b);
        prop_assert_eq!(x.cmp(&y), expected);
        prop_assert!(expected.is_eq() || !(x.starts_with(&y) || y.starts_with(&x)), "one is a prefix of the other");
        prop_assert_eq!(part_length(&x, &part), Some(x.len()));
        let longer = [&x[..], &[0, 1, 255]].concat();
        prop_assert_eq!(part_length(&longer, &part), Some(x.len()));
        if is_reversible(&part) {
            let mut rest = &longer[..];
            let back = decode_part(&mut rest, &part).expect("a reversible part");
            prop_assert_eq!(rest, &[0, 1, 255]);
            prop_assert!(compare_nulls_first(&back, &a, part.data_type.collation).is_eq(), "{:?} came back", back);
        }
    }

    #[test]
    fn composite_keys_sort_by_their_parts((p, a, b) in parts(), (q, c, d) in parts()) {
        let x = [encoded(&p, &a), encoded(&q, &c)].concat();
        let y = [encoded(&p, &b), encoded(&q, &d)].concat();
        prop_assert_eq!(x.cmp(&y), order(&p, &a, &b).then(order(&q, &c, &d)));
        let (lower, upper) = encode_prefix_bounds(&encoded(&p, &a));
        prop_assert!(lower <= x && upper.is_none_or(|upper| x < upper));
    }

    #[test]
    fn equal_strings_hash_alike((part, a, b) in parts()) {
        if let (Value::Bytes(a), Value::Bytes(b)) = (&a, &b) {
            let hash = |s: &[u8]| {
                let mut h = DefaultHasher::new();
                part.data_type.collation.hash(s, &mut h);
                h.finish()
            };
            if part.data_type.collation.equal(a, b) {
                prop_assert_eq!(hash(a), hash(b));
            }
        }
    }

    #[test]
    fn successors_bound_prefixes(
        key in proptest::collection::vec(prop_oneof![Just(255u8), any::<u8>()], 0..5),
        tail in any::<Vec<u8>>(),
    ) {
        let mut next = key.clone();
        let bounded = successor(&mut next);
        prop_assert_eq!(bounded, key.iter().any(|b| *b < 255));
        prop_assert!(!bounded || [key, tail].concat() < next);
    }

    #[test]
    fn collation_order_is_total(
        id in proptest::sample::select(COLLATIONS.iter().map(|c| c.id).collect::<Vec<_>>()),
        seed in any::<[u8; 18]>(),
    ) {
        let word = |part: &[u8]| {
            let mut out = Vec::new();
            for b in part {
                id.charset().encode(CHARACTERS[*b as usize % CHARACTERS.len()] as u32, &mut out);
            }
            out
        };
        let (a, b, c) = (word(&seed[..6]), word(&seed[6..12]), word(&seed[12..]));
        prop_assert_eq!(id.compare(&a, &b), id.compare(&b, &a).reverse());
        let (x, y) = (id.leading_weights(&a), id.leading_weights(&b));
        prop_assert!(x == y || x.cmp(&y) == id.compare(&a, &b), "{:?} {:?} {:x} {:x}", a, b, x, y);
        // Past the first eight characters, where weights are made in groups.
        let long = [&b"0123456789abcdef-"[..], &a[..]].concat();
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        id.weights(&long, &mut whole);
        id.weights(&[&b"0123456789ABCDEF-"[..], &a[..]].concat(), &mut parts);
        prop_assert_eq!(whole == parts, id.compare(&long, &[&b"0123456789ABCDEF-"[..], &a[..]].concat()).is_eq());
        if id.compare(&a, &b).is_le() && id.compare(&b, &c).is_le() {
            prop_assert!(id.compare(&a, &c).is_le());
        }
    }
}

fn rows() -> impl Strategy<Value = (Vec<DataType>, Vec<Value<'static>>)> {
    proptest::collection::vec(types(), 0..20).prop_flat_map(|columns| {
        let row: Vec<_> = columns.iter().map(|t| values(*t)).collect();
        (Just(columns), row)
    })
}

fn same(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn rows_round_trip(
        (columns, row) in rows(),
        added in proptest::collection::vec(types(), 0..10),
        junk in any::<Vec<u8>>(),
    ) {
        let layout = RowLayout::new(&columns);
        let mut out = junk.clone();
        layout.encode(&mut out, &row);
        prop_assert!(out.starts_with(&junk), "encode appends");
        let bytes = &out[junk.len()..];
        // The table as it is, and after ALTER TABLE ... ADD COLUMN.
        let wider = RowLayout::new(&[&columns[..], &added].concat());
        for (i, value) in row.iter().enumerate() {
            for layout in [&layout, &wider] {
                let got = layout.get(bytes, i).expect("a column of the row");
                prop_assert!(same(&got, value), "column {}: {:?} became {:?}", i, value, got);
                prop_assert_eq!(layout.is_null(bytes, i), Some(value.is_null()));
                if let Value::Bytes(b) = value {
                    prop_assert_eq!(layout.get_bytes(bytes, i), Some(&b[..]));
                }
            }
        }
        for i in columns.len()..wider.columns() {
            prop_assert!(wider.get(bytes, i).is_none());
        }
    }

    #[test]
    fn columns_come_and_go(
        (columns, row, added, later) in tables_that_grow(),
        order in Just((0..20).collect::<Vec<usize>>()).prop_shuffle(),
        dropped in proptest::collection::vec(any::<bool>(), 20),
    ) {
        let mut old = Vec::new();
        RowLayout::new(&columns).encode(&mut old, &row);
        // Some of all places, in another order.
        let places = [&columns[..], &added].concat();
        let kept: Vec<usize> = order.into_iter().filter(|p| *p < places.len() && !dropped[*p]).collect();
        let layout = RowLayout::evolved(&places, &kept);
        let all: Vec<Value<'_>> = row.iter().chain(&later).cloned().collect();
        for (i, place) in kept.iter().enumerate() {
            match layout.get(&old, i) {
                Some(v) => prop_assert!(*place < columns.len() && same(&v, &all[*place])),
                None => prop_assert!(*place >= columns.len()),
            }
            prop_assert_eq!(layout.is_null(&old, i), (*place < columns.len()).then(|| all[*place].is_null()));
        }
        let values: Vec<Value<'_>> = kept.iter().map(|p| all[*p].clone()).collect();
        let mut new = Vec::new();
        layout.encode(&mut new, &values);
        for (i, value) in values.iter().enumerate() {
            prop_assert!(same(&layout.get(&new, i).expect("a column of the row"), value));
            if let Value::Bytes(b) = value {
                prop_assert_eq!(layout.get_bytes(&new, i), Some(&b[..]));
            }
        }
        // What a later layout reads of it.
        let later = RowLayout::evolved(&[&places[..], &columns[..1]].concat(), &[&kept[..], &[places.len()]].concat());
        for (i, value) in values.iter().enumerate() {
            prop_assert!(same(&later.get(&new, i).expect("a column of the row"), value));
        }
        prop_assert!(later.get(&new, kept.len()).is_none());
    }

    #[test]
    fn patched_rows_are_encoded_rows(
        (columns, row, new, which) in proptest::collection::vec(types(), 1..12).prop_flat_map(|columns| {
            let values_of = |columns: &[DataType]| columns.iter().map(|t| values(*t)).collect::<Vec<_>>();
            let (row, new) = (values_of(&columns), values_of(&columns));
            let which = proptest::collection::vec(any::<proptest::sample::Index>(), 0..4);
            (Just(columns), row, new, which)
        }),
        junk in any::<Vec<u8>>(),
    ) {
        let layout = RowLayout::new(&columns);
        let mut old = Vec::new();
        layout.encode(&mut old, &row);
        let set: Vec<usize> = which.iter().map(|i| i.index(columns.len())).collect();
        let changes: Vec<Value<'_>> = set.iter().map(|i| new[*i].clone()).collect();
        let mut patched = junk.clone();
        prop_assert!(layout.patch(&mut patched, &old, &set, &changes));
        let mut whole = row.clone();
        set.iter().for_each(|i| whole[*i] = new[*i].clone());
        let mut wanted = junk;
        layout.encode(&mut wanted, &whole);
        prop_assert_eq!(patched, wanted);
        let wider = RowLayout::new(&[&columns[..], &columns[..1]].concat());
        prop_assert!(!wider.patch(&mut Vec::new(), &old, &set, &changes), "an older row");
    }
}

#[test]
fn rows_with_more_than_64_kib_of_strings() {
    let text = DataType::string(TypeKind::LongText, 0, CollationId::UTF8MB4_0900_AI_CI);
    let layout = RowLayout::new(&[text, DataType::new(TypeKind::Int), text]);
    let long = vec![b'x'; 70_000];
    let mut row = Vec::new();
    layout.encode(&mut row, &[Value::Bytes((&long[..]).into()), Value::Int(-7), Value::Bytes(b"tail"[..].into())]);
    assert_eq!(layout.get_bytes(&row, 0), Some(&long[..]));
    assert_eq!(layout.get(&row, 1), Some(Value::Int(-7)));
    assert_eq!(layout.get_bytes(&row, 2), Some(&b"tail"[..]));
}

#[test]
fn prefix_parts_cut_by_characters() {
    let text = DataType::string(TypeKind::VarChar, 255, CollationId::UTF8MB4_0900_AI_CI).not_null();
    let part = KeyPart { prefix: 2, ..KeyPart::new(text) };
    let key = |s: &str| encoded(&part, &Value::Bytes(s.as_bytes().to_vec().into()));
    assert_eq!(key("日本語"), key("日本"));
    assert_ne!(key("日本"), key("日"));
    assert!(!is_reversible(&part));
}

#[test]
fn values_stay_small() {
    assert!(size_of::<Value<'_>>() <= 48);
    assert!(size_of::<Decimal>() <= 40);
    let _: (Date, Time, DateTime); // the three are plain integers
    assert_eq!((size_of::<Date>(), size_of::<Time>(), size_of::<DateTime>()), (4, 8, 8));
}
