//! The variables of the error log: which values they take, and what SET says of them.

use super::dragnet::{Confused, Rules};
use super::{RULES, SERVICES, SUPPRESSED, pipeline};
use crate::session::Session;
use crate::variables::{Globals, VARIABLES, Val, VarId};
use expr::Env;
use pipeline::Refused;
use types::codes::*;
use types::{Result, SqlError, err};

/// Where a value gets confusing.
fn confusing(at: &str) -> SqlError {
    err!(ER_CANT_SET_ERROR_LOG_SERVICE, VARIABLES[SERVICES as usize].name, at)
}

fn flabbergasted(Confused { at, state }: Confused) -> SqlError {
    err!(ER_COMPONENT_FILTER_FLABBERGASTED, "dragnet", at, state)
}

/// What options say. An error is one line for stderr.
pub(super) fn check_at_start(globals: &Globals) -> std::result::Result<(), String> {
    let wrong = |id: VarId, why: String| format!("option '{}': {why}", VARIABLES[id as usize].name.replace('_', "-"));
    match pipeline::parse(globals.text(SERVICES)) {
        Ok(_) => {}
        Err(Refused::Confusing(at)) => return Err(wrong(SERVICES, confusing(&at).message)),
        Err(Refused::Unknown(name, _)) => return Err(wrong(SERVICES, format!("there is no service '{name}'"))),
    }
    if pipeline::suppressed(globals.text(SUPPRESSED)).is_none() {
        return Err(wrong(SUPPRESSED, format!("'{}' is no list of errors", globals.text(SUPPRESSED))));
    }
    Rules::parse(globals.text(RULES)).map(drop).map_err(|confused| wrong(RULES, flabbergasted(confused).message))
}

impl Session {
    /// May a variable of the error log have this value? Errors 1126, 1231, with the warnings that say where it is wrong.
    pub(crate) fn check_error_log(&mut self, id: VarId, new: &Val) -> Result<()> {
        let refused = || VARIABLES[id as usize].cannot(&VARIABLES[id as usize].print(new));
        match id {
            SERVICES => match pipeline::parse(new.text()) {
                Ok(stages) if stages.is_empty() => {
                    self.state
                        .push_warning("Warning", err!(ER_EMPTY_PIPELINE_FOR_ERROR_LOG_SERVICE, "log_error_services"));
                    Ok(())
                }
                Ok(stages) => {
                    if pipeline::has_filters(&stages) {
                        self.state.push_warning("Note", err!(ER_DA_ERROR_LOG_MULTIPLE_FILTERS));
                    }
                    Ok(())
                }
                Err(Refused::Confusing(at)) => {
                    self.state.push_warning("Warning", confusing(&at));
                    Err(refused())
                }
                Err(Refused::Unknown(name, at)) => {
                    self.state.push_warning("Warning", confusing(&at));
                    Err(crate::extensions::no_library(&format!("component_{name}.so")))
                }
            },
            SUPPRESSED if pipeline::suppressed(new.text()).is_none() => Err(refused()),
            RULES => Rules::parse(new.text()).map(drop).map_err(|confused| {
                self.state.push_warning("Warning", flabbergasted(confused));
                refused()
            }),
            _ => Ok(()),
        }
    }
}

/// The components that the pipeline names.
pub(crate) fn named(globals: &Globals) -> Vec<crate::variables::Extension> {
    let stages = pipeline::parse(globals.text(SERVICES)).unwrap_or_default();
    stages.into_iter().filter_map(super::Stage::extension).collect()
}
