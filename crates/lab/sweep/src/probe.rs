//! What Linux says about a server process and the machine, read from `/proc`; elsewhere, and for a server on another
//! machine, there is simply nothing to report.
//!
//! ```text
//!   /proc/net/tcp, tcp6, unix   listening socket -> inode
//!   /proc/PID/fd/*              "socket:[inode]" -> PID
//!   /proc/PID/stat              utime + stime of all threads, ended ones too, in ticks of 1/100 s
//!   /proc/PID/task/T/status     voluntary and involuntary context switches of a thread while it lives
//!   /proc/PID/status            VmHWM: peak resident memory
//!   /proc/stat                  the machine: busy, idle and I/O wait
//! ```

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::options::Address;

/// Linux shows CPU times to user space in this unit on every architecture that the server is built for.
const TICKS_PER_SECOND: f64 = 100.0;

/// CPU time of the machine in ticks, all CPUs together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Machine {
    pub idle: f64,
    pub io_wait: f64,
    pub total: f64,
}

/// Shares of the machine's CPU time between two readings; they sum to 1 with what nobody here watched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    pub idle: f64,
    pub io_wait: f64,
    /// The server under test; None when it is not local.
    pub server: Option<f64>,
    pub sysbench: f64,
}

/// The pid of the local process that listens on `address`.
pub fn listener(address: &Address) -> Option<u32> {
    let inode = match address {
        Address::Tcp { host, port } => {
            if !is_local(host) {
                return None;
            }
            ["/proc/net/tcp", "/proc/net/tcp6"]
                .iter()
                .find_map(|table| tcp_inode(&fs::read_to_string(table).ok()?, *port))?
        }
        Address::Unix(path) => unix_inode(&fs::read_to_string("/proc/net/unix").ok()?, path)?,
    };
    owner(&format!("socket:[{inode}]"))
}

fn is_local(host: &str) -> bool {
    host == "localhost" || host == "::1" || host.starts_with("127.")
}

/// Columns: number, local address:port, remote, state (0A: LISTEN), queues, timer, retransmits, uid, timeout, inode.
fn tcp_inode(table: &str, port: u16) -> Option<u64> {
    let wanted = format!(":{port:04X}");
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let listens = fields.get(3) == Some(&"0A") && fields.get(1)?.ends_with(&wanted);
        if listens { fields.get(9)?.parse().ok() } else { None }
    })
}

/// Columns: address, references, protocol, flags (00010000: listening), type, state, inode, path.
fn unix_inode(table: &str, path: &Path) -> Option<u64> {
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let listens = fields.get(3) == Some(&"00010000") && fields.get(7).map(Path::new) == Some(path);
        if listens { fields.get(6)?.parse().ok() } else { None }
    })
}

/// The process that has a descriptor which links to `target`. A launcher may hold it too; the youngest process serves.
fn owner(target: &str) -> Option<u32> {
    let holds = |pid: &u32| {
        let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        descriptors.flatten().any(|fd| fs::read_link(fd.path()).is_ok_and(|link| link.as_os_str() == target))
    };
    let pids = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(holds).max()
}

/// CPU seconds that the process has used, ended threads included.
pub fn cpu_seconds(pid: u32) -> Option<f64> {
    ticks(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?, 14).map(|ticks| ticks / TICKS_PER_SECOND)
}

/// CPU seconds of the children that this process has waited for: sysbench.
pub fn children_cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    ticks(&stat, 16).map_or(0.0, |ticks| ticks / TICKS_PER_SECOND)
}

/// The sum of a user and a system field of `/proc/PID/stat`; `first` counts from 1 as in proc(5). The name in
/// parentheses may hold anything, so fields count from behind it.
fn ticks(stat: &str, first: usize) -> Option<f64> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
    Some(field(first)? + field(first + 1)?)
}

/// Peak resident memory of the process in KiB.
pub fn peak_memory_kib(pid: u32) -> Option<u64> {
    field(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "VmHWM:")
}

