//! Column types and character sets of definitions: from the tree to [`types::DataType`].

use expr::error::unsupported;
use sql::ast::{BaseType, CharsetOption, CreateColumnType, Name, Parsed};
use types::charset::Charset;
use types::codes::*;
use types::collation::CollationId;
use types::{DataType, Result, TypeKind, err};

/// CHARACTER SET and COLLATE together. Errors 1115, 1253, 1273.
pub fn collation_from(parsed: &Parsed, charset: Option<Name>, collation: Option<Name>) -> Result<Option<CollationId>> {
    let charset = match charset.map(|c| parsed.name(c)) {
        Some(name) if !name.eq_ignore_ascii_case("DEFAULT") => {
            Some((name, Charset::by_name(name).ok_or_else(|| err!(ER_UNKNOWN_CHARACTER_SET, name))?))
        }
        _ => None,
    };
    let collation = match collation.map(|c| parsed.name(c)) {
        Some(name) if !name.eq_ignore_ascii_case("DEFAULT") => {
            Some((name, CollationId::by_name(name).ok_or_else(|| err!(ER_UNKNOWN_COLLATION, name))?))
        }
        _ => None,
    };
    Ok(match (charset, collation) {
        (Some((word, charset)), Some((name, collation))) => {
            if collation.charset() != charset {
                return Err(err!(ER_COLLATION_CHARSET_MISMATCH, name, word));
            }
            Some(collation)
        }
        (None, Some((_, collation))) => Some(collation),
        (Some((_, charset)), None) => {
            let repeated = parsed.utf8mb4_collation.filter(|collation| collation.charset() == charset);
            Some(repeated.unwrap_or(CollationId::default_of(charset)))
        }
        (None, None) => None,
    })
}

/// What a table or a schema says of its collation. Errors 1115, 1273; 1302: two character sets; 1253: a collation of another one.
pub fn declared_collation(parsed: &Parsed, options: &[CharsetOption]) -> Result<Option<CollationId>> {
    let mut declared: Option<CollationId> = None;
    for option in options {
        match option {
            CharsetOption::Charset(name) => {
                let Some(own) = collation_from(parsed, Some(*name), None)? else { continue };
                let set = own.charset();
                match declared.map(CollationId::charset) {
                    None => declared = Some(own),
                    Some(before) if before == set => {}
                    Some(before) => {
                        const WORDS: &str = "CHARACTER SET ";
                        return Err(err!(ER_CONFLICTING_DECLARATIONS, WORDS, before.name(), WORDS, set.name()));
                    }
                }
            }
            CharsetOption::Collation(name) => {
                let Some(own) = collation_from(parsed, None, Some(*name))? else { continue };
                match declared.map(CollationId::charset) {
                    Some(set) if set != own.charset() => {
                        return Err(err!(ER_COLLATION_CHARSET_MISMATCH, own.info().name, set.name()));
                    }
                    _ => declared = Some(own),
                }
            }
        }
    }
    Ok(declared)
}

/// Is the character set or the collation of a column part of its own definition? BINARY alone takes that of the table.
pub fn names_collation(parsed: &Parsed, t: &CreateColumnType) -> bool {
    let named = |n: Option<Name>| n.is_some_and(|n| !parsed.name(n).eq_ignore_ascii_case("DEFAULT"));
    named(t.charset) || named(t.collation) || matches!(t.base, BaseType::NChar | BaseType::NVarChar)
}

