//! Names: which counters and gauges there are, for `SHOW STATUS` and metrics.

use crate::counters::{Counter, CounterId};
use crate::lane::{COUNTERS_MAX, sum};
use std::sync::Arc;
use sync::{Mutex, Rank};

/// A family of counters with a common prefix, such as `Com_select`, `Com_insert`, ..., indexed by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    first: u16,
    len: u16,
}

impl Family {
    /// The counter at `index` of the names that were registered.
    #[inline]
    pub fn at(self, index: usize) -> CounterId {
        assert!(index < usize::from(self.len), "family of {} has no member {index}", self.len);
        CounterId(self.first + index as u16)
    }

    /// The place of a counter of the family.
    #[inline]
    pub fn place(self, counter: CounterId) -> Option<usize> {
        counter.0.checked_sub(self.first).filter(|at| *at < self.len).map(usize::from)
    }
}

type Gauge = Arc<dyn Fn() -> u64 + Send + Sync>;

struct Registry {
    /// Names of the counters after those of [`Counter`].
    names: Vec<String>,
    gauges: Vec<(String, Gauge)>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Rank::Observe, Registry { names: Vec::new(), gauges: Vec::new() });

/// Registers a counter by name, at start; a name that is known gets the counter that it has.
pub fn register(name: &str) -> CounterId {
    register_family("", &[name]).at(0)
}

/// Registers `prefix` + each of `names` as counters, at start. A family that is registered again gets the counters that it has.
///
/// # Panics
/// When the lanes have no room for more counters, or only some of the names are known.
pub fn register_family(prefix: &str, names: &[&str]) -> Family {
    let mut registry = REGISTRY.lock();
    let len = u16::try_from(names.len()).expect("a family is small");
    let full = |name: &&str| format!("{prefix}{name}");
    if let Some(first) = names.first() {
        let first = full(first);
        if let Some(known) = Counter::ALL.iter().find(|c| c.name() == first) {
            assert!(len == 1, "{first} is a counter of its own");
            return Family { first: *known as u16, len };
        }
        if let Some(at) = registry.names.iter().position(|name| *name == first) {
            let same =
                registry.names.iter().skip(at).take(names.len()).eq(names.iter().map(full).collect::<Vec<_>>().iter());
            assert!(same, "family {prefix} was registered with other names");
            return Family { first: (Counter::ALL.len() + at) as u16, len };
        }
    }
    let first = Counter::ALL.len() + registry.names.len();
    assert!(first + names.len() < COUNTERS_MAX, "no room for {} more counters", names.len());
    registry.names.extend(names.iter().map(full));
    Family { first: first as u16, len }
}

/// Registers a figure that is a state and not a count (`Threads_connected`, free pages): `read` is called by whoever asks for
/// the status, with no lock held, and should not block for long. A later registration of a name replaces the former.
pub fn register_gauge(name: &str, read: impl Fn() -> u64 + Send + Sync + 'static) {
    let mut registry = REGISTRY.lock();
    registry.gauges.retain(|(known, _)| known != name);
    registry.gauges.push((name.to_owned(), Arc::new(read)));
}

/// Every counter and gauge with its name and present value, sorted by name.
pub fn status() -> Vec<(String, u64)> {
    let mut all: Vec<(String, u64)> = Counter::ALL.iter().map(|&c| (c.name().to_owned(), sum(c))).collect();
    let registry = REGISTRY.lock();
    for (at, name) in registry.names.iter().enumerate() {
        all.push((name.clone(), sum(CounterId((Counter::ALL.len() + at) as u16))));
    }
    let gauges = registry.gauges.clone();
    drop(registry);
    all.extend(gauges.into_iter().map(|(name, read)| (name, read())));
    all.sort();
    all
}

/// The counter or gauge of this name (letter case aside), or none.
pub fn status_value(name: &str) -> Option<u64> {
    let registry = REGISTRY.lock();
    if let Some((_, read)) = registry.gauges.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        let read = Arc::clone(read);
        drop(registry);
        return Some(read());
    }
    counter_of(&registry, name).map(sum)
}

fn counter_of(registry: &Registry, name: &str) -> Option<CounterId> {
    let fixed = Counter::ALL.iter().find(|c| c.name().eq_ignore_ascii_case(name)).map(|&c| CounterId::from(c));
    fixed.or_else(|| {
        let at = registry.names.iter().position(|known| known.eq_ignore_ascii_case(name))?;
        Some(CounterId((Counter::ALL.len() + at) as u16))
    })
}
