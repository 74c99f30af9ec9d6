//! The order of runs: interleaved target by target within a cell, the order of targets rotated from cell to cell and
//! round to round, so that drift of the machine and "who goes first" fall on every target alike.

use crate::options::{Options, reshapes};

/// One step of a sweep. Targets are indexes into [`Options::targets`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Drop what is there and load the tables of `test`.
    Prepare { target: usize, test: String, threads: usize },
    /// Warm up, then measure.
    Run { round: usize, target: usize, test: String, threads: usize },
    /// Drop the tables of `test`.
    Cleanup { target: usize, test: String, threads: usize },
}

/// Tables of one kind: `bulk_insert` makes its own, one for each thread, under the names of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Loaded {
    test: String,
    threads: usize,
}

/// All steps of a sweep in their order.
pub fn steps(options: &Options) -> Vec<Step> {
    let targets = options.targets.len();
    let mut loaded: Vec<Option<Loaded>> = vec![None; targets];
    let mut steps = Vec::new();
    let mut cell = 0;
    for round in 0..options.repeat {
        for test in &options.tests {
            for &threads in &options.threads {
                for turn in 0..targets {
                    let target = (turn + cell + round) % targets;
                    if options.prepare {
                        let kind = Loaded { test: test.clone(), threads };
                        load(&mut steps, &mut loaded[target], target, kind);
                    }
                    steps.push(Step::Run { round, target, test: test.clone(), threads });
                }
                cell += 1;
            }
        }
    }
    if options.prepare && options.cleanup {
        for (target, loaded) in loaded.into_iter().enumerate() {
            steps.extend(loaded.map(|Loaded { test, threads }| Step::Cleanup { target, test, threads }));
        }
    }
    steps
}

/// Tables that another test may use stay; those that a test reshaped, or is about to, are loaded afresh.
fn load(steps: &mut Vec<Step>, loaded: &mut Option<Loaded>, target: usize, wanted: Loaded) {
    if let Some(there) = loaded {
        if !reshapes(&there.test) && !reshapes(&wanted.test) {
            return;
        }
        steps.push(Step::Cleanup { target, test: there.test.clone(), threads: there.threads });
    }
    steps.push(Step::Prepare { target, test: wanted.test.clone(), threads: wanted.threads });
    *loaded = Some(wanted);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Parsed, parse};

    fn plan(text: &str) -> Vec<Step> {
        match parse(text.split_whitespace().map(String::from)) {
            Ok(Parsed::Run(options)) => steps(&options),
            _ => panic!("usage: {text}"),
        }
    }

    fn order(steps: &[Step]) -> Vec<(usize, usize)> {
        let run = |step: &Step| match step {
            Step::Run { round, target, .. } => Some((*round, *target)),
            _ => None,
        };
        steps.iter().filter_map(run).collect()
    }

    #[test]
    fn targets_take_turns_at_going_first() {
        let steps = plan("--target a=h:1 --target b=h:2 --tests t --threads 4,8 --repeat 2");
        assert_eq!(order(&steps), [(0, 0), (0, 1), (0, 1), (0, 0), (1, 1), (1, 0), (1, 0), (1, 1)]);
        let prepares = steps.iter().filter(|step| matches!(step, Step::Prepare { .. })).count();
        assert_eq!(prepares, 2, "one load a target serves all rounds of a test that keeps the tables' shape");
    }

    #[test]
    fn reshaping_tests_get_fresh_tables_each_time() {
        let steps = plan("--target a=h:1 --tests oltp_point_select,oltp_delete,oltp_read_only --threads 4 --repeat 1");
        let kinds: Vec<_> = steps
            .iter()
            .map(|step| match step {
                Step::Prepare { test, .. } => format!("+{test}"),
                Step::Run { test, .. } => test.clone(),
                Step::Cleanup { test, .. } => format!("-{test}"),
            })
            .collect();
        let (p, d, r) = ("oltp_point_select", "oltp_delete", "oltp_read_only");
        let plus = |t: &str| format!("+{t}");
        let minus = |t: &str| format!("-{t}");
        assert_eq!(kinds, [plus(p), p.into(), minus(p), plus(d), d.into(), minus(d), plus(r), r.into(), minus(r)]);
    }

    #[test]
    fn nothing_is_loaded_or_dropped_when_told_so() {
        let steps = plan("--target a=h:1 --tests oltp_delete --threads 4,8 --repeat 2 --no-prepare");
        assert!(steps.iter().all(|step| matches!(step, Step::Run { .. })));
    }
}
