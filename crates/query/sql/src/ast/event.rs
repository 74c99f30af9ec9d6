//! Events: what CREATE and ALTER EVENT say.

use super::{Account, ExprId, IntervalUnit, ObjectName, Program, Str};

/// CREATE EVENT.
#[derive(Debug)]
pub struct CreateEvent {
    pub if_not_exists: bool,
    pub definer: Option<Account>,
    pub name: ObjectName,
    pub clauses: EventClauses,
    pub body: Str,
    pub program: Program,
    /// The statement from the word EVENT on.
    pub text: Str,
}

/// ALTER EVENT. What it does not say stays as it is.
#[derive(Debug)]
pub struct AlterEvent {
    pub definer: Option<Account>,
    pub name: ObjectName,
    pub rename: Option<ObjectName>,
    pub clauses: EventClauses,
    pub body: Option<(Str, Program)>,
}

/// What stands between the name and the body.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventClauses {
    pub schedule: Option<EventSchedule>,
    /// ON COMPLETION PRESERVE, or NOT PRESERVE.
    pub preserve: Option<bool>,
    pub status: Option<EventStatus>,
    pub comment: Option<Str>,
}

/// ON SCHEDULE.
#[derive(Clone, Copy, Debug)]
pub enum EventSchedule {
    At(ExprId),
    Every { amount: ExprId, unit: IntervalUnit, starts: Option<ExprId>, ends: Option<ExprId> },
}

impl EventSchedule {
    /// In the order of the text.
    pub fn expressions(&self) -> Vec<ExprId> {
        match *self {
            EventSchedule::At(at) => vec![at],
            EventSchedule::Every { amount, starts, ends, .. } => {
                [Some(amount), starts, ends].into_iter().flatten().collect()
            }
        }
    }
}

/// ENABLE, DISABLE, DISABLE ON REPLICA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventStatus {
    Enabled,
    Disabled,
    DisabledOnReplica,
}
