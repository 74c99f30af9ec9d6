//! Makes a failing run small: events are left out, many at a time and then one by one, while it still fails in the same way.

use crate::plan::{Event, Plan};
use crate::run::{Failure, Outcome, attempt};
use std::time::{Duration, Instant};

/// Runs to try, at most, and for how long.
const TRIES: usize = 600;
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs a seed; if it fails, panics with the steps that are left when no more can be left out.
pub fn run(seed: u64) -> Outcome {
    let plan = Plan::new(seed);
    let failure = match attempt(&plan) {
        Ok(outcome) => return outcome,
        Err(failure) => failure,
    };
    let what = failure.what.clone();
    let (events, left, shrunk) = shrink(plan, failure);
    let Failure { what: how, profile, trace, .. } = *shrunk;
    panic!(
        "seed {seed}: {what}\n{left} of its {events} events are enough for: {how}\n{profile:?}, by step:\n{}",
        trace.join("\n")
    );
}

/// The events that there were, those that are left, and how the run of those fails.
fn shrink(mut plan: Plan, mut failure: Box<Failure>) -> (usize, usize, Box<Failure>) {
    let all = failure.step;
    let mut events: Vec<Event> = (0..=all).flat_map(|step| [Event::Step(step), Event::Start(step)]).collect();
    let count = events.len();
    plan.steps = all + 1;
    let (began, mut tries) = (Instant::now(), 0);
    let mut chunk = events.len().div_ceil(2);
    loop {
        let mut at = 0;
        let before = events.len();
        while at < events.len() {
            if tries == TRIES || began.elapsed() > PATIENCE {
                return (count, events.len(), failure);
            }
            tries += 1;
            let end = (at + chunk).min(events.len());
            let mut fewer = plan.clone();
            fewer.left_out.extend(&events[at..end]);
            match attempt(&fewer) {
                Err(same) if same.kind() == failure.kind() => {
                    events.drain(at..end);
                    (plan, failure) = (fewer, same);
                }
                _ => at = end,
            }
        }
        // Once more one by one, as long as that helps.
        if chunk == 1 && events.len() == before {
            return (count, events.len(), failure);
        }
        chunk = chunk.div_ceil(2);
    }
}
