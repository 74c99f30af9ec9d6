//! The slow path: queues of requests by name, under one mutex that no statement on the fast path touches.

use super::lane::{Gates, Lane};
use super::name::Weak;
use super::wait::Wait;
use super::{Duration, Mode, Name};
use std::collections::HashMap;
use std::sync::Arc;
use sync::pins::announced;
use sync::{LaneId, Lanes};

/// A request, granted or waiting.
#[derive(Debug)]
pub(super) struct Ticket {
    pub owner: LaneId,
    pub mode: Mode,
    pub duration: Duration,
    /// Unique for ever.
    pub number: u64,
    /// Set while it waits: whom to tell.
    pub wait: Option<Arc<Wait>>,
}

/// Who has a lock on a name, and who waits for it.
#[derive(Debug)]
pub(super) struct Queue {
    pub name: Arc<Name>,
    key: u64,
    pub granted: Vec<Ticket>,
    /// First come first.
    pub waiting: Vec<Ticket>,
    /// What the gate was told: are SR, and SW or IX, stopped?
    stopped: [bool; 2],
    /// Strong locks granted in a row while weak requests waited.
    strong_in_row: u64,
}

const WEAK: [(Weak, usize); 2] = [(Weak::Read, 0), (Weak::Write, 1)];

impl Queue {
    fn new(name: Arc<Name>) -> Queue {
        let key = name.key();
        Queue { name, key, granted: Vec::new(), waiting: Vec::new(), stopped: [false; 2], strong_in_row: 0 }
    }

    fn is_scope(&self) -> bool {
        matches!(*self.name, Name::Global | Name::Commit)
    }

    /// Whose granted or waiting requests keep `owner` from being granted `mode` now. Weak locks in lanes come on top.
    fn in_the_way(&self, owner: Option<LaneId>, mode: Mode, starved: bool) -> impl Iterator<Item = LaneId> {
        let others = move |t: &&Ticket| Some(t.owner) != owner;
        let held = self.granted.iter().filter(others).filter(move |t| !mode.compatible(t.mode));
        let asked = self.waiting.iter().filter(others).filter(move |t| mode.waits_behind(t.mode, starved));
        held.chain(asked).map(|t| t.owner)
    }

    /// Which weak locks in lanes are in conflict with `mode`? Scopes are held as IX there, tables as SR and SW, routines as S.
    fn weak_in_conflict(&self, mode: Mode) -> impl Fn(Weak) -> bool + use<> {
        let (scope, name) = (self.is_scope(), Arc::clone(&self.name));
        move |weak| (weak == Weak::Intention) == scope && !mode.compatible(weak.mode_on(&name))
    }

    /// The same for a lane's words.
    fn words_in_conflict(&self, mode: Mode) -> impl Fn(u64) -> bool + use<> {
        let (key, weak) = (self.key, self.weak_in_conflict(mode));
        move |word| word & !3 == key && Weak::of_word(word).is_some_and(&weak)
    }
}

/// All queues that are not empty.
#[derive(Debug)]
pub(super) struct Queues {
    by_name: HashMap<Arc<Name>, Queue>,
    /// Names with waiting requests.
    awaited: Vec<Arc<Name>>,
    last_number: u64,
    /// `max_write_lock_count`.
    pub strong_in_row_max: u64,
}

/// What a look at the lanes needs.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub lanes: &'a Lanes<Lane>,
    pub gates: &'a Gates,
}

impl Queues {
    pub fn new() -> Queues {
        Queues { by_name: HashMap::new(), awaited: Vec::new(), last_number: 0, strong_in_row_max: u64::MAX }
    }