/// A column's type as it is stored, and the members of ENUM and SET. `converts`: a VARCHAR or VARBINARY beyond its longest is the
/// TEXT or BLOB that holds so much. Errors 1074, 1425, 1426, 1427, 1439, ...
pub fn column_type(
    parsed: &Parsed,
    name: &str,
    t: &CreateColumnType,
    table_collation: CollationId,
    converts: bool,
) -> Result<(DataType, Vec<String>)> {
    use TypeKind as K;
    let kind = kind_of(t)?;
    let mut data_type = DataType::new(kind);
    data_type.unsigned = t.unsigned || t.zerofill || t.base == BaseType::Serial;
    data_type.zerofill = t.zerofill || kind == K::Year;
    let own = collation_from(parsed, t.charset, t.collation)?;
    let national = matches!(t.base, BaseType::NChar | BaseType::NVarChar);
    let collation = match own {
        Some(collation) => collation,
        None if national => CollationId::UTF8MB3_GENERAL_CI,
        None => table_collation,
    };
    let collation = if t.binary { CollationId::binary_of(collation.charset()) } else { collation };
    if t.oversize && kind != K::Year {
        return Err(err!(ER_TOO_BIG_DISPLAYWIDTH, name, u32::MAX));
    }
    match kind {
        K::TinyInt | K::SmallInt | K::MediumInt | K::Int | K::BigInt => {
            data_type.length = t.length.unwrap_or_else(|| integer_width(&data_type, t));
            at_most(255, data_type.length, name)?;
        }
        K::Decimal => (data_type.length, data_type.decimals) = decimal_digits(name, t)?,
        K::Float | K::Double => {
            if let Some(digits) = float_digits(name, t)? {
                (data_type.length, data_type.decimals) = digits;
            }
        }
        K::Bit => {
            data_type.length = t.length.filter(|n| *n > 0).unwrap_or(1);
            at_most(64, data_type.length, name)?;
        }
        K::Time | K::DateTime | K::Timestamp => {
            let digits = t.length.unwrap_or(0);
            if digits > 6 {
                return Err(err!(ER_TOO_BIG_PRECISION, digits, name, 6));
            }
            data_type.decimals = digits as u8;
        }
        K::Year => {
            if t.length.is_some_and(|n| n != 4) {
                return Err(err!(ER_INVALID_YEAR_COLUMN_LENGTH));
            }
            data_type.length = 4;
        }
        // The text of documents is utf8mb4, compared byte by byte.
        K::Json => data_type.collation = CollationId::UTF8MB4_BIN,
        K::Blob if t.length.is_some() => data_type.kind = sized(K::Blob, u64::from(t.length.unwrap_or(0))),
        K::Char | K::VarChar | K::Binary | K::VarBinary => short_string(&mut data_type, name, t, collation, converts)?,
        K::TinyText | K::Text | K::MediumText | K::LongText => long_text(&mut data_type, t, collation),
        K::Enum | K::Set => {
            let members = members_of(parsed, name, kind, t, collation)?;
            let chars = members.iter().map(|m| m.chars().count() as u32);
            data_type.collation = collation;
            data_type.length = match kind {
                K::Enum => chars.max().unwrap_or(0),
                _ => chars.sum::<u32>() + members.len().saturating_sub(1) as u32,
            };
            return Ok((data_type, members));
        }
        _ => {}
    }
    Ok((data_type, Vec::new()))
}

/// Error 1235 of what there is not.
fn kind_of(t: &CreateColumnType) -> Result<TypeKind> {
    use BaseType as B;
    use TypeKind as K;
    Ok(match t.base {
        B::TinyInt | B::Bool => K::TinyInt,
        B::SmallInt => K::SmallInt,
        B::MediumInt => K::MediumInt,
        B::Int => K::Int,
        B::BigInt | B::Serial => K::BigInt,
        B::Bit => K::Bit,
        B::Decimal => K::Decimal,
        // FLOAT(p) with p above 24 is DOUBLE.
        B::Float if t.scale.is_none() && t.length.is_some_and(|p| p > 24) => K::Double,
        B::Float => K::Float,
        B::Double => K::Double,
        B::Date => K::Date,
        B::Time => K::Time,
        B::DateTime => K::DateTime,
        B::Timestamp => K::Timestamp,
        B::Year => K::Year,
        B::Char | B::NChar => K::Char,
        B::VarChar | B::NVarChar => K::VarChar,
        B::Binary => K::Binary,
        B::VarBinary => K::VarBinary,
        B::TinyText => K::TinyText,
        B::Text => K::Text,
        B::MediumText => K::MediumText,
        B::LongText => K::LongText,
        B::TinyBlob => K::TinyBlob,
        B::Blob => K::Blob,
        B::MediumBlob => K::MediumBlob,
        B::LongBlob => K::LongBlob,
        B::Enum => K::Enum,
        B::Set => K::Set,
        B::Json => K::Json,
        B::Geometry => return Err(unsupported("GEOMETRY")),
    })
}

