//! Names the cause when throughput falls at the highest thread count, from how the machine spent its time meanwhile.
//!
//! ```text
//!   I/O wait >= 20 %              flush    threads wait for the disk: log flush, checkpoint, page reads
//!   idle     >= 20 %              lock     CPUs have nothing to do while clients wait: a lock or another wait
//!   sysbench uses more than       client   the load generator is the limit: what it shows is its own
//!     the server, CPUs busy
//!   otherwise                     cpu      the server's CPUs are full: work a query has grown
//! ```

use crate::probe::Shares;

/// Throughput at the highest thread count below this share of the peak is a collapse.
pub const COLLAPSE_BELOW: f64 = 0.95;
const IDLE_AT_LEAST: f64 = 0.20;
const IO_WAIT_AT_LEAST: f64 = 0.20;

/// What the machine waited for at the highest thread count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Lock,
    Flush,
    Client,
    Cpu,
    /// The server is on another machine, whose CPUs cannot be seen from here.
    Unseen,
}

impl Cause {
    /// One word, for programs.
    pub fn word(self) -> &'static str {
        match self {
            Cause::Lock => "lock",
            Cause::Flush => "flush",
            Cause::Client => "client",
            Cause::Cpu => "cpu",
            Cause::Unseen => "unseen",
        }
    }

    /// What it means, for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Cause::Lock => "CPUs idle while clients wait: a lock or another wait inside the server",
            Cause::Flush => "CPUs wait for the disk: log flush, checkpoint or page reads",
            Cause::Client => "sysbench uses more CPU than the server: the load generator is the limit",
            Cause::Cpu => "the CPUs are full: a query costs more CPU than at the peak",
            Cause::Unseen => "the server is not a local process: run the sweep beside it to learn why",
        }
    }
}

/// What the machine's time at the highest thread count says.
pub fn cause(shares: Option<Shares>) -> Cause {
    let Some(Shares { idle, io_wait, server, sysbench }) = shares else { return Cause::Unseen };
    // A busy client is the limit wherever the server is.
    let busy = idle + io_wait < IDLE_AT_LEAST;
    match server {
        None if busy && sysbench > 0.5 => Cause::Client,
        None => Cause::Unseen,
        Some(_) if io_wait >= IO_WAIT_AT_LEAST => Cause::Flush,
        Some(_) if idle >= IDLE_AT_LEAST => Cause::Lock,
        Some(server) if sysbench > server => Cause::Client,
        Some(_) => Cause::Cpu,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(idle: f64, io_wait: f64, server: Option<f64>, sysbench: f64) -> Option<Shares> {
        Some(Shares { idle, io_wait, server, sysbench })
    }

    #[test]
    fn each_shape_has_its_name() {
        assert_eq!(cause(shares(0.96, 0.01, Some(0.02), 0.01)), Cause::Lock, "Falcon's: 96 % idle");
        assert_eq!(cause(shares(0.10, 0.65, Some(0.20), 0.05)), Cause::Flush, "MariaDB 12.1's: 65 % I/O wait");
        assert_eq!(cause(shares(0.02, 0.00, Some(0.30), 0.65)), Cause::Client);
        assert_eq!(cause(shares(0.02, 0.00, Some(0.70), 0.25)), Cause::Cpu);
        assert_eq!(cause(shares(0.80, 0.00, None, 0.15)), Cause::Unseen);
        assert_eq!(cause(shares(0.02, 0.00, None, 0.95)), Cause::Client);
        assert_eq!(cause(None), Cause::Unseen);
    }
}
