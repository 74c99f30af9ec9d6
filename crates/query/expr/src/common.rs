//! The type that several operands have in common: branches of CASE, columns of UNION.

use crate::convert::{is_string, is_unsigned};
use crate::{Expr, Node, compare, number};
use types::{CollationId, DECIMALS_NOT_FIXED, DataType, Result, TypeKind};

/// The type that all branches of CASE, IF, COALESCE, UNION have in common; `operation` for messages.
pub fn common_type(list: &[&Expr], operation: &str) -> Result<DataType> {
    use TypeKind as K;
    let mut typed = list.iter().filter(|e| e.ty.kind != K::Null);
    let nullable = list.iter().any(|e| e.ty.nullable);
    let Some(first) = typed.next() else { return Ok(DataType::new(K::Null)) };
    let mut ty = first.ty;
    if typed.clone().next().is_some() {
        // Beside CHAR and BINARY a list is a CHAR.
        let is_fixed = list.iter().any(|e| matches!(e.ty.kind, K::Char | K::Binary));
        let list_kind = if is_fixed { K::Char } else { K::VarChar };
        let plain = |t: &DataType| match t.kind {
            K::Enum | K::Set => DataType { kind: list_kind, ..*t },
            _ => *t,
        };
        ty = plain(&ty);
        for e in typed.clone() {
            ty = common_of_two(&ty, &plain(&e.ty));
        }
        if is_string(ty.kind) && ty.kind != K::Json && list.len() > 2 {
            // As long as each of them is, strings first, whatever two of them alone would be.
            let all = || std::iter::once(first).chain(typed.clone()).map(|e| json_as_text(&plain(&e.ty)));
            let strings = all().filter(|ty| is_string(ty.kind)).chain(all().filter(|ty| !is_string(ty.kind)));
            ty = strings.reduce(|a, b| common_string(&a, &b)).unwrap_or(ty);
        }
    }
    if ty.kind == K::VarBinary {
        // Marks of a literal that is a number, too, which this is no more.
        (ty.unsigned, ty.zerofill) = (false, false);
    }
    if ty.kind == K::VarBinary || ty.kind.is_text() && ty.collation.is_binary() {
        let collation = compare::result_collation(list, operation)?;
        // Bytes that hold no collation, a literal or what UNHEX gives, give way to a column of characters.
        let gives_way = |e: &Expr| {
            let is_binary = e.ty.kind.is_bytes() || e.ty.kind.is_text() && e.ty.collation.is_binary();
            is_binary && compare::coercibility(e) == compare::COERCIBLE
        };
        if !collation.is_binary() && list.iter().any(|e| gives_way(e)) {
            let are_strings = list.iter().all(|e| is_string(e.ty.kind));
            let longest = list.iter().map(|e| e.ty.length).max().unwrap_or(ty.length);
            ty = match ty.kind {
                K::VarBinary if are_strings => DataType::string(K::VarChar, longest, collation),
                K::VarBinary => DataType::string(K::VarChar, ty.length, collation),
                _ => DataType { collation, ..ty },
            };
        }
    }
    if ty.kind.is_bytes() || ty.kind.is_text() {
        let mut strings = list.iter().filter(|e| e.ty.kind.is_bytes() || e.ty.kind.is_text());
        if !ty.collation.is_binary() || strings.all(|e| e.ty.collation.is_binary()) {
            ty.collation = match operation {
                // Rows of the sides are compared.
                "UNION" | "INTERSECT" | "EXCEPT" => {
                    let collation = compare::collation_for(list, operation)?;
                    compare::check_literals(list, collation)?;
                    collation
                }
                _ => compare::result_collation(list, operation)?,
            };
        }
    }
    ty.nullable = nullable;
    // A bare NULL has a sign.
    ty.unsigned &= ty.kind != K::Decimal || list.iter().all(|e| e.ty.kind != K::Null);
    // Of numbers those of a column alone are filled up.
    ty.zerofill &= list.len() == 1 && !ty.kind.is_numeric() && ty.kind != K::Year;
    Ok(ty)
}

/// The type of a document beside one of another kind.
fn json_as_text(t: &DataType) -> DataType {
    match t.kind {
        TypeKind::Json => DataType::string(TypeKind::LongText, 0, CollationId::UTF8MB4_BIN),
        _ => *t,
    }
}