/// Error 1439 for a width of more than `most`.
fn at_most(most: u32, width: u32, name: &str) -> Result<()> {
    if width > most { Err(err!(ER_TOO_BIG_DISPLAYWIDTH, name, most)) } else { Ok(()) }
}

/// The display width of an integer that names none.
fn integer_width(data_type: &DataType, t: &CreateColumnType) -> u32 {
    let signed = u32::from(!data_type.unsigned);
    match data_type.kind {
        _ if t.base == BaseType::Bool => 1,
        TypeKind::TinyInt => 3 + signed,
        TypeKind::SmallInt => 5 + signed,
        TypeKind::MediumInt => 8 + signed,
        TypeKind::Int => 10 + signed,
        _ => 20,
    }
}

/// Precision and scale. Errors 1425, 1426, 1427.
fn decimal_digits(name: &str, t: &CreateColumnType) -> Result<(u32, u8)> {
    let (precision, scale) = (t.length.filter(|p| *p > 0).unwrap_or(10), t.scale.unwrap_or(0));
    if scale > 30 {
        return Err(err!(ER_TOO_BIG_SCALE, scale, name, 30));
    }
    if precision > 65 {
        return Err(err!(ER_TOO_BIG_PRECISION, precision, name, 65));
    }
    if scale > precision {
        return Err(err!(ER_M_BIGGER_THAN_D, name));
    }
    Ok((precision, scale as u8))
}

/// Width and scale of `FLOAT(m, d)`. Errors 1063, 1425, 1427, 1439.
fn float_digits(name: &str, t: &CreateColumnType) -> Result<Option<(u32, u8)>> {
    let (length, scale) = match (t.length, t.scale) {
        (Some(length), Some(scale)) => (length, scale),
        (Some(precision), None) if precision > 53 => return Err(err!(ER_WRONG_FIELD_SPEC, name)),
        _ => return Ok(None),
    };
    if scale > 30 {
        return Err(err!(ER_TOO_BIG_SCALE, scale, name, 30));
    }
    at_most(255, length, name)?;
    if scale > length {
        return Err(err!(ER_M_BIGGER_THAN_D, name));
    }
    Ok(Some((length, scale as u8)))
}

/// CHAR, VARCHAR, BINARY, VARBINARY. `converts`: what is too long becomes a TEXT or BLOB. Error 1074.
fn short_string(
    data_type: &mut DataType,
    name: &str,
    t: &CreateColumnType,
    collation: CollationId,
    converts: bool,
) -> Result<()> {
    use TypeKind as K;
    let kind = data_type.kind;
    let is_text = matches!(kind, K::Char | K::VarChar);
    let holds_text = is_text && collation != CollationId::BINARY;
    let most = longest(kind, collation);
    if holds_text {
        data_type.collation = collation;
    }
    if converts && matches!(kind, K::VarChar | K::VarBinary) && t.length.is_some_and(|n| n > most) {
        let bytes = u64::from(t.length.unwrap_or(0)) * u64::from(collation.charset().mbmaxlen());
        data_type.kind = sized(if holds_text { K::Text } else { K::Blob }, bytes);
        return Ok(());
    }
    data_type.length = t.length.unwrap_or(1);
    if is_text && !holds_text {
        data_type.kind = if kind == K::Char { K::Binary } else { K::VarBinary };
    }
    if data_type.length > most { Err(err!(ER_TOO_BIG_FIELDLENGTH, name, most)) } else { Ok(()) }
}

