//! Instruments that no two threads share: counters, gauges, histograms and a clock.
//!
//! Every thread counts in a lane, a block of words that only it writes: its own, or that of the session that it serves. Adding
//! is a plain load and store. Whoever wants a figure (`SHOW GLOBAL STATUS`, a metrics page) sums the lanes. So counting costs a
//! statement nothing shared, and asking costs the asker one pass over as many lanes as there ever were owners at once.
//!
//! | question | answer |
//! | --- | --- |
//! | why do sums never fall when a thread or session ends? | its lane keeps the counts; the next owner goes on from there |
//! | what does a session count? | what its own block gained while the session was active: [`SessionCounters`] |
//! | what about figures that are states, not counts? | [`register_gauge`]: a function, called by the asker |

mod counters;
pub mod digests;
pub mod errors;
pub mod forgotten;
mod histogram;
pub mod instrument;
mod lane;
pub mod latency;
pub mod programs;
mod registry;
mod session;
pub mod setup;
mod statements;
mod table_io;
mod transactions;
pub mod watched;

pub use counters::{Counter, CounterId};
pub use histogram::{Histogram, Timer, histogram, record};
pub use lane::{BLOCKS_MAX, Lane, RARE, add, increment, lane, sum};
pub use registry::{Family, register, register_family, register_gauge, status, status_value};
pub use session::{SessionCounters, SharedCounts};
pub use statements::{FIGURES, FIRST_RARE, Figure, Figures, StatementCells, StatementSums, StatementTotals};
pub use sync::{TimeCells, TimeTotals, clock, waits};
pub use table_io::{ROW_USES, RowCounts, RowUse, count_rows, rows_by_tree};
pub use transactions::{TransactionSums, TransactionTotals};