/// What two types have in common, by MySQL's table.
fn common_of_two(a: &DataType, b: &DataType) -> DataType {
    use TypeKind as K;
    if a.kind == K::Json && b.kind == K::Json {
        return *a;
    }
    let (a, b) = (&json_as_text(a), &json_as_text(b));
    let (x, y) = (a.kind, b.kind);
    if is_string(x) || is_string(y) {
        return common_string(a, b);
    }
    if x.is_temporal() || y.is_temporal() {
        if x == y {
            return DataType { decimals: a.decimals.max(b.decimals), length: a.length.max(b.length), ..*a };
        }
        if x.is_temporal() && y.is_temporal() {
            let decimals = a.decimals.max(b.decimals);
            return DataType { length: 19, decimals, ..DataType::new(K::DateTime) };
        }
        return common_string(a, b);
    }
    let real = |k| matches!(k, K::Double | K::Float);
    if real(x) || real(y) {
        let narrow = |k| matches!(k, K::TinyInt | K::SmallInt | K::MediumInt | K::Year | K::Float);
        // Not the same both ways round.
        let kind = match narrow(x) && narrow(y) || x == K::Float && y == K::BigInt {
            true => K::Float,
            false => K::Double,
        };
        let (length, decimals) = number::common_float(a, b, 0).unwrap_or((23, DECIMALS_NOT_FIXED));
        return DataType { length, decimals, ..DataType::new(kind) };
    }
    if x == K::Decimal || y == K::Decimal {
        let digits = |t: &DataType| match t.kind {
            K::Decimal => (t.length - t.decimals as u32, t.decimals as u32),
            _ => (t.length.saturating_sub(!is_unsigned(t) as u32).clamp(1, 20), 0),
        };
        let ((i, s), (j, r)) = (digits(a), digits(b));
        return DataType::decimal((i.max(j) + s.max(r)).clamp(1, 65), s.max(r) as u8);
    }
    common_integer(a, b)
}

/// How many characters a value of the type may have as a text.
pub fn text_length(t: &DataType) -> u32 {
    use TypeKind as K;
    let fraction = |n: u32| if t.decimals > 0 { n + 1 + u32::from(t.decimals) } else { n };
    match t.kind {
        K::Decimal => t.length + 2,
        K::Double => 22,
        K::Float => 12,
        K::Date => 10,
        K::DateTime | K::Timestamp => fraction(19),
        K::Time => fraction(10),
        _ => t.length.max(1),
    }
}

/// Of two types one of which is a string, or a date beside a number.
fn common_string(a: &DataType, b: &DataType) -> DataType {
    use TypeKind as K;
    let (x, y) = (a.kind, b.kind);
    let base = if is_string(x) && (!is_string(y) || a.max_bytes() >= b.max_bytes()) { a } else { b };
    let is_binary = |t: &DataType| t.kind == K::Bit || is_string(t.kind) && t.collation.is_binary();
    let binary = is_binary(a) || is_binary(b);
    let collation = match base.collation {
        _ if binary => CollationId::BINARY,
        own if is_string(base.kind) => own,
        _ => CollationId::UTF8MB4_0900_AI_CI,
    };
    if x.is_blob() || y.is_blob() {
        return DataType::string(base.kind, base.length, collation);
    }
    let any = |kinds: [K; 2]| kinds.contains(&x) || kinds.contains(&y);
    let kind = match (any([K::Char, K::Binary]) && !any([K::VarChar, K::VarBinary]), binary) {
        (true, false) => K::Char,
        (true, true) => K::Binary,
        (false, false) => K::VarChar,
        (false, true) => K::VarBinary,
    };
    // Binary strings are measured in bytes.
    let bytes = |t: &DataType| if binary && t.kind.is_text() { t.max_bytes() as u32 } else { text_length(t) };
    DataType::string(kind, bytes(a).max(bytes(b)), collation)
}

/// Of two integers, YEAR and BIT among them: the wider type, and the next one where its range is needed for both signs.
fn common_integer(a: &DataType, b: &DataType) -> DataType {
    use TypeKind as K;
    const WIDER: [K; 6] = [K::TinyInt, K::SmallInt, K::MediumInt, K::Int, K::BigInt, K::Decimal];
    let (x, y) = (a.kind, b.kind);
    if x == y && matches!(x, K::Year | K::Bit) {
        return DataType { length: a.length.max(b.length), ..*a };
    }
    let rank = |k: K| match k {
        K::Year => 1,
        k => WIDER.iter().position(|w| *w == k).unwrap_or(4),
    };
    let (wide, unsigned) = (rank(x).max(rank(y)), [a, b].map(is_unsigned));
    let length = a.length.max(b.length);
    if unsigned[0] == unsigned[1] {
        return DataType { length, unsigned: unsigned[0], ..DataType::new(WIDER[wide]) };
    }
    let needs_more = |t: &DataType| is_unsigned(t) && (t.kind == WIDER[wide] || t.kind == K::Bit);
    match WIDER[wide + usize::from(needs_more(a) || needs_more(b))] {
        K::Decimal => {
            let digits = |t: &DataType| if is_unsigned(t) { t.length } else { t.length.saturating_sub(1) };
            DataType::decimal(digits(a).max(digits(b)).clamp(1, 20), 0)
        }
        kind => DataType { length, ..DataType::new(kind) },
    }
}

/// An expression as a column of a temporary table has it: a DECIMAL with all the digits behind the point of its type, of which
/// what is computed may have fewer.
pub fn kept_decimal(e: Expr) -> Expr {
    let is_exact = matches!(e.node, Node::Column { .. } | Node::Const(_) | Node::Aggregate(_) | Node::Window(_));
    match e.ty.kind == TypeKind::Decimal && !is_exact {
        true => {
            let ty = e.ty;
            to_type(e, ty)
        }
        false => e,
    }
}

/// The expression converted to a common type.
pub fn to_type(e: Expr, ty: DataType) -> Expr {
    let ty = DataType { nullable: e.ty.nullable, ..ty };
    Expr::new(Node::Case { whens: Vec::new(), otherwise: Some(Box::new(e)) }, ty)
}
