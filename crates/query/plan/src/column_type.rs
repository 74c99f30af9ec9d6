//! Column types and character sets of definitions: from the tree to [`types::DataType`].

use expr::error::unsupported;
use sql::ast::{BaseType, CharsetOption, CreateColumnType, Name, Parsed};
use types::charset::Charset;
use types::collation::CollationId;
use types::{DataType, Result, TypeKind, err};

/// CHARACTER SET and COLLATE together. Errors 1115, 1253, 1273.
pub fn collation_from(parsed: &Parsed, charset: Option<Name>, collation: Option<Name>) -> Result<Option<CollationId>> {
    let charset = match charset.map(|c| parsed.name(c)) {
        Some(name) if !name.eq_ignore_ascii_case("DEFAULT") => {
            Some((name, Charset::by_name(name).ok_or_else(|| err!(1115, name))?))
        }
        _ => None,
    };
    let collation = match collation.map(|c| parsed.name(c)) {
        Some(name) if !name.eq_ignore_ascii_case("DEFAULT") => {
            Some((name, CollationId::by_name(name).ok_or_else(|| err!(1273, name))?))
        }
        _ => None,
    };
    Ok(match (charset, collation) {
        (Some((word, charset)), Some((name, collation))) => {
            if collation.charset() != charset {
                return Err(err!(1253, name, word));
            }
            Some(collation)
        }
        (None, Some((_, collation))) => Some(collation),
        (Some((_, charset)), None) => Some(CollationId::default_of(charset)),
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
                        return Err(err!(1302, WORDS, before.name(), WORDS, set.name()));
                    }
                }
            }
            CharsetOption::Collation(name) => {
                let Some(own) = collation_from(parsed, None, Some(*name))? else { continue };
                match declared.map(CollationId::charset) {
                    Some(set) if set != own.charset() => return Err(err!(1253, own.info().name, set.name())),
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
    use BaseType as B;
    use TypeKind as K;
    let kind = match t.base {
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
    };
    let mut data_type = DataType::new(kind);
    data_type.unsigned = t.unsigned || t.zerofill || t.base == B::Serial;
    data_type.zerofill = t.zerofill || kind == K::Year;
    let own = collation_from(parsed, t.charset, t.collation)?;
    let national = matches!(t.base, B::NChar | B::NVarChar);
    let collation = match own {
        Some(collation) => collation,
        None if national => CollationId::UTF8MB3_GENERAL_CI,
        None => table_collation,
    };
    let collation = if t.binary { CollationId::binary_of(collation.charset()) } else { collation };
    let binary = collation == CollationId::BINARY;
    if t.oversize && kind != K::Year {
        return Err(err!(1439, name, u32::MAX));
    }
    match kind {
        K::TinyInt | K::SmallInt | K::MediumInt | K::Int | K::BigInt => {
            let signed = u32::from(!data_type.unsigned);
            let width = match kind {
                _ if t.base == B::Bool => 1,
                K::TinyInt => 3 + signed,
                K::SmallInt => 5 + signed,
                K::MediumInt => 8 + signed,
                K::Int => 10 + signed,
                _ => 20,
            };
            data_type.length = t.length.unwrap_or(width);
            if data_type.length > 255 {
                return Err(err!(1439, name, 255));
            }
        }
        K::Decimal => {
            let (precision, scale) = (t.length.filter(|p| *p > 0).unwrap_or(10), t.scale.unwrap_or(0));
            if scale > 30 {
                return Err(err!(1425, scale, name, 30));
            }
            if precision > 65 {
                return Err(err!(1426, precision, name, 65));
            }
            if scale > precision {
                return Err(err!(1427, name));
            }
            (data_type.length, data_type.decimals) = (precision, scale as u8);
        }
        K::Float | K::Double => {
            if let (Some(length), Some(scale)) = (t.length, t.scale) {
                if scale > 30 {
                    return Err(err!(1425, scale, name, 30));
                }
                if length > 255 {
                    return Err(err!(1439, name, 255));
                }
                if scale > length {
                    return Err(err!(1427, name));
                }
                (data_type.length, data_type.decimals) = (length, scale as u8);
            } else if t.length.is_some_and(|p| p > 53) {
                return Err(err!(1063, name));
            }
        }
        K::Bit => {
            data_type.length = t.length.filter(|n| *n > 0).unwrap_or(1);
            if data_type.length > 64 {
                return Err(err!(1439, name, 64));
            }
        }
        K::Time | K::DateTime | K::Timestamp => {
            let digits = t.length.unwrap_or(0);
            if digits > 6 {
                return Err(err!(1426, digits, name, 6));
            }
            data_type.decimals = digits as u8;
        }
        K::Year => {
            if t.length.is_some_and(|n| n != 4) {
                return Err(types::SqlError::new(1818, "Invalid display width. Use YEAR instead."));
            }
            data_type.length = 4;
        }
        // The text of documents is utf8mb4, compared byte by byte.
        K::Json => data_type.collation = CollationId::UTF8MB4_BIN,
        K::VarChar | K::VarBinary if converts && t.length.is_some_and(|n| n > longest(kind, collation)) => {
            let bytes = u64::from(t.length.unwrap_or(0)) * u64::from(collation.charset().mbmaxlen());
            let is_blob = binary || kind == K::VarBinary;
            data_type.kind = sized(if is_blob { K::Blob } else { K::Text }, bytes);
            if !is_blob {
                data_type.collation = collation;
            }
        }
        K::Char | K::VarChar => {
            data_type.length = t.length.unwrap_or(1);
            if binary {
                data_type.kind = if kind == K::Char { K::Binary } else { K::VarBinary };
            } else {
                data_type.collation = collation;
            }
            let most = longest(kind, collation);
            if data_type.length > most {
                return Err(err!(1074, name, most));
            }
        }
        K::Binary | K::VarBinary => {
            data_type.length = t.length.unwrap_or(1);
            let most = longest(kind, collation);
            if data_type.length > most {
                return Err(err!(1074, name, most));
            }
        }
        K::TinyText | K::Text | K::MediumText | K::LongText => {
            if binary {
                data_type.kind = match kind {
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
        K::Blob if t.length.is_some() => data_type.kind = sized(K::Blob, u64::from(t.length.unwrap_or(0))),
        K::Enum | K::Set => {
            data_type.collation = collation;
            let members: Vec<String> = t
                .members
                .iter()
                .map(|m| String::from_utf8_lossy(parsed.bytes(*m)).trim_end_matches(' ').to_string())
                .collect();
            if kind == K::Set && members.len() > 64 {
                return Err(err!(1097, name));
            }
            for (i, member) in members.iter().enumerate() {
                if member.chars().count() > 255 {
                    return Err(err!(3505, name));
                }
                let (set, own) = (collation.charset(), collation.charset().from_utf8(member.as_bytes()));
                let same = members[..i].iter().find(|m| collation.equal(&set.from_utf8(m.as_bytes()), &own));
                if let Some(first) = same {
                    return Err(err!(1291, name, first, if kind == K::Set { "SET" } else { "ENUM" }));
                }
            }
            let chars = members.iter().map(|m| m.chars().count() as u32);
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
