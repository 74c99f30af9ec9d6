//! `log_error_services` and `log_error_suppression_list`: what an event goes through.

use crate::variables::Extension;
use types::error;

/// One service of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// `log_filter_internal`: verbosity and suppression list.
    FilterInternal,
    /// `log_filter_dragnet`
    FilterDragnet,
    /// `log_sink_internal`: the traditional format.
    SinkInternal,
    /// `log_sink_json`, with a file of its own for each time that it is named.
    SinkJson(u8),
}

/// Services that are there, by their names.
const SERVICES: [(&str, Stage); 4] = [
    ("log_filter_internal", Stage::FilterInternal),
    ("log_filter_dragnet", Stage::FilterDragnet),
    ("log_sink_internal", Stage::SinkInternal),
    ("log_sink_json", Stage::SinkJson(0)),
];

impl Stage {
    pub fn is_sink(self) -> bool {
        matches!(self, Stage::SinkInternal | Stage::SinkJson(_))
    }

    /// The component that it is, unless it is the server's own.
    pub fn extension(self) -> Option<Extension> {
        match self {
            Stage::FilterDragnet => Some(Extension::LogFilterDragnet),
            Stage::SinkJson(_) => Some(Extension::LogSinkJson),
            Stage::FilterInternal | Stage::SinkInternal => None,
        }
    }
}

/// What is wrong with a value of `log_error_services`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Where it gets confusing.
    Confusing(String),
    /// No such component, by the name of the service, and where it stands.
    Unknown(String, String),
}

/// The stages, in order. Names are apart by `;` or by `,`, not by both; the last one is a sink.
pub(crate) fn parse(text: &str) -> Result<Vec<Stage>, Refused> {
    let (mut stages, mut rest, mut delimiter) = (Vec::new(), text, None);
    let mut sinks = 0;
    while !rest.is_empty() {
        let name_end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let name = &rest[..name_end];
        let confusing = |at: &str| Err(Refused::Confusing(at.to_string()));
        if name.is_empty() {
            return confusing(rest);
        }
        let found = SERVICES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let Some((_, stage)) = found else { return Err(Refused::Unknown(name.to_string(), rest.to_string())) };
        let stage = match stage {
            Stage::SinkJson(_) => {
                sinks += 1;
                // More files than that are nobody's wish.
                if sinks > 100 {
                    return confusing(rest);
                }
                Stage::SinkJson(sinks - 1)
            }
            stage if stages.contains(stage) => return confusing(rest),
            stage => *stage,
        };
        stages.push(stage);
        rest = rest[name_end..].trim_start();
        match rest.chars().next() {
            None => break,
            Some(c) if matches!(c, ';' | ',') && delimiter.is_none_or(|known| known == c) => {
                delimiter = Some(c);
                rest = rest.trim_start_matches(|next: char| next == c || next.is_whitespace());
            }
            Some(_) => return confusing(rest),
        }
    }
    match stages.last() {
        Some(last) if !last.is_sink() => Err(Refused::Confusing(String::new())),
        _ => Ok(stages),
    }
}

/// More than one filter makes it hard to see which one has dropped an event.
pub(crate) fn has_filters(stages: &[Stage]) -> bool {
    stages.iter().filter(|stage| !stage.is_sink()).count() > 1
}

/// The number behind `MY-`, if MySQL has an error under it; it has more than this server's table.
pub(super) fn known_code(digits: &str) -> Option<u16> {
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let code = digits.parse::<u16>().ok().filter(|_| is_number)?;
    let is_known =
        error::entry(code).is_some() || matches!(code, 1..=200 | 1000..=2100 | 3000..=6100 | 10_000..=15_999);
    is_known.then_some(code)
}

/// The codes of `log_error_suppression_list`: symbols and numbers, with `MY-` before them or without. `None`: it is no such list.
pub(crate) fn suppressed(text: &str) -> Option<Vec<u16>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    let code = |word: &str| match word.get(..3).filter(|head| head.eq_ignore_ascii_case("MY-")) {
        Some(_) => known_code(&word[3..]),
        None => known_code(word).or_else(|| error::code_of(word)),
    };
    text.split(',').map(|word| code(word.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_a_pipeline_that_ends_in_a_sink() {
        let parsed = |text: &str| parse(text).map(|stages| stages.len());
        for (text, count) in [
            ("", 0),
            ("log_filter_internal; log_sink_internal", 2),
            ("log_filter_internal, log_sink_internal,", 2),
            ("log_filter_internal;; LOG_sink_internal", 2),
            ("log_filter_dragnet; log_sink_internal;log_sink_json ; log_sink_json", 4),
        ] {
            assert_eq!(parsed(text), Ok(count), "{text}");
        }
        for (text, at) in [
            (";log_sink_internal", ";log_sink_internal"),
            ("log_sink_internal; log_filter_internal", ""),
            ("log_filter_internal;,log_sink_internal", ",log_sink_internal"),
            ("log_filter_internal log_sink_internal", "log_sink_internal"),
            ("log_filter_internal; log_filter_internal; log_sink_internal", "log_filter_internal; log_sink_internal"),
            ("log_filter_internal; log_sink_internal; log_sink_internal", "log_sink_internal"),
            (" log_filter_internal ;log_sink_internal ;", " log_filter_internal ;log_sink_internal ;"),
        ] {
            assert_eq!(parsed(text), Err(Refused::Confusing(at.to_string())), "{text}");
        }
        let unknown = Refused::Unknown("nosuch".to_string(), "nosuch".to_string());
        assert_eq!(parsed("log_filter_internal; nosuch"), Err(unknown));
    }

    #[test]
    fn suppressed_codes_are_known_ones() {
        assert_eq!(suppressed("MY-010914,ER_ACCESS_DENIED_ERROR_WITH_PASSWORD"), Some(vec![10_914, 10_926]));
        assert_eq!(suppressed(" 10914 , MY-000001 "), Some(vec![10_914, 1]));
        for wrong in ["garbage", "MY-010914,", "MY-999999", "MY-", "-1", "MY-+1"] {
            assert_eq!(suppressed(wrong), None, "{wrong}");
        }
    }
}
