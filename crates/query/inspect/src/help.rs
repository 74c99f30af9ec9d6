//! HELP: what somebody has loaded into the tables of HELP in `mysql`.
//!
//! ```text
//!   one topic of the name                       the topic
//!   some                                        their names, and those of categories
//!   none, but one keyword of the name           its topics, as above
//!   none, but one category                      the topics and categories in it
//!   none, but some categories                   their names
//! ```

use crate::Row;
use crate::columns::varchar;
use crate::granted::{Made, Record};
use crate::rows::Rows;
use types::collation::CollationId;
use types::{DataType, Result, Value};

/// MySQL sends so much of a description, by what it says of the column.
const DESCRIPTION: DataType = varchar(1000).not_null();
const NAME: (&str, DataType) = ("name", varchar(64).not_null());
const IS_CATEGORY: (&str, DataType) = ("is_it_category", varchar(1).not_null());

/// What HELP reads of a table, by its name.
pub type Read<'r> = dyn FnMut(&str) -> Result<Made> + 'r;

struct Topic {
    id: u64,
    category: Option<u64>,
    name: String,
    description: String,
    example: String,
}

struct Category {
    id: u64,
    parent: Option<u64>,
    name: String,
}

/// The answer to HELP `mask`, which is a pattern of LIKE. Error 1728, and those of reading.
pub fn answer(mask: &str, read: &mut Read<'_>) -> Result<Rows> {
    let is_meant = |name: &str| CollationId::UTF8MB3_GENERAL_CI.like(name.as_bytes(), mask.as_bytes(), Some('\\'));
    let all = read("help_topic")?;
    let all = all.records().map(|r| topic(&r)).collect::<Result<Vec<Topic>>>()?;
    let mut topics: Vec<&Topic> = all.iter().filter(|t| is_meant(&t.name)).collect();
    if topics.is_empty() {
        let ids = of_keyword(&is_meant, read)?;
        topics = all.iter().filter(|t| ids.contains(&t.id)).collect();
    }
    if let [one] = topics[..] {
        let texts = [&one.name, &one.description, &one.example];
        let columns = [NAME, ("description", DESCRIPTION), ("example", DESCRIPTION)];
        return Ok(Rows::new(&columns, vec![texts.map(|t| text(t)).to_vec()]));
    }
    let categories = read("help_category")?;
    let categories = categories.records().map(|r| category(&r)).collect::<Result<Vec<Category>>>()?;
    let found: Vec<&Category> = categories.iter().filter(|c| is_meant(&c.name)).collect();
    if let ([], [one]) = (&topics[..], &found[..]) {
        let topics = all.iter().filter(|t| t.category == Some(one.id)).map(|t| t.name.as_str());
        let within = categories.iter().filter(|c| c.parent == Some(one.id)).map(|c| c.name.as_str());
        let mut rows = listed(topics.collect(), "N");
        rows.extend(listed(within.collect(), "Y"));
        rows.iter_mut().for_each(|row| row.insert(0, text(&one.name)));
        return Ok(Rows::new(&[("source_category_name", NAME.1), NAME, IS_CATEGORY], rows));
    }
    let mut rows = listed(topics.iter().map(|t| t.name.as_str()).collect(), "N");
    rows.extend(listed(found.iter().map(|c| c.name.as_str()).collect(), "Y"));
    Ok(Rows::new(&[NAME, IS_CATEGORY], rows))
}

/// The ids of the topics of the one keyword that is meant.
fn of_keyword(is_meant: &dyn Fn(&str) -> bool, read: &mut Read<'_>) -> Result<Vec<u64>> {
    let keywords = read("help_keyword")?;
    let mut found = Vec::new();
    for keyword in keywords.records() {
        if is_meant(&keyword.text("name")?) {
            found.push(keyword.number("help_keyword_id")?);
        }
    }
    let [one] = found[..] else { return Ok(Vec::new()) };
    let mut ids = Vec::new();
    for relation in read("help_relation")?.records() {
        if relation.number("help_keyword_id")? == one {
            ids.extend(relation.number("help_topic_id")?);
        }
    }
    Ok(ids)
}

fn topic(r: &Record<'_>) -> Result<Topic> {
    Ok(Topic {
        id: r.number("help_topic_id")?.unwrap_or_default(),
        category: r.number("help_category_id")?,
        name: r.text("name")?,
        description: r.text("description")?,
        example: r.text("example")?,
    })
}

fn category(r: &Record<'_>) -> Result<Category> {
    Ok(Category {
        id: r.number("help_category_id")?.unwrap_or_default(),
        parent: r.number("parent_category_id")?,
        name: r.text("name")?,
    })
}

fn text(s: &str) -> Value<'static> {
    Value::Bytes(s.as_bytes().to_vec().into())
}

/// A row for each name, in the order of their bytes.
fn listed(mut names: Vec<&str>, is_category: &str) -> Vec<Row> {
    names.sort_unstable();
    names.into_iter().map(|name| vec![text(name), text(is_category)]).collect()
}
