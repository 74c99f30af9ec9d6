//! Character sets of a connection: statements come in `character_set_client`, results leave in `character_set_results`.
//! Inside, text is in the character set of its column; statements are read as utf8mb4.

use crate::state::State;
use crate::variables::{VarId, id};
use protocol::output::ResultsCharset;
use protocol::{Output, ParameterType};
use std::borrow::Cow;
use types::Value;
use types::charset::Charset;
use types::collation::CollationId;

const CLIENT: VarId = id("character_set_client");
pub(crate) const RESULTS: VarId = id("character_set_results");
const CONNECTION: VarId = id("character_set_connection");
const COLLATION: VarId = id("collation_connection");

/// The text of a statement as utf8mb4.
pub(crate) fn statement_text<'t>(state: &State, text: &'t [u8]) -> Cow<'t, [u8]> {
    match state.vars.hot().client {
        Charset::Utf8mb4 | Charset::Utf8mb3 | Charset::Binary => Cow::Borrowed(text),
        client => client.to_utf8(text),
    }
}

/// Parameters of COM_STMT_EXECUTE that are texts as utf8mb4; the types of BLOBs are none.
pub(crate) fn parameters(state: &State, types: &[ParameterType], values: &mut [Value<'_>]) {
    let client = state.vars.hot().client;
    if matches!(client, Charset::Utf8mb4 | Charset::Utf8mb3 | Charset::Binary) {
        return;
    }
    for (t, value) in types.iter().zip(values) {
        if let (true, Value::Bytes(text)) = (t.is_text(), &*value) {
            *value = Value::Bytes(Cow::Owned(client.to_utf8(text).into_owned()));
        }
    }
}

/// A user variable as a parameter: a text as utf8mb4.
pub(crate) fn parameter_of(state: &State, name: &str) -> Value<'static> {
    let (value, t) = exec::Env::user_variable(state, name);
    match (value, t.collation.charset()) {
        (value, Charset::Utf8mb4 | Charset::Utf8mb3 | Charset::Binary) => value,
        (Value::Bytes(text), set) if t.kind.is_text() => Value::Bytes(Cow::Owned(set.to_utf8(&text).into_owned())),
        (value, _) => value,
    }
}

/// Tells the wire which collation column definitions name.
pub(crate) fn apply_results(state: &State, out: &mut Output) {
    let charset = state.vars.hot().results;
    out.set_results_charset(charset.map(|c| {
        let named = state.results_collation.filter(|named| named.charset() == c);
        ResultsCharset { collation: named.unwrap_or(CollationId::default_of(c)).0, max_bytes: c.mbmaxlen() as u8 }
    }));
}

/// SET NAMES, and the handshake: client, connection and results at once.
pub(crate) fn set_names(state: &mut State, collation: CollationId) {
    let charset = collation.charset();
    let text = |s: &'static str| crate::variables::Val::Str(Cow::Borrowed(s));
    for variable in [CLIENT, RESULTS, CONNECTION] {
        state.vars.set(variable, text(charset.name()));
    }
    state.vars.set(COLLATION, text(collation.info().name));
    state.results_collation = Some(collation);
}
