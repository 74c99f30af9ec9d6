//! Privileges: the static ones as bits, the dynamic ones by name.

use std::ops::{BitAnd, BitOr, BitOrAssign};

/// A set of static privileges, in the order of mysql.user's columns and of SHOW GRANTS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Privileges(pub u64);

macro_rules! privileges {
    ($($name:ident = $bit:literal, $text:literal;)*) => {
        impl Privileges {
            $(pub const $name: Privileges = Privileges(1 << $bit);)*
            const NAMES: &[(&str, Privileges)] = &[$(($text, Privileges::$name)),*];
        }
    };
}

privileges! {
    SELECT = 0, "SELECT";
    INSERT = 1, "INSERT";
    UPDATE = 2, "UPDATE";
    DELETE = 3, "DELETE";
    CREATE = 4, "CREATE";
    DROP = 5, "DROP";
    RELOAD = 6, "RELOAD";
    SHUTDOWN = 7, "SHUTDOWN";
    PROCESS = 8, "PROCESS";
    FILE = 9, "FILE";
    GRANT_OPTION = 10, "GRANT OPTION";
    REFERENCES = 11, "REFERENCES";
    INDEX = 12, "INDEX";
    ALTER = 13, "ALTER";
    SHOW_DATABASES = 14, "SHOW DATABASES";
    SUPER = 15, "SUPER";
    CREATE_TEMPORARY_TABLES = 16, "CREATE TEMPORARY TABLES";
    LOCK_TABLES = 17, "LOCK TABLES";
    EXECUTE = 18, "EXECUTE";
    REPLICATION_SLAVE = 19, "REPLICATION SLAVE";
    REPLICATION_CLIENT = 20, "REPLICATION CLIENT";
    CREATE_VIEW = 21, "CREATE VIEW";
    SHOW_VIEW = 22, "SHOW VIEW";
    CREATE_ROUTINE = 23, "CREATE ROUTINE";
    ALTER_ROUTINE = 24, "ALTER ROUTINE";
    CREATE_USER = 25, "CREATE USER";
    EVENT = 26, "EVENT";
    TRIGGER = 27, "TRIGGER";
    CREATE_TABLESPACE = 28, "CREATE TABLESPACE";
    CREATE_ROLE = 29, "CREATE ROLE";
    DROP_ROLE = 30, "DROP ROLE";
}

impl Privileges {
    pub const NONE: Privileges = Privileges(0);
    /// Everything that can be granted ON *.*, GRANT OPTION too.
    pub const GLOBAL: Privileges = Privileges((1 << 31) - 1);
    /// Everything that can be granted ON a schema, GRANT OPTION too.
    pub const SCHEMA: Privileges = Privileges(
        Self::TABLE.0
            | Self::CREATE_TEMPORARY_TABLES.0
            | Self::LOCK_TABLES.0
            | Self::EXECUTE.0
            | Self::CREATE_ROUTINE.0
            | Self::ALTER_ROUTINE.0
            | Self::EVENT.0,
    );
    /// Everything that can be granted ON a table, GRANT OPTION too.
    pub const TABLE: Privileges = Privileges(
        Self::SELECT.0
            | Self::INSERT.0
            | Self::UPDATE.0
            | Self::DELETE.0
            | Self::CREATE.0
            | Self::DROP.0
            | Self::GRANT_OPTION.0
            | Self::REFERENCES.0
            | Self::INDEX.0
            | Self::ALTER.0
            | Self::CREATE_VIEW.0
            | Self::SHOW_VIEW.0
            | Self::TRIGGER.0,
    );

    /// All of `wanted` are here.
    #[inline]
    pub const fn has(self, wanted: Privileges) -> bool {
        self.0 & wanted.0 == wanted.0
    }

    /// One of `wanted` at least is here.
    #[inline]
    pub const fn has_any(self, wanted: Privileges) -> bool {
        self.0 & wanted.0 != 0
    }

    #[must_use]
    pub const fn without(self, other: Privileges) -> Privileges {
        Privileges(self.0 & !other.0)
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The privilege of this name, upper case, as GRANT writes it.
    pub fn by_name(name: &str) -> Option<Privileges> {
        Self::NAMES.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, p)| *p)
    }

    /// Names in order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().filter(move |(_, p)| self.has(*p)).map(|(n, _)| *n)
    }

    /// Its privileges one by one, with their names.
    pub fn each(self) -> impl Iterator<Item = (&'static str, Privileges)> {
        Self::NAMES.iter().filter(move |(_, p)| self.has(*p)).copied()
    }

    /// The set as "... command denied" words it.
    pub fn denied_words(self) -> String {
        let words: Vec<&str> = self.names().map(|n| if n == "GRANT OPTION" { "GRANT" } else { n }).collect();
        words.join(", ")
    }
}

impl BitOr for Privileges {
    type Output = Privileges;
    fn bitor(self, other: Privileges) -> Privileges {
        Privileges(self.0 | other.0)
    }
}

impl BitOrAssign for Privileges {
    fn bitor_assign(&mut self, other: Privileges) {
        self.0 |= other.0;
    }
}

impl BitAnd for Privileges {
    type Output = Privileges;
    fn bitand(self, other: Privileges) -> Privileges {
        Privileges(self.0 & other.0)
    }
}

/// The dynamic privileges of MySQL 8.4's server, sorted; GRANT of another name is error 3619.
pub const DYNAMIC_PRIVILEGES: &[&str] = &[
    "ALLOW_NONEXISTENT_DEFINER",
    "APPLICATION_PASSWORD_ADMIN",
    "AUDIT_ABORT_EXEMPT",
    "AUDIT_ADMIN",
    "AUTHENTICATION_POLICY_ADMIN",
    "BACKUP_ADMIN",
    "BINLOG_ADMIN",
    "BINLOG_ENCRYPTION_ADMIN",
    "CLONE_ADMIN",
    "CONNECTION_ADMIN",
    "ENCRYPTION_KEY_ADMIN",
    "FIREWALL_EXEMPT",
    "FLUSH_OPTIMIZER_COSTS",
    "FLUSH_PRIVILEGES",
    "FLUSH_STATUS",
    "FLUSH_TABLES",
    "FLUSH_USER_RESOURCES",
    "GROUP_REPLICATION_ADMIN",
    "GROUP_REPLICATION_STREAM",
    "INNODB_REDO_LOG_ARCHIVE",
    "INNODB_REDO_LOG_ENABLE",
    "OPTIMIZE_LOCAL_TABLE",
    "PASSWORDLESS_USER_ADMIN",
    "PERSIST_RO_VARIABLES_ADMIN",
    "REPLICATION_APPLIER",
    "REPLICATION_SLAVE_ADMIN",
    "RESOURCE_GROUP_ADMIN",
    "RESOURCE_GROUP_USER",
    "ROLE_ADMIN",
    "SENSITIVE_VARIABLES_OBSERVER",
    "SERVICE_CONNECTION_ADMIN",
    "SESSION_VARIABLES_ADMIN",
    "SET_ANY_DEFINER",
    "SHOW_ROUTINE",
    "SYSTEM_USER",
    "SYSTEM_VARIABLES_ADMIN",
    "TABLE_ENCRYPTION_ADMIN",
    "TELEMETRY_LOG_ADMIN",
    "TRANSACTION_GTID_TAG",
    "XA_RECOVER_ADMIN",
];
