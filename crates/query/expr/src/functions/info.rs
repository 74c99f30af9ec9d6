//! Information functions and what needs the session.

use crate::Stage;
use crate::function::{Args, Function, Rule, bytes, f, volatile};
use std::time::Duration;
use types::codes::*;
use types::{Result, Value, err};

/// What the session and the server are asked.
pub static FUNCTIONS: &[Function] = &[
    f("version", 0, 0, Rule::Server(60), |a| Ok(a.run.session().system_variable(Some(true), "version")?.0)),
    f("database", 0, 0, Rule::Server(64), |a| {
        Ok(match a.run.session().database() {
            Some(d) => bytes(d.as_bytes().to_vec()),
            None => Value::Null,
        })
    }),
    f("schema", 0, 0, Rule::Server(64), |a| {
        Ok(match a.run.session().database() {
            Some(d) => bytes(d.as_bytes().to_vec()),
            None => Value::Null,
        })
    }),
    f("user", 0, 0, Rule::Server(288), |a| Ok(bytes(a.run.session().user().as_bytes().to_vec()))),
    f("session_user", 0, 0, Rule::Server(288), |a| Ok(bytes(a.run.session().user().as_bytes().to_vec()))),
    f("system_user", 0, 0, Rule::Server(288), |a| Ok(bytes(a.run.session().user().as_bytes().to_vec()))),
    f("current_user", 0, 0, Rule::Server(288), |a| Ok(bytes(a.run.session().current_user().as_bytes().to_vec()))),
    f("connection_id", 0, 0, Rule::UInt(21), |a| Ok(Value::UInt(a.run.session().pseudo_thread_id()))),
    volatile(f("last_insert_id", 0, 1, Rule::UInt(21), last_insert_id)),
    f("row_count", 0, 0, Rule::Int(21), |a| Ok(Value::Int(a.run.session().row_count()))),
    f("found_rows", 0, 0, Rule::Int(21), |a| Ok(Value::Int(a.run.session().found_rows() as i64))),
    volatile(f("uuid", 0, 0, Rule::Server(36), uuid)),
    volatile(f("sleep", 1, 1, Rule::Int(1), sleep)),
    f("charset", 1, 1, Rule::Server(64), |a| {
        let t = &a.args[0].ty;
        let name = if t.kind.is_text() || t.kind.is_bytes() { t.collation.charset().name() } else { "binary" };
        Ok(bytes(name.as_bytes()))
    }),
    f("collation", 1, 1, Rule::Server(64), |a| {
        let t = &a.args[0].ty;
        let name = if t.kind.is_text() || t.kind.is_bytes() { t.collation.info().name } else { "binary" };
        Ok(bytes(name.as_bytes()))
    }),
    f("coercibility", 1, 1, Rule::Int(10), |a| Ok(Value::Int(crate::compare::coercibility(&a.args[0]) as i64))),
    f("current_role", 0, 0, Rule::Server(65_535), |a| Ok(bytes(a.run.session().current_role().as_bytes().to_vec()))),
    f("icu_version", 0, 0, Rule::Server(10), |_| Ok(bytes(&b"76.1"[..]))),
    f("ps_current_thread_id", 0, 0, Rule::UInt(21), |a| Ok(Value::UInt(a.run.session().connection_id()))),
    volatile(f("ps_thread_id", 1, 1, Rule::UInt(21), |a| {
        let there = a.int(0)?.filter(|id| a.run.session().is_connected(*id as u64));
        Ok(there.map_or(Value::Null, |id| Value::UInt(id as u64)))
    })),
    f("name_const", 2, 2, Rule::Last, |a| a.value(1)),
    volatile(f("benchmark", 2, 2, Rule::Int(1), benchmark)),
];

/// `@@name`: the second argument says which scope was written.
pub fn system_variable<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let (Some(name), Some(scope)) = (a.text(0)?, a.text(1)?) else { return Ok(Value::Null) };
    let global = match &scope[..] {
        b"global" => Some(true),
        b"session" => Some(false),
        _ => None,
    };
    Ok(a.run.session().system_variable(global, &String::from_utf8_lossy(&name))?.0)
}

fn last_insert_id<'a>(a: Args<'a>) -> Result<Value<'a>> {
    if a.is_empty() {
        return Ok(Value::UInt(a.run.session().last_insert_id()));
    }
    let v = a.value(0)?;
    if v.is_null() {
        a.run.session().set_last_insert_id(0);
        a.run.evaluation().given_id.set(Some(0));
        return Ok(Value::Null);
    }
    let id = crate::convert::bits64(&v, a.run);
    a.run.session().set_last_insert_id(id);
    a.run.evaluation().given_id.set(Some(id));
    Ok(Value::UInt(id))
}

/// A version 1 style UUID: 100 ns since 1582, and random node and clock sequence.
fn uuid<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let random = super::math::info_seed();
    let step = a.run.evaluation().random.get();
    a.run.evaluation().random.set(step.wrapping_add(1).max(1));
    let ticks = (a.run.evaluation().now_us as u64) * 10 + 0x01B2_1DD2_1381_4000 + (random & 0x3FF).wrapping_add(step);
    let text = format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        ticks as u32,
        (ticks >> 32) as u16,
        (ticks >> 48) as u16 & 0x0FFF | 0x1000,
        (random >> 48) as u16 & 0x3FFF | 0x8000,
        random & 0xFFFF_FFFF_FFFF | 0x0100_0000_0000,
    );
    Ok(bytes(text.into_bytes()))
}

/// SLEEP(seconds): 0 when it slept through. KILL QUERY and `max_execution_time` end the statement, where it has tables: MySQL looks for
/// them as it reads rows. Where it has none they end the sleep, which is 1.
fn sleep<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(seconds) = a.double(0)?.filter(|s| *s >= 0.0) else {
        let wrong = err!(ER_WRONG_ARGUMENTS, "sleep.");
        if a.run.evaluation().sql_mode.is_strict() {
            return Err(wrong);
        }
        a.run.push_warning(wrong);
        return Ok(Value::Int(0));
    };
    // The row that time ran out in has its 1; there is none after it.
    a.run.check_interrupt_now()?;
    let before = a.run.session().stage(Stage::UserSleep);
    let slept = a.run.sleep(Duration::from_secs_f64(seconds.min(31_536_000.0)));
    a.run.session().stage(before);
    if !slept && a.run.evaluation().reads_nothing && matches!(a.run.interrupt(), 1 | 3) {
        return Ok(Value::Int(1));
    }
    a.run.check_interrupt_now()?;
    Ok(Value::Int(0))
}

fn benchmark<'a>(a: Args<'a>) -> Result<Value<'a>> {
    let Some(n) = a.int(0)?.filter(|n| *n >= 0) else { return Ok(Value::Null) };
    for _ in 0..n {
        a.run.check_interrupt()?;
        std::hint::black_box(a.value(1)?);
    }
    Ok(Value::Int(0))
}