fn field(status: &str, name: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

/// The machine's CPU time so far; `None` where there is no `/proc/stat`.
pub fn machine() -> Option<Machine> {
    parse_machine(&fs::read_to_string("/proc/stat").ok()?)
}

/// The line "cpu": user nice system idle iowait irq softirq steal guest guest_nice; guests are in user already.
fn parse_machine(stat: &str) -> Option<Machine> {
    let line = stat.lines().find(|line| line.starts_with("cpu "))?;
    let values: Vec<f64> = line.split_whitespace().skip(1).take(8).filter_map(|word| word.parse().ok()).collect();
    Some(Machine { idle: *values.get(3)?, io_wait: *values.get(4)?, total: values.iter().sum() })
}

/// How the machine's CPU time between two readings was spent; the seconds are those of a `part` of that time.
pub fn shares(
    before: Machine,
    after: Machine,
    server_seconds: Option<f64>,
    sysbench_seconds: f64,
    part: f64,
) -> Option<Shares> {
    let total = after.total - before.total;
    if total <= 0.0 {
        return None;
    }
    let whole = TICKS_PER_SECOND / (total * part);
    Some(Shares {
        idle: (after.idle - before.idle) / total,
        io_wait: (after.io_wait - before.io_wait) / total,
        server: server_seconds.map(|seconds| seconds * whole),
        sysbench: sysbench_seconds * whole,
    })
}

/// Context switches of a process per second, watched while a run goes on. Counts of a thread vanish with it, so the
/// sum of what each thread did while it was seen is set against the time between the first and the last look.
pub struct SwitchWatch {
    pid: u32,
    threads: HashMap<u32, Thread>,
    first: Instant,
    last: Instant,
}

struct Thread {
    /// Voluntary, involuntary.
    first: [u64; 2],
    last: [u64; 2],
}

impl SwitchWatch {
    /// Begins to watch the process `pid`.
    pub fn start(pid: u32) -> SwitchWatch {
        let now = Instant::now();
        let mut watch = SwitchWatch { pid, threads: HashMap::new(), first: now, last: now };
        watch.look();
        watch
    }

    /// Reads the counts of all threads that live now.
    pub fn look(&mut self) {
        let Ok(tasks) = fs::read_dir(format!("/proc/{}/task", self.pid)) else { return };
        self.last = Instant::now();
        for task in tasks.flatten() {
            let Some(tid) = task.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let Ok(status) = fs::read_to_string(task.path().join("status")) else { continue };
            let voluntary = field(&status, "voluntary_ctxt_switches:");
            let involuntary = field(&status, "nonvoluntary_ctxt_switches:");
            let (Some(voluntary), Some(involuntary)) = (voluntary, involuntary) else { continue };
            let seen = [voluntary, involuntary];
            self.threads.entry(tid).or_insert(Thread { first: seen, last: seen }).last = seen;
        }
    }

    /// Voluntary and involuntary switches per second; None after less than two looks.
    pub fn per_second(&self) -> Option<[f64; 2]> {
        let seconds = (self.last - self.first).as_secs_f64();
        if seconds <= 0.0 {
            return None;
        }
        let sum = |kind: usize| self.threads.values().map(|t| t.last[kind] - t.first[kind]).sum::<u64>() as f64;
        Some([sum(0) / seconds, sum(1) / seconds])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_fields_count_from_behind_a_hostile_name() {
        let stat = "42 (my) sql) S 1 42 42 0 -1 4194560 100 0 0 0 700 55 30 4 20 0 9 0 100 0 0";
        assert_eq!(ticks(stat, 14), Some(755.0));
        assert_eq!(ticks(stat, 16), Some(34.0));
        assert_eq!(ticks("42 (x) S 1", 14), None);
    }

    #[test]
    fn listening_sockets_are_told_from_connections() {
        let tcp = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: 0100007F:0D3F 0100007F:0001 01 00000000:00000000 00:00000000 00000000 0 0 11 1 0\n\
             1: 0100007F:0D3F 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 22 1 0\n";
        assert_eq!(tcp_inode(tcp, 3391), Some(22));
        assert_eq!(tcp_inode(tcp, 3392), None);
        let unix = "Num RefCount Protocol Flags Type St Inode Path\n\
             0: 00000003 00000000 00000000 0001 03 1593 /tmp/s\n0: 00000002 00000000 00010000 0001 01 7 /tmp/s\n";
        assert_eq!(unix_inode(unix, Path::new("/tmp/s")), Some(7));
    }

    #[test]
    fn shares_come_from_differences() {
        let before = parse_machine("cpu  10 0 10 70 10 0 0 0 5 0\ncpu0 1").expect("cpu line");
        let after = Machine { idle: 170.0, io_wait: 30.0, total: before.total + 200.0 };
        let shares = shares(before, after, Some(0.5), 0.2, 1.0).expect("time passed");
        assert_eq!((shares.idle, shares.io_wait, shares.server), (0.5, 0.1, Some(0.25)));
        assert!((shares.sysbench - 0.1).abs() < 1e-9);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_found_behind_its_own_socket() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = socket.local_addr().expect("an address").port();
        let address = Address::Tcp { host: "127.0.0.1".into(), port };
        assert_eq!(listener(&address), Some(std::process::id()));
        assert!(cpu_seconds(std::process::id()).is_some());
        assert!(peak_memory_kib(std::process::id()).is_some_and(|kib| kib > 0));
    }
}
