//! What the disk does to a life: power cuts, kills, errors, rot, no room, slowness.

use crate::life::{End, Flow, Life, Stop, wrong};
use crate::run::Run;
use io::Op;
use io::faults::{Action, Rule, Script};
use std::time::Duration;

/// Of a slot of the log's control file.
const SLOT_BYTES: usize = 64 << 10;

/// What the disk does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    Fair,
    /// Some operations fail.
    Failing,
    /// There is little room.
    Full,
    /// What the background asks for hardly ever comes.
    Slow,
}

impl Weather {
    /// May a commit wait for what nobody will do?
    pub fn is_short(self) -> bool {
        matches!(self, Weather::Full | Weather::Slow)
    }
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    Cut,
    /// Right after the file may have grown.
    CutAfterGrowth,
    Kill,
    Close,
    /// Some operation of any kind fails.
    Fails,
    LogFails,
    /// A page that is written fails, and the power not much later.
    PagesFail,
    Full,
    /// There is hardly any room.
    Fuller,
    Slow,
}

impl Trouble {
    /// Of everything some, or much of what belongs together.
    pub const SETS: [&[Trouble]; 8] =
        [Self::ALL, Self::ALL, Self::ALL, Self::LOG, Self::PAGES, Self::ROOM, Self::ENDS, Self::GROWTH];
    const ALL: &[Trouble] = {
        use Trouble::*;
        &[Cut, Cut, CutAfterGrowth, Kill, Kill, Close, Fails, Fails, LogFails, PagesFail, Full, Fuller, Slow]
    };
    const LOG: &[Trouble] = &[Trouble::LogFails, Trouble::LogFails, Trouble::Kill, Trouble::Cut];
    const PAGES: &[Trouble] = &[Trouble::PagesFail, Trouble::PagesFail, Trouble::Fails, Trouble::Cut];
    const ROOM: &[Trouble] = &[Trouble::Full, Trouble::Fuller, Trouble::Fuller, Trouble::Slow, Trouble::Cut];
    const ENDS: &[Trouble] = &[Trouble::Kill, Trouble::Kill, Trouble::Close, Trouble::Cut];
    const GROWTH: &[Trouble] = &[Trouble::CutAfterGrowth, Trouble::CutAfterGrowth, Trouble::Fuller, Trouble::Fails];
}

impl Life<'_, '_> {
    pub fn fault_step(&mut self) -> Flow {
        if self.weather != Weather::Fair && self.run.random.below(3) == 0 {
            return self.clear_weather();
        }
        if self.run.random.below(100) >= self.run.profile.faults {
            return Ok(());
        }
        self.run.had_faults = true;
        let fair = self.weather == Weather::Fair;
        match self.run.random.one_of(self.run.profile.troubles) {
            Trouble::Cut => self.cut_soon(60),
            Trouble::CutAfterGrowth => {
                self.tend_space()?;
                self.cut_soon(4);
            }
            Trouble::Kill => return self.kill(),
            Trouble::Close => return self.close(),
            trouble @ (Trouble::Fails | Trouble::LogFails | Trouble::PagesFail) if fair => {
                let script = self.run.failing_script(trouble);
                self.run.disk.set_script(script);
                self.has_failed = true;
                self.weather = Weather::Failing;
                if trouble == Trouble::PagesFail {
                    self.cut_soon(40);
                }
            }
            Trouble::Full if fair => self.fill_disk(3 << 20),
            Trouble::Fuller if fair => self.fill_disk(256 << 10),
            Trouble::Slow if fair => {
                self.run.trace(|| "the disk is slow".into());
                self.weather = Weather::Slow;
            }
            _ => {}
        }
        Ok(())
    }

    fn cut_soon(&mut self, most: u64) {
        let nth = 1 + self.run.random.below(most);
        self.run.trace(|| format!("power cut at change {nth} from now"));
        self.run.disk.crash_at_change(nth);
    }

    fn fill_disk(&mut self, most: u64) {
        let room = self.run.random.below(most);
        self.run.trace(|| format!("room for {room} bytes"));
        self.run.disk.set_room(Some(room));
        self.weather = Weather::Full;
    }

    /// The process dies. Where nothing failed both slots of the control file are whole, and one may rot.
    fn kill(&mut self) -> Flow {
        self.run.trace(|| "killed".into());
        if !self.has_failed && self.run.random.below(2) == 0 {
            let (slot, at) = (self.run.random.below(2) as usize, self.run.random.below(72) as usize);
            self.run.trace(|| format!("control slot {slot} rots at byte {at}"));
            let control = self.run.disk.root().join("redo/clearway.control");
            if !self.run.disk.corrupt(control, slot * SLOT_BYTES + at, 0x10) {
                return wrong("the control file is shorter than its slots");
            }
        }
        Err(Stop::End(End::Killed))
    }

    /// The disk works again, and has room; what was late is done.
    pub fn clear_weather(&mut self) -> Flow {
        if self.weather == Weather::Fair {
            return Ok(());
        }
        self.run.trace(|| "the disk works".into());
        let script = self.run.fair_script();
        self.run.disk.set_script(script);
        for _ in 0..4 {
            // What failed is repeated, and what waits for it is told of the failure once more.
            let _ = self.stepper.write_pages(Duration::from_secs(1));
            self.stepper.place_pages();
            self.is_alive()?;
        }
        self.weather = Weather::Fair;
        Ok(())
    }

    fn close(&mut self) -> Flow {
        self.clear_weather()?;
        self.run.trace(|| "clean shutdown".into());
        for i in 0..self.sessions.len() {
            self.roll_back(i)?;
        }
        match self.stepper.finish() {
            Ok(()) => Err(Stop::End(End::Closed)),
            Err(error) => {
                self.excuse(&error, "shutdown")?;
                wrong(format!("the shutdown failed: {error}"))
            }
        }
    }
}

impl Run {
    /// One or more operations that fail from now on.
    pub fn failing_script(&mut self, trouble: Trouble) -> Script {
        let mut script = self.fair_script();
        let ops = [Op::Write, Op::Write, Op::Sync, Op::Sync, Op::Read, Op::Allocate];
        let (ops, places): (_, &[&str]) = match trouble {
            Trouble::LogFails => (&ops[..4], &["redo", "redo", "control"]),
            Trouble::PagesFail => (&ops[..3], &["clearway.data", "clearway.data", "doublewrite"]),
            _ => (&ops[..], &["clearway.data", "doublewrite", "redo", "control", ""]),
        };
        let (op, place) = (self.random.one_of(ops), self.random.one_of(places));
        let action = if self.random.below(3) == 0 { Action::Fail } else { Action::FailOnce };
        let nth = 1 + self.random.below(8);
        self.trace(|| format!("{action:?} at {op:?} {nth} in '{place}'"));
        script.push(Rule::new(action, Some(op), nth).within(place));
        script
    }
}
