//! One list of all waits. Names are MySQL's where the thing is the same.

use crate::rank::Rank;

/// What kind of thing is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Mutex,
    RwLock,
    Cond,
    File,
    Socket,
    Metadata,
    /// Rows, which are counted by who reads and changes them; nobody waits.
    Table,
    Idle,
}

/// Makes the enum and its tables from one list: variant, name, and what the process list shows meanwhile.
macro_rules! waits {
    ($($class:ident: $($variant:ident = $name:literal $(state $state:literal)?,)*;)*) => {
        /// What a thread waits for; the instrument that the wait is counted for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Wait {
            $($(#[doc = concat!("`", $name, "`")] $variant,)*)*
        }

        impl Wait {
            /// All of them, by number.
            pub const ALL: &'static [Wait] = &[$($(Wait::$variant,)*)*];

            /// The instrument's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(Wait::$variant => $name,)*)*
                }
            }

            pub const fn class(self) -> Class {
                match self {
                    $($(Wait::$variant => Class::$class,)*)*
                }
            }

            /// As the process list shows it; `None`: there the statement's own stage stands.
            pub const fn state(self) -> Option<&'static str> {
                match self {
                    $($(Wait::$variant => waits!(@state $($state)?),)*)*
                }
            }
        }
    };
    (@state) => { None };
    (@state $state:literal) => { Some($state) };
}

