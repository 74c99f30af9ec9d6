//! Character sets of a connection: statements come in `character_set_client`, results leave in `character_set_results`.
//! Inside, text is in the character set of its column; statements are read as utf8mb4.

use crate::state::State;
use crate::variables::{VarId, id};
use protocol::output::ResultsCharset;
use protocol::{Output, Parameter, ParameterType};
use std::borrow::Cow;
use types::charset::Charset;
use types::collation::CollationId;
use types::{DataType, TypeKind, Value};

pub(crate) const CLIENT: VarId = id("character_set_client");
const RESULTSET_METADATA: VarId = id("resultset_metadata");
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

/// Parameters of COM_STMT_EXECUTE that are texts in `character_set_connection`; the types of BLOBs are none.
pub(crate) fn parameters(state: &State, types: &[ParameterType], values: &mut [Value<'_>]) {
    let hot = state.vars.hot();
    let (client, connection) = (hot.client, hot.literals.charset());
    if client == connection || client == Charset::Binary {
        return;
    }
    for (t, value) in types.iter().zip(values) {
        if let (true, Value::Bytes(text)) = (t.is_text(), &*value)
            && let Some(text) = converted(text, client, connection)
        {
            *value = Value::Bytes(Cow::Owned(text));
        }
    }
}

impl State {
    /// What a command has brought with it, which is read as texts, in place of what the former one had. Few clients send some.
    #[inline]
    pub(crate) fn take_attributes(&mut self, attributes: &[Parameter<'_>]) {
        if !attributes.is_empty() || !self.attributes.is_empty() {
            self.attributes = attributes.iter().map(|a| attribute(self.vars.hot().client, a)).collect();
        }
    }
}

/// Times have all their digits, as MySQL has them; of a text that is none what stands before the wrong bytes.
#[cold]
fn attribute(client: Charset, parameter: &Parameter<'_>) -> (String, Option<String>) {
    let kind = match parameter.value {
        Value::Time(_) => TypeKind::Time,
        Value::DateTime(_) => TypeKind::DateTime,
        _ => TypeKind::Null,
    };
    let ty = DataType { decimals: 6, ..DataType::new(kind) };
    let read = |bytes: &[u8]| {
        let text = converted(bytes, client, Charset::Utf8mb4).unwrap_or_else(|| bytes.to_vec());
        let chunk = text.utf8_chunks().next();
        chunk.map_or(String::new(), |c| c.valid().to_string())
    };
    let value = (!parameter.value.is_null()).then(|| read(&parameter.value.to_text(&ty)));
    (read(parameter.name), value)
}

/// `None`: the bytes are the same in both.
fn converted(text: &[u8], from: Charset, to: Charset) -> Option<Vec<u8>> {
    if from.is_subset_bytes(to, text) {
        return None;
    }
    let mut out = Vec::with_capacity(text.len());
    from.convert(to, text, &mut out);
    Some(out)
}

/// A literal text as the connection has it: under `collation_connection`.
pub(crate) fn of_connection(state: &State, value: Value<'static>, t: DataType) -> (Value<'static>, DataType) {
    let collation = state.vars.hot().literals;
    let value = match value {
        Value::Bytes(text) => {
            Value::Bytes(converted(&text, t.collation.charset(), collation.charset()).map_or(text, Cow::Owned))
        }
        value => value,
    };
    (value, DataType { collation, ..t })
}

/// A user variable as a parameter: a text in `character_set_connection`, or (true) a string of bytes.
pub(crate) fn parameter_of(state: &State, name: &str) -> (Value<'static>, bool) {
    let (value, t) = expr::Env::user_variable(state, name);
    let is_binary = t.collation.is_binary() && matches!(value, Value::Bytes(_));
    let value = match plan::parameter::of_variable(value, &t) {
        Value::Bytes(text) if t.kind.is_text() && t.collation.charset() != Charset::Binary => {
            let text =
                converted(&text, t.collation.charset(), state.vars.hot().literals.charset()).map_or(text, Cow::Owned);
            Value::Bytes(text)
        }
        value => value,
    };
    (value, is_binary)
}

/// Tells the wire which collation column definitions name.
pub(crate) fn apply_results(state: &State, out: &mut Output) {
    out.leave_out_metadata(state.vars.uint(RESULTSET_METADATA) == 0);
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
    let [client, results, connection] = [CLIENT, RESULTS, CONNECTION].map(|id| (id, text(charset.name())));
    state.vars.set_all([client, results, connection, (COLLATION, text(collation.info().name))]);
    state.results_collation = Some(collation);
}
