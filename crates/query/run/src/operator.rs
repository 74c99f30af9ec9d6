//! What an operator is, and what is said between operators.

use crate::Run;
use expr::{Frame, Scope};
use types::{Result, Value};

/// What the receiver of a row says to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    More,
    /// More, and this row was not wanted: a row lock that it took is given back, where the isolation level allows.
    Reject,
    Stop,
}

/// What has become of a row that was read without its lock, once it is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It was locked already, or needs no lock.
    AsRead,
    /// It is in the slot as it is now, and still wanted.
    Changed,
    /// It is no longer there, or no longer wanted.
    Gone,
}

/// A receiver of rows.
pub type Receive<'r> = dyn FnMut(Scope<'_>) -> Result<Step> + 'r;

/// A source of rows. `open` starts it, again if it ran before. Then either `next` leaves a row in the frame's slots and
/// says true, or `each` passes all rows on, borrowed from where they lie.
pub trait Op: Send {
    fn open(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<()>;
    fn next(&mut self, run: &Run<'_>, frame: &mut Frame, outer: Option<&Scope<'_>>) -> Result<bool>;
    /// Passes the rows on until there is none or the receiver stops.
    fn each(
        &mut self,
        run: &Run<'_>,
        frame: &mut Frame,
        outer: Option<&Scope<'_>>,
        receive: &mut Receive<'_>,
    ) -> Result<()> {
        while self.next(run, frame, outer)? {
            match receive(Scope::new(frame, outer))? {
                Step::More => {}
                Step::Reject => self.reject(run),
                Step::Stop => break,
            }
        }
        Ok(())
    }
    /// How many rows there are, of who has been opened and can tell without passing them on; `None`: they are to be read.
    fn count_rows(&mut self, _run: &Run<'_>) -> Result<Option<u64>> {
        Ok(None)
    }
    /// The last row of `next` is wanted, and is about to be written: locks it if it was read without.
    fn settle(&mut self, _run: &Run<'_>, _frame: &mut Frame, _outer: Option<&Scope<'_>>) -> Result<Settled> {
        Ok(Settled::AsRead)
    }
    /// The last row was not wanted: gives back a row lock that it took, where the isolation level allows.
    fn reject(&mut self, _run: &Run<'_>) {}
    /// A new execution begins: results kept over several openings are out of date.
    fn forget(&mut self) {}
}

/// An empty vector for values of another lifetime, in the memory of the old one.
pub fn recycle<'b>(mut values: Vec<Value<'_>>) -> Vec<Value<'b>> {
    values.clear();
    // Collecting in place: the element types differ in lifetime only, so the allocation is kept.
    values.into_iter().map(|_| unreachable!("cleared")).collect()
}