waits! {
    // In the order of `Rank`, see `Wait::mutex`.
    Mutex:
        EndedSessionsMutex = "wait/synch/mutex/clearway/ended_sessions",
        SessionMutex = "wait/synch/mutex/clearway/session",
        MetadataLocksMutex = "wait/synch/mutex/clearway/metadata_locks",
        CatalogDdlMutex = "wait/synch/mutex/clearway/catalog_ddl" state "waiting for another data definition",
        CatalogMutex = "wait/synch/mutex/clearway/catalog",
        AccountsMutex = "wait/synch/mutex/clearway/accounts" state "waiting for another change of accounts",
        VariablesMutex = "wait/synch/mutex/clearway/variables",
        ReplicationMutex = "wait/synch/mutex/clearway/replication",
        BinlogMutex = "wait/synch/mutex/clearway/binlog",
        CheckpointMutex = "wait/synch/mutex/clearway/checkpoint",
        TreesInUseMutex = "wait/synch/mutex/clearway/trees_in_use",
        PurgeMutex = "wait/synch/mutex/clearway/purge",
        FileGrowthMutex = "wait/synch/mutex/clearway/file_growth",
        KeysMutex = "wait/synch/mutex/clearway/keys",
        PageLatchMutex = "wait/synch/mutex/clearway/page_latch",
        LockRangesMutex = "wait/synch/mutex/clearway/lock_ranges",
        LockTableMutex = "wait/synch/mutex/clearway/lock_table",
        TransactionStateMutex = "wait/synch/mutex/clearway/transaction_state",
        PagePoolMutex = "wait/synch/mutex/clearway/page_pool",
        FreeSpaceMutex = "wait/synch/mutex/clearway/free_space",
        LogBufferMutex = "wait/synch/mutex/clearway/log_buffer",
        LogFileMutex = "wait/synch/mutex/clearway/log_file",
        TemporaryFileMutex = "wait/synch/mutex/clearway/temporary_file",
        WorkersMutex = "wait/synch/mutex/clearway/workers",
        ObserveMutex = "wait/synch/mutex/clearway/observe",
        KernelMutex = "wait/synch/mutex/clearway/kernel",
    ;
    RwLock:
        PageLatch = "wait/synch/rwlock/clearway/page_latch" state "waiting for a page",
        TreesInUse = "wait/synch/rwlock/clearway/trees_in_use",
        CheckpointPages = "wait/synch/rwlock/clearway/checkpoint_pages",
        LaneLock = "wait/synch/rwlock/clearway/lane_lock",
        CompactLock = "wait/synch/rwlock/clearway/compact_lock",
    ;
    Cond:
        RowLock = "wait/synch/cond/clearway/row_lock",
        Sleep = "wait/synch/cond/sql/Item_func_sleep::cond",
        FreeFrame = "wait/synch/cond/clearway/buffer_pool_frame" state "waiting for a free buffer pool page",
        Checkpoint = "wait/synch/cond/clearway/checkpoint" state "waiting for a checkpoint",
        LogFlush = "wait/synch/cond/clearway/log_flush" state "waiting for the log",
        LogOrder = "wait/synch/cond/clearway/log_order",
        FileGrowth = "wait/synch/cond/clearway/file_growth" state "waiting for the data file to grow",
        DiskSpace = "wait/synch/cond/clearway/disk_space" state "waiting for disk space",
        Purge = "wait/synch/cond/clearway/purge" state "waiting for purge",
        Rollback = "wait/synch/cond/clearway/rollback" state "waiting for a rollback in the background",
        Bandwidth = "wait/synch/cond/clearway/bandwidth" state "waiting for bandwidth",
        Acknowledgement = "wait/synch/cond/semisync/COND_binlog_send_"
            state "Waiting for semi-sync ACK from replica",
        MemoryLimit = "wait/synch/cond/clearway/memory_limit",
        PageBatch = "wait/synch/cond/clearway/page_batch",
        PageReaders = "wait/synch/cond/clearway/page_readers",
        BinlogWriter = "wait/synch/cond/clearway/binlog_writer",
        BinlogUpdate = "wait/synch/cond/sql/MYSQL_BIN_LOG::update_cond",
        BinlogGroup = "wait/synch/cond/sql/MYSQL_BIN_LOG::COND_wait_for_group_turn",
        ConnectionDelay = "wait/synch/cond/conn_control/connection_delay_wait_condition",
        Gtids = "wait/synch/cond/sql/Gtid_state",
        RelayLogUpdate = "wait/synch/cond/sql/MYSQL_RELAY_LOG::update_cond",
        ReplicaChannel = "wait/synch/cond/sql/Source_info::sleep_cond",
        ReplicaApplier = "wait/synch/cond/sql/Relay_log_info::data_cond",
        ReplicaWorkers = "wait/synch/cond/sql/Worker_info::jobs_cond",
        QueryLogs = "wait/synch/cond/clearway/query_logs" state "waiting for the query logs",
        Backup = "wait/synch/cond/clearway/backup",
        Clone = "wait/synch/cond/clearway/clone",
        EventScheduler = "wait/synch/cond/sql/Event_scheduler::COND_state",
        ThreadCache = "wait/synch/cond/sql/COND_thread_cache",
        ConnectionCount = "wait/synch/cond/sql/COND_connection_count",
        Timer = "wait/synch/cond/clearway/timer",
        Background = "wait/synch/cond/clearway/background",
    ;
    File:
        DataFile = "wait/io/file/innodb/innodb_data_file",
        LogFile = "wait/io/file/innodb/innodb_log_file",
        DoublewriteFile = "wait/io/file/innodb/innodb_dblwr_file",
        InnodbTempFile = "wait/io/file/innodb/innodb_temp_file",
        CloneFile = "wait/io/file/innodb/innodb_clone_file",
        BinlogFile = "wait/io/file/sql/binlog",
        BinlogIndexFile = "wait/io/file/sql/binlog_index",
        RelaylogFile = "wait/io/file/sql/relaylog",
        RelaylogIndexFile = "wait/io/file/sql/relaylog_index",
        QueryLogFile = "wait/io/file/sql/query_log",
        SlowLogFile = "wait/io/file/sql/slow_log",
        LoadFile = "wait/io/file/sql/load",
        SelectToFile = "wait/io/file/sql/select_to_file",
        TemporaryFile = "wait/io/file/sql/io_cache",
        MiscFile = "wait/io/file/sql/misc",
    ;
    Socket:
        ServerTcpSocket = "wait/io/socket/sql/server_tcpip_socket",
        ServerUnixSocket = "wait/io/socket/sql/server_unix_socket",
        ClientConnection = "wait/io/socket/sql/client_connection",
    ;
    Table:
        TableIo = "wait/io/table/sql/handler",
    ;
    Metadata:
        MetadataLock = "wait/lock/metadata/sql/mdl",
    ;
    Idle:
        Idle = "idle",
    ;
}

/// What is done while one waits, as the column OPERATION has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Operation {
    Lock,
    Wait,
    MetadataLock,
    Idle,
    Read,
    Write,
    Sync,
    Resize,
    Send,
    Receive,
}