/// TINYTEXT, TEXT, MEDIUMTEXT, LONGTEXT.
fn long_text(data_type: &mut DataType, t: &CreateColumnType, collation: CollationId) {
    use TypeKind as K;
    if collation == CollationId::BINARY {
        data_type.kind = match data_type.kind {
            K::TinyText => K::TinyBlob,
            K::Text => K::Blob,
            K::MediumText => K::MediumBlob,
            _ => K::LongBlob,
        };
    } else {
        data_type.collation = collation;
    }
    // TEXT(n) is the smallest type that holds n characters.
    if let Some(length) = t.length {
        let bytes = u64::from(length) * u64::from(collation.charset().mbmaxlen());
        data_type.kind = sized(data_type.kind, bytes);
    }
}

/// The members of an ENUM or SET. Errors 1097, 1291, 3505.
fn members_of(
    parsed: &Parsed,
    name: &str,
    kind: TypeKind,
    t: &CreateColumnType,
    collation: CollationId,
) -> Result<Vec<String>> {
    let member = |m: &sql::ast::Str| String::from_utf8_lossy(parsed.bytes(*m)).trim_end_matches(' ').to_string();
    let members: Vec<String> = t.members.iter().map(member).collect();
    if kind == TypeKind::Set && members.len() > 64 {
        return Err(err!(ER_TOO_BIG_SET, name));
    }
    for (i, member) in members.iter().enumerate() {
        if member.chars().count() > 255 {
            return Err(err!(ER_TOO_LONG_SET_ENUM_VALUE, name));
        }
        let (set, own) = (collation.charset(), collation.charset().from_utf8(member.as_bytes()));
        let same = members[..i].iter().find(|m| collation.equal(&set.from_utf8(m.as_bytes()), &own));
        if let Some(first) = same {
            return Err(err!(
                ER_DUPLICATED_VALUE_IN_TYPE,
                name,
                first,
                if kind == TypeKind::Set { "SET" } else { "ENUM" }
            ));
        }
    }
    Ok(members)
}

fn sized(kind: TypeKind, bytes: u64) -> TypeKind {
    use TypeKind::*;
    let text = kind.is_text();
    match bytes {
        0..=255 if text => TinyText,
        0..=255 => TinyBlob,
        256..=65_535 if text => Text,
        256..=65_535 => Blob,
        65_536..=16_777_215 if text => MediumText,
        65_536..=16_777_215 => MediumBlob,
        _ if text => LongText,
        _ => LongBlob,
    }
}

/// Characters of the longest CHAR or VARCHAR, bytes of the longest BINARY or VARBINARY.
fn longest(kind: TypeKind, collation: CollationId) -> u32 {
    match kind {
        TypeKind::Char | TypeKind::Binary => 255,
        TypeKind::VarChar => 65_535 / collation.charset().mbmaxlen(),
        _ => 65_535,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sql::ast::Statement;

    #[test]
    fn a_repeated_statement_has_its_sessions_collation_of_utf8mb4() {
        let declared = |text: &str, repeated: Option<CollationId>| {
            let mut parsed = sql::parse(text.as_bytes(), sql::SqlMode::default()).unwrap();
            parsed.utf8mb4_collation = repeated;
            let Statement::CreateDatabase(create) = &parsed.statement else { panic!("{text}") };
            declared_collation(&parsed, &create.options.charsets).unwrap()
        };
        let general = CollationId::by_name("utf8mb4_general_ci");
        assert_eq!(declared("CREATE DATABASE d CHARACTER SET utf8mb4", general), general);
        assert_eq!(declared("CREATE DATABASE d CHARACTER SET utf8mb4", None), Some(CollationId::UTF8MB4_0900_AI_CI));
        assert_eq!(
            declared("CREATE DATABASE d CHARACTER SET latin1", general),
            CollationId::by_name("latin1_swedish_ci")
        );
        assert_eq!(declared("CREATE DATABASE d COLLATE utf8mb4_bin", general), CollationId::by_name("utf8mb4_bin"));
    }
}
