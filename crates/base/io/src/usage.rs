//! What a thread, or the process, has used of the machine so far.

#![expect(unsafe_code, reason = "getrusage fills a struct of the C library")]

/// Figures that only grow. Times in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub user_us: u64,
    pub system_us: u64,
    pub switches_voluntary: u64,
    pub switches_involuntary: u64,
    /// Reads and writes of blocks that went to a device.
    pub blocks_in: u64,
    pub blocks_out: u64,
    pub faults_major: u64,
    pub faults_minor: u64,
}

impl Usage {
    /// Of the calling thread.
    #[cfg(target_os = "linux")]
    pub fn of_thread() -> Usage {
        of(libc::RUSAGE_THREAD)
    }

    /// Of the process with all its threads.
    #[cfg(target_os = "linux")]
    pub fn of_process() -> Usage {
        of(libc::RUSAGE_SELF)
    }

    /// Elsewhere nothing is known.
    #[cfg(not(target_os = "linux"))]
    pub fn of_thread() -> Usage {
        Usage::default()
    }

    #[cfg(not(target_os = "linux"))]
    pub fn of_process() -> Usage {
        Usage::default()
    }
}

#[cfg(target_os = "linux")]
fn of(who: libc::c_int) -> Usage {
    // SAFETY: `rusage` is plain numbers, for which zeros are values.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a `rusage` of this function's own, which the kernel fills.
    if unsafe { libc::getrusage(who, &mut usage) } != 0 {
        return Usage::default();
    }
    let us = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    Usage {
        user_us: us(usage.ru_utime),
        system_us: us(usage.ru_stime),
        switches_voluntary: usage.ru_nvcsw as u64,
        switches_involuntary: usage.ru_nivcsw as u64,
        blocks_in: usage.ru_inblock as u64,
        blocks_out: usage.ru_oublock as u64,
        faults_major: usage.ru_majflt as u64,
        faults_minor: usage.ru_minflt as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_uses_processor_time() {
        let before = Usage::of_thread();
        let mut sum = 0u64;
        // Until the kernel has noticed.
        while Usage::of_thread().user_us == before.user_us {
            sum = (0..100_000u64).fold(sum, |sum, n| std::hint::black_box(sum ^ n));
        }
        assert!(Usage::of_process().user_us >= Usage::of_thread().user_us - before.user_us);
    }
}