impl Operation {
    #[cfg(not(loom))]
    const ALL: [Operation; 10] = [
        Operation::Lock,
        Operation::Wait,
        Operation::MetadataLock,
        Operation::Idle,
        Operation::Read,
        Operation::Write,
        Operation::Sync,
        Operation::Resize,
        Operation::Send,
        Operation::Receive,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Operation::Lock => "lock",
            Operation::Wait => "wait",
            Operation::MetadataLock => "metadata lock",
            Operation::Idle => "idle",
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Sync => "sync",
            Operation::Resize => "chsize",
            Operation::Send => "send",
            Operation::Receive => "recv",
        }
    }

    #[cfg(not(loom))]
    pub(super) fn from_number(number: u64) -> Option<Operation> {
        Operation::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

impl Wait {
    /// The usual one for its class.
    pub const fn operation(self) -> Operation {
        match self.class() {
            Class::Mutex | Class::RwLock => Operation::Lock,
            Class::Cond => Operation::Wait,
            Class::File | Class::Table => Operation::Read,
            Class::Socket => Operation::Receive,
            Class::Metadata => Operation::MetadataLock,
            Class::Idle => Operation::Idle,
        }
    }

    pub const COUNT: usize = Wait::ALL.len();

    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The wait with this number, if there is one.
    pub fn from_index(index: usize) -> Option<Wait> {
        Wait::ALL.get(index).copied()
    }

    /// For a mutex of a rank.
    pub const fn mutex(rank: Rank) -> Wait {
        Wait::ALL[rank as usize]
    }

    /// For a reader-writer lock of a rank; all others have names of their own.
    pub const fn rw_lock(rank: Rank) -> Wait {
        match rank {
            Rank::TreesInUse => Wait::TreesInUse,
            Rank::Checkpoint => Wait::CheckpointPages,
            _ => Wait::CompactLock,
        }
    }

    /// Is it a wait for work, of a thread that serves nobody at the time?
    pub const fn is_for_work(self) -> bool {
        matches!(self, Wait::ThreadCache | Wait::Background | Wait::Timer | Wait::EventScheduler)
    }

    /// Is it on at first? As in MySQL for what it has; all else is counted where a thread really waits, and costs nothing there.
    pub const fn is_on(self) -> bool {
        !matches!(self.class(), Class::Socket)
    }

    /// The SET of the column PROPERTIES.
    pub const fn properties(self) -> &'static str {
        match self {
            Wait::Idle | Wait::ClientConnection => "user",
            Wait::ServerTcpSocket | Wait::ServerUnixSocket => "singleton",
            _ => "",
        }
    }
}

const _: () = assert!(Wait::mutex(Rank::EndedSessions) as u8 == Wait::EndedSessionsMutex as u8);
const _: () = assert!(Wait::mutex(Rank::Kernel) as u8 == Wait::KernelMutex as u8);
const _: () = assert!(Wait::COUNT < 255);

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_of_their_class() {
        let names: HashSet<&str> = Wait::ALL.iter().map(|wait| wait.name()).collect();
        assert_eq!(names.len(), Wait::COUNT);
        for wait in Wait::ALL {
            let prefix = match wait.class() {
                Class::Mutex => "wait/synch/mutex/",
                Class::RwLock => "wait/synch/rwlock/",
                Class::Cond => "wait/synch/cond/",
                Class::File => "wait/io/file/",
                Class::Socket => "wait/io/socket/",
                Class::Metadata => "wait/lock/metadata/",
                Class::Table => "wait/io/table/",
                Class::Idle => "idle",
            };
            assert!(wait.name().starts_with(prefix), "{}", wait.name());
            assert_eq!(Wait::from_index(wait.index()), Some(*wait));
        }
        assert_eq!(Wait::from_index(Wait::COUNT), None);
    }

    #[test]
    fn mutexes_are_named_by_rank() {
        use Rank::*;
        for rank in [
            EndedSessions,
            Session,
            MetadataLocks,
            CatalogDdl,
            Catalog,
            Accounts,
            Variables,
            Replication,
            Binlog,
            Checkpoint,
            TreesInUse,
            Purge,
            FileGrowth,
            Keys,
            PageLatch,
            LockRanges,
            LockTable,
            TransactionState,
            PagePool,
            FreeSpace,
            LogBuffer,
            LogFile,
            TemporaryFile,
            Workers,
            Observe,
            Kernel,
        ] {
            assert_eq!(format!("{:?}", Wait::mutex(rank)), format!("{rank:?}Mutex"));
        }
    }
}
