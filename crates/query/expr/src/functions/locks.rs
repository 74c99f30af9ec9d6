//! GET_LOCK and its family: user-level locks, held until they are released or the session ends.

use crate::function::{Args, Function, Rule, f, volatile};
use std::time::Duration;
use types::codes::*;
use types::{Result, SqlError, Value, err};

/// Characters of a lock's name.
const NAME_MAX: usize = 64;
/// What a negative timeout stands for: MySQL's bound of `lock_wait_timeout`, a year.
const FOREVER: Duration = Duration::from_secs(31_536_000);

/// Locks that sessions take by name.
pub static FUNCTIONS: &[Function] = &[
    volatile(f("get_lock", 2, 2, Rule::Int(21), get_lock)),
    volatile(f("release_lock", 1, 1, Rule::Int(21), |a| {
        let name = name(&a)?;
        let released = a.run.session().release_lock(&name);
        Ok(released.map_or(Value::Null, |yes| Value::Int(yes.into())))
    })),
    volatile(f("release_all_locks", 0, 0, Rule::UInt(21), |a| Ok(Value::UInt(a.run.session().release_all_locks())))),
    volatile(f("is_free_lock", 1, 1, Rule::Int(21), |a| {
        let name = name(&a)?;
        Ok(Value::Int(a.run.session().lock_owner(&name).is_none().into()))
    })),
    volatile(f("is_used_lock", 1, 1, Rule::UInt(21), |a| {
        let name = name(&a)?;
        Ok(a.run.session().lock_owner(&name).map_or(Value::Null, Value::UInt))
    })),
];

/// The name, in lower case. Errors 3057 where it is NULL or empty, 4163 where it is longer than 64 characters.
fn name(a: &Args<'_>) -> Result<String> {
    let wrong = |name: &str| {
        let why = "The name is empty, NULL, or can not be expressed in the current character-set.";
        SqlError::new(ER_USER_LOCK_WRONG_NAME, format!("Incorrect user-level lock name '{name}'. {why}"))
    };
    let Some(text) = a.text(0)? else { return Err(wrong("NULL")) };
    let name = String::from_utf8_lossy(&text);
    if name.is_empty() {
        return Err(wrong(&name));
    }
    if name.chars().count() > NAME_MAX {
        return Err(err!(ER_USER_LOCK_OVERLONG_NAME, name, NAME_MAX));
    }
    Ok(name.to_lowercase())
}

fn get_lock<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let name = name(&a)?;
    let timeout = match a.double(1)? {
        None => Duration::ZERO,
        // Rounded to whole seconds, as MySQL does.
        Some(seconds) => match seconds.round() {
            seconds if seconds < 0.0 => FOREVER,
            seconds => Duration::from_secs_f64(seconds.min(FOREVER.as_secs_f64())),
        },
    };
    let taken = a.run.get_lock(&name, timeout)?;
    Ok(Value::Int(taken.into()))
}
