//! JSON_SCHEMA_VALID: documents against JSON Schema, draft 4.

use crate::function::Args;
use std::cmp::Ordering;
use types::codes::*;
use types::json::{Json, Object};
use types::{Result, Value, err};

/// Where and why a document does not follow its schema.
struct Failure {
    keyword: &'static str,
    schema: String,
    document: String,
}

type Check = Result<Option<Failure>>;

/// JSON_SCHEMA_VALID.
pub fn valid<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let (Some(schema), Some(doc)) = (schema(&a)?, a.json(1)?) else { return Ok(Value::Null) };
    let failure = Validator { root: &schema }.check(&doc, &schema, "#", "#", 0)?;
    Ok(Value::Int(failure.is_none() as i64))
}

/// JSON_SCHEMA_VALIDATION_REPORT.
pub fn report<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let (Some(schema), Some(doc)) = (schema(&a)?, a.json(1)?) else { return Ok(Value::Null) };
    let text = |s: &str| Json::String(s.to_string());
    let members = match (Validator { root: &schema }).check(&doc, &schema, "#", "#", 0)? {
        None => vec![("valid".to_string(), Json::Bool(true))],
        Some(f) => {
            let reason = format!(
                "The JSON document location '{}' failed requirement '{}' at JSON Schema location '{}'",
                f.document, f.keyword, f.schema
            );
            vec![
                ("valid".to_string(), Json::Bool(false)),
                ("reason".to_string(), Json::String(reason)),
                ("schema-location".to_string(), text(&f.schema)),
                ("document-location".to_string(), text(&f.document)),
                ("schema-failed-keyword".to_string(), text(f.keyword)),
            ]
        }
    };
    Ok(Value::from_json(&Json::Object(Object::from_members(members))))
}

/// The schema in argument 0: an object.
fn schema(a: &Args<'_>) -> Result<Option<Json>> {
    match a.json(0)? {
        Some(schema @ Json::Object(_)) => Ok(Some(schema)),
        None => Ok(None),
        Some(_) => Err(err!(ER_INVALID_JSON_TYPE, 1, a.name(), "object")),
    }
}

/// References to references, at most.
const REFERENCES_MAX: usize = 100;

struct Validator<'s> {
    root: &'s Json,
}

