//! What the machine has.

use std::fs::read_to_string;
use std::path::Path;

/// Bytes of memory that the process may use: the machine's, or fewer where a control group bounds it. `None`: the kernel does not say.
pub fn memory_bytes() -> Option<u64> {
    let machine = read_to_string("/proc/meminfo").ok().and_then(|text| total_of(&text));
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let bounds = limit_files(&groups).into_iter().filter_map(|file| read_to_string(file).ok()?.trim().parse().ok());
    machine.into_iter().chain(bounds).min()
}

/// MemTotal of /proc/meminfo.
fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// Where the bounds of the process's groups stand, of /proc/self/cgroup: of each group and of those around it, in both versions of control
/// groups. A container sees its own group as the root.
fn limit_files(groups: &str) -> Vec<String> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            c if c.split(',').any(|c| c == "memory") => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => continue,
        };
        for around in Path::new(group).ancestors() {
            let around = around.to_string_lossy();
            files.push(format!("{root}{}/{file}", around.trim_end_matches('/')));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_bound_counts() {
        assert_eq!(total_of("MemFree: 7 kB\nMemTotal:       2048 kB\n"), Some(2 << 20));
        assert_eq!(
            limit_files("0::/a/b\n"),
            ["/sys/fs/cgroup/a/b/memory.max", "/sys/fs/cgroup/a/memory.max", "/sys/fs/cgroup/memory.max"]
        );
        assert_eq!(limit_files("9:cpu:/\n5:hugetlb,memory:/\n"), ["/sys/fs/cgroup/memory/memory.limit_in_bytes"]);
        if cfg!(target_os = "linux") {
            assert!(memory_bytes().expect("Linux says") > 64 << 20);
        }
    }
}