    pub fn get(&self, name: &Name) -> Option<&Queue> {
        self.by_name.get(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Queue> {
        self.by_name.values()
    }

    fn starved(&self, queue: &Queue) -> bool {
        queue.strong_in_row >= self.strong_in_row_max
    }

    /// Queues a request; its number. Shuts the gate for those who must wait behind it.
    pub fn enter(&mut self, view: View<'_>, name: &Arc<Name>, owner: LaneId, mode: Mode, duration: Duration) -> u64 {
        self.last_number += 1;
        let number = self.last_number;
        let queue = self.by_name.entry(Arc::clone(name)).or_insert_with(|| Queue::new(Arc::clone(name)));
        queue.waiting.push(Ticket { owner, mode, duration, number, wait: None });
        if !self.awaited.contains(name) {
            self.awaited.push(Arc::clone(name));
        }
        self.tend(view, name);
        number
    }

    /// Grants a waiting request if nobody is in the way.
    pub fn try_grant(&mut self, view: View<'_>, name: &Arc<Name>, number: u64) -> bool {
        let Some(queue) = self.by_name.get(name) else { return false };
        let Some(at) = queue.waiting.iter().position(|t| t.number == number) else { return false };
        let (owner, mode) = (queue.waiting[at].owner, queue.waiting[at].mode);
        if queue.in_the_way(Some(owner), mode, self.starved(queue)).next().is_some() {
            return false;
        }
        let weak = queue.weak_in_conflict(mode);
        if weak(Weak::Read) || weak(Weak::Write) || weak(Weak::Intention) {
            // The gate is shut: who comes now sees it, who came before is seen here.
            announced();
            let words = queue.words_in_conflict(mode);
            if view.lanes.iter_claimed().any(|(id, lane)| id != owner && lane.pins.asks_for_notice(&words)) {
                return false;
            }
        }
        let queue = self.by_name.get_mut(name).expect("it was found");
        let ticket = queue.waiting.remove(at);
        let weak_wait = queue.waiting.iter().any(|t| !t.mode.is_strong());
        queue.strong_in_row = if ticket.mode.is_strong() && weak_wait { queue.strong_in_row + 1 } else { 0 };
        if let Some(wait) = &ticket.wait {
            wait.granted();
        }
        queue.granted.push(Ticket { wait: None, ..ticket });
        self.tend(view, name);
        true
    }

    /// The request waits: whom to tell. Returns false when it is granted already.
    pub fn set_wait(&mut self, name: &Name, number: u64, wait: &Arc<Wait>) {
        let queue = self.by_name.get_mut(name).expect("the request is in its queue");
        let ticket = queue.waiting.iter_mut().find(|t| t.number == number).expect("the request waits");
        ticket.wait = Some(Arc::clone(wait));
    }

    /// Takes a waiting request back. False: it does not wait any more.
    pub fn withdraw(&mut self, view: View<'_>, name: &Arc<Name>, number: u64) -> bool {
        let Some(queue) = self.by_name.get_mut(name) else { return false };
        let Some(at) = queue.waiting.iter().position(|t| t.number == number) else { return false };
        queue.waiting.remove(at);
        self.tend(view, name);
        self.grant(view, name);
        true
    }

    /// Gives granted locks of a name back, those for which `which` is true.
    pub fn release(&mut self, view: View<'_>, name: &Arc<Name>, which: impl Fn(&Ticket) -> bool) {
        let Some(queue) = self.by_name.get_mut(name) else { return };
        queue.granted.retain(|t| !which(t));
        self.tend(view, name);
        self.grant(view, name);
    }

    /// A granted lock is held until it is given back by name.
    pub fn keep(&mut self, name: &Name, number: u64) {
        let queue = self.by_name.get_mut(name).expect("a granted lock is in its queue");
        let ticket = queue.granted.iter_mut().find(|t| t.number == number).expect("it is granted");
        ticket.duration = Duration::Explicit;
    }

    /// A granted lock is another's from now on.
    pub fn give(&mut self, name: &Name, number: u64, owner: LaneId) {
        let queue = self.by_name.get_mut(name).expect("a granted lock is in its queue");
        let ticket = queue.granted.iter_mut().find(|t| t.number == number).expect("it is granted");
        ticket.owner = owner;
    }

    /// Changes the mode of a granted lock, after an upgrade was granted beside it, or to a weaker one.
    pub fn change(&mut self, view: View<'_>, name: &Arc<Name>, number: u64, mode: Mode) {
        let queue = self.by_name.get_mut(name).expect("a granted lock is in its queue");
        let ticket = queue.granted.iter_mut().find(|t| t.number == number).expect("it is granted");
        ticket.mode = mode;
        self.tend(view, name);
        self.grant(view, name);
    }

    /// Grants what can be granted now, first come first.
    fn grant(&mut self, view: View<'_>, name: &Arc<Name>) {
        loop {
            let Some(queue) = self.by_name.get(name) else { return };
            let numbers: Vec<u64> = queue.waiting.iter().map(|t| t.number).collect();
            if !numbers.into_iter().any(|number| self.try_grant(view, name, number)) {
                return;
            }
        }
    }

    /// A lane has freed words that somebody waits for: looks at all waiting requests again.
    pub fn grant_all(&mut self, view: View<'_>) {
        for name in self.awaited.clone() {
            self.grant(view, &name);
        }
    }

    /// After a change of a queue: its gate says what it should, and an empty queue goes.
    fn tend(&mut self, view: View<'_>, name: &Arc<Name>) {
        let starved = self.by_name.get(name).is_some_and(|q| self.starved(q));
        let Some(queue) = self.by_name.get_mut(name) else { return };
        if let Some(gate) = view.gates.of(name, queue.key) {
            for (weak, at) in WEAK {
                let mode = if queue.is_scope() { Mode::IntentionExclusive } else { weak.mode_on(name) };
                let stops = queue.in_the_way(None, mode, starved).next().is_some();
                match (queue.stopped[at], stops) {
                    (false, true) => gate.shut(weak.class()),
                    (true, false) => gate.open(weak.class()),
                    _ => {}
                }
                queue.stopped[at] = stops;
            }
        }
        if queue.waiting.is_empty() {
            self.awaited.retain(|n| n != name);
            if queue.granted.is_empty() {
                debug_assert_eq!(queue.stopped, [false; 2]);
                self.by_name.remove(name);
            }
        }
    }

    /// Appends the lanes of all who must do something before the waiting request `number` can be granted.
    pub fn blockers(&self, view: View<'_>, name: &Name, number: u64, out: &mut Vec<LaneId>) {
        let Some(queue) = self.by_name.get(name) else { return };
        let Some(ticket) = queue.waiting.iter().find(|t| t.number == number) else { return };
        out.extend(queue.in_the_way(Some(ticket.owner), ticket.mode, self.starved(queue)));
        let words = queue.words_in_conflict(ticket.mode);
        let lanes = view.lanes.iter_claimed().filter(|(id, lane)| *id != ticket.owner && lane.pins.any(&words));
        out.extend(lanes.map(|(id, _)| id));
    }
}