impl Validator<'_> {
    fn check(&self, v: &Json, schema: &Json, at: &str, document: &str, depth: usize) -> Check {
        // A schema that refers to itself twice has as many ways as it may go deep.
        crate::error::check_interrupt()?;
        let Json::Object(rules) = schema else { return Ok(None) };
        if let Some(Json::String(target)) = rules.get("$ref") {
            return match self.resolve(target)? {
                Some(schema) if depth < REFERENCES_MAX => self.check(v, schema, target, document, depth + 1),
                _ => Ok(None),
            };
        }
        let fail = |keyword: &'static str| Failure { keyword, schema: at.to_string(), document: document.to_string() };
        if let Some(keyword) = own_rule_broken(v, rules)? {
            return Ok(Some(fail(keyword)));
        }
        let below = |keyword: &str| format!("{at}/{keyword}");
        if let Some(Json::Array(all)) = rules.get("allOf") {
            for (i, s) in all.iter().enumerate() {
                if let Some(f) = self.check(v, s, &format!("{at}/allOf/{i}"), document, depth)? {
                    return Ok(Some(f));
                }
            }
        }
        for (keyword, exactly_one) in [("anyOf", false), ("oneOf", true)] {
            if let Some(Json::Array(list)) = rules.get(keyword) {
                let mut fitting = 0;
                for s in list {
                    fitting += self.check(v, s, &below(keyword), document, depth)?.is_none() as usize;
                }
                if fitting == 0 || exactly_one && fitting > 1 {
                    return Ok(Some(fail(if exactly_one { "oneOf" } else { "anyOf" })));
                }
            }
        }
        if let Some(s) = rules.get("not")
            && self.check(v, s, &below("not"), document, depth)?.is_none()
        {
            return Ok(Some(fail("not")));
        }
        match v {
            Json::Object(members) => self.members(members, rules, at, document, depth),
            Json::Array(list) => self.elements(list, rules, at, document, depth),
            _ => Ok(None),
        }
    }

    /// `#/definitions/name`; 1235 for schemas elsewhere, as in MySQL.
    fn resolve(&self, target: &str) -> Result<Option<&Json>> {
        let Some(path) = target.strip_prefix('#') else {
            return Err(crate::error::unsupported("references to schema in other documents"));
        };
        let mut at = self.root;
        for step in path.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let next = match at {
                Json::Object(members) => members.get(&step),
                Json::Array(list) => step.parse().ok().and_then(|i: usize| list.get(i)),
                _ => None,
            };
            match next {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    fn members(&self, members: &Object, rules: &Object, at: &str, document: &str, depth: usize) -> Check {
        let fail = |keyword: &'static str| Failure { keyword, schema: at.to_string(), document: document.to_string() };
        let named = match rules.get("properties") {
            Some(Json::Object(named)) => Some(named),
            _ => None,
        };
        let patterns = match rules.get("patternProperties") {
            Some(Json::Object(patterns)) => Some(patterns),
            _ => None,
        };
        for (key, v) in members.iter() {
            let place = format!("{document}/{key}");
            let mut known = false;
            if let Some(s) = named.and_then(|n| n.get(key)) {
                known = true;
                if let Some(f) = self.check(v, s, &format!("{at}/properties/{key}"), &place, depth)? {
                    return Ok(Some(f));
                }
            }
            for (pattern, s) in patterns.iter().flat_map(|p| p.iter()) {
                if is_match(pattern, key) {
                    known = true;
                    if let Some(f) = self.check(v, s, &format!("{at}/patternProperties/{pattern}"), &place, depth)? {
                        return Ok(Some(f));
                    }
                }
            }
            match rules.get("additionalProperties") {
                Some(Json::Bool(false)) if !known => return Ok(Some(fail("additionalProperties"))),
                Some(s @ Json::Object(_)) if !known => {
                    if let Some(f) = self.check(v, s, &format!("{at}/additionalProperties"), &place, depth)? {
                        return Ok(Some(f));
                    }
                }
                _ => {}
            }
        }
        if let Some(Json::Object(needs)) = rules.get("dependencies") {
            for (key, need) in needs.iter().filter(|(key, _)| members.get(key).is_some()) {
                if let Json::Array(names) = need
                    && !names.iter().all(|n| matches!(n, Json::String(n) if members.get(n).is_some()))
                {
                    return Ok(Some(fail("dependencies")));
                }
                let whole = Json::Object(members.clone());
                let at = format!("{at}/dependencies/{key}");
                if let (Json::Object(_), Some(f)) = (need, self.check(&whole, need, &at, document, depth)?) {
                    return Ok(Some(f));
                }
            }
        }
        Ok(None)
    }

    fn elements(&self, list: &[Json], rules: &Object, at: &str, document: &str, depth: usize) -> Check {
        let Some(items) = rules.get("items") else { return Ok(None) };
        for (i, v) in list.iter().enumerate() {
            let place = format!("{document}/{i}");
            let (schema, at) = match items {
                Json::Array(tuple) => match (tuple.get(i), rules.get("additionalItems")) {
                    (Some(s), _) => (s, format!("{at}/items/{i}")),
                    (None, Some(Json::Bool(false))) => {
                        let (schema, document) = (at.to_string(), document.to_string());
                        return Ok(Some(Failure { keyword: "additionalItems", schema, document }));
                    }
                    (None, Some(s)) => (s, format!("{at}/additionalItems")),
                    (None, None) => continue,
                },
                one => (one, format!("{at}/items")),
            };
            if let Some(f) = self.check(v, schema, &at, &place, depth)? {
                return Ok(Some(f));
            }
        }
        Ok(None)
    }
}

/// The keyword that the value itself breaks, its members and elements aside.
fn own_rule_broken(v: &Json, rules: &Object) -> Result<Option<&'static str>> {
    let number = matches!(v, Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_));
    let limit = |keyword: &str| rules.get(keyword).map(Json::to_f64);
    let above = |keyword: &str, n: usize| limit(keyword).is_some_and(|most| n as f64 > most);
    let below = |keyword: &str, n: usize| limit(keyword).is_some_and(|least| (n as f64) < least);
    if let Some(wanted) = rules.get("type") {
        let fits = match wanted {
            Json::String(name) => is_type(v, name),
            Json::Array(names) => names.iter().any(|n| matches!(n, Json::String(n) if is_type(v, n))),
            _ => true,
        };
        if !fits {
            return Ok(Some("type"));
        }
    }
    if let Some(Json::Array(list)) = rules.get("enum")
        && !list.iter().any(|e| e.compare(v).is_eq())
    {
        return Ok(Some("enum"));
    }
    if number {
        let order = |keyword: &str| rules.get(keyword).map(|bound| v.compare(bound));
        let strict = |keyword: &str| matches!(rules.get(keyword), Some(Json::Bool(true)));
        match order("minimum") {
            Some(Ordering::Less) => return Ok(Some("minimum")),
            Some(Ordering::Equal) if strict("exclusiveMinimum") => return Ok(Some("exclusiveMinimum")),
            _ => {}
        }
        match order("maximum") {
            Some(Ordering::Greater) => return Ok(Some("maximum")),
            Some(Ordering::Equal) if strict("exclusiveMaximum") => return Ok(Some("exclusiveMaximum")),
            _ => {}
        }
        if let Some(step) = limit("multipleOf").filter(|s| *s > 0.0) {
            let times = v.to_f64() / step;
            if times != times.round() {
                return Ok(Some("multipleOf"));
            }
        }
    }
    Ok(match v {
        Json::String(text) => {
            let n = text.chars().count();
            match rules.get("pattern") {
                _ if above("maxLength", n) => Some("maxLength"),
                _ if below("minLength", n) => Some("minLength"),
                Some(Json::String(pattern)) if !is_match(pattern, text) => Some("pattern"),
                _ => None,
            }
        }
        Json::Array(list) => {
            let unique = matches!(rules.get("uniqueItems"), Some(Json::Bool(true)));
            let has_equals = || {
                let mut sorted: Vec<&Json> = list.iter().collect();
                sorted.sort_by(|a, b| a.compare(b));
                sorted.windows(2).any(|two| two[0].compare(two[1]).is_eq())
            };
            match () {
                _ if above("maxItems", list.len()) => Some("maxItems"),
                _ if below("minItems", list.len()) => Some("minItems"),
                _ if unique && has_equals() => Some("uniqueItems"),
                _ => None,
            }
        }
        Json::Object(members) => {
            let there = |n: &Json| !matches!(n, Json::String(n) if members.get(n).is_none());
            match rules.get("required") {
                _ if above("maxProperties", members.len()) => Some("maxProperties"),
                _ if below("minProperties", members.len()) => Some("minProperties"),
                Some(Json::Array(names)) if !names.iter().all(there) => Some("required"),
                _ => None,
            }
        }
        _ => None,
    })
}

fn is_type(v: &Json, name: &str) -> bool {
    match name {
        "null" => matches!(v, Json::Null),
        "boolean" => matches!(v, Json::Bool(_)),
        "string" => matches!(v, Json::String(_)),
        "array" => matches!(v, Json::Array(_)),
        "object" => matches!(v, Json::Object(_)),
        "integer" => matches!(v, Json::Int(_) | Json::UInt(_)),
        "number" => matches!(v, Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_)),
        _ => true,
    }
}

/// A pattern that is no regular expression is met by nothing's rule: it is left out, as in MySQL.
fn is_match(pattern: &str, text: &str) -> bool {
    fancy_regex::Regex::new(pattern).map_or(true, |r| r.is_match(text).unwrap_or(true))
}
