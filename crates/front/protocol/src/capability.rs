//! Capability flags of the handshake and status flags of OK and EOF packets, with the protocol's bit positions.

macro_rules! flags {
    ($(#[$meta:meta])* $name:ident: $int:ty { $($(#[$doc:meta])* $flag:ident = $bit:expr;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub $int);

        impl $name {
            pub const NONE: $name = $name(0);
            $($(#[$doc])* pub const $flag: $name = $name(1 << $bit);)*

            /// Every flag of `other` is set here.
            #[inline]
            pub const fn has(self, other: $name) -> bool {
                self.0 & other.0 == other.0
            }

            /// This with the flags of `other` set or cleared.
            #[inline]
            #[must_use]
            pub const fn with(self, other: $name, on: bool) -> $name {
                if on { $name(self.0 | other.0) } else { $name(self.0 & !other.0) }
            }
        }

        impl std::ops::BitOr for $name {
            type Output = $name;
            fn bitor(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }
        }

        impl std::ops::BitOrAssign for $name {
            fn bitor_assign(&mut self, other: $name) {
                self.0 |= other.0;
            }
        }

        impl std::ops::BitAnd for $name {
            type Output = $name;
            fn bitand(self, other: $name) -> $name {
                $name(self.0 & other.0)
            }
        }

        impl std::ops::Not for $name {
            type Output = $name;
            fn not(self) -> $name {
                $name(!self.0)
            }
        }
    };
}
pub(crate) use flags;

flags! {
    /// What client and server agree to use: the flags that both have.
    Capabilities: u32 {
        LONG_PASSWORD = 0;
        /// UPDATE reports rows found, not rows changed.
        FOUND_ROWS = 1;
        LONG_FLAG = 2;
        CONNECT_WITH_DB = 3;
        NO_SCHEMA = 4;
        COMPRESS = 5;
        ODBC = 6;
        LOCAL_FILES = 7;
        IGNORE_SPACE = 8;
        PROTOCOL_41 = 9;
        /// `interactive_timeout` rules instead of `wait_timeout`.
        INTERACTIVE = 10;
        SSL = 11;
        IGNORE_SIGPIPE = 12;
        TRANSACTIONS = 13;
        RESERVED = 14;
        SECURE_CONNECTION = 15;
        MULTI_STATEMENTS = 16;
        MULTI_RESULTS = 17;
        PS_MULTI_RESULTS = 18;
        PLUGIN_AUTH = 19;
        CONNECT_ATTRS = 20;
        PLUGIN_AUTH_LENENC_CLIENT_DATA = 21;
        CAN_HANDLE_EXPIRED_PASSWORDS = 22;
        SESSION_TRACK = 23;
        DEPRECATE_EOF = 24;
        OPTIONAL_RESULTSET_METADATA = 25;
        ZSTD_COMPRESSION_ALGORITHM = 26;
        QUERY_ATTRIBUTES = 27;
        MULTI_FACTOR_AUTHENTICATION = 28;
        CAPABILITY_EXTENSION = 29;
        SSL_VERIFY_SERVER_CERT = 30;
        REMEMBER_OPTIONS = 31;
    }
}

impl Capabilities {
    /// What this server offers, besides SSL where it has TLS, and compression as `protocol_compression_algorithms` has it. Not
    /// offered, because not served: MULTI_FACTOR_AUTHENTICATION.
    pub const SERVER: Capabilities = Capabilities(
        Self::LONG_PASSWORD.0
            | Self::FOUND_ROWS.0
            | Self::LONG_FLAG.0
            | Self::CONNECT_WITH_DB.0
            | Self::NO_SCHEMA.0
            | Self::ODBC.0
            | Self::LOCAL_FILES.0
            | Self::IGNORE_SPACE.0
            | Self::PROTOCOL_41.0
            | Self::INTERACTIVE.0
            | Self::IGNORE_SIGPIPE.0
            | Self::TRANSACTIONS.0
            | Self::RESERVED.0
            | Self::SECURE_CONNECTION.0
            | Self::MULTI_STATEMENTS.0
            | Self::MULTI_RESULTS.0
            | Self::PS_MULTI_RESULTS.0
            | Self::PLUGIN_AUTH.0
            | Self::CONNECT_ATTRS.0
            | Self::PLUGIN_AUTH_LENENC_CLIENT_DATA.0
            | Self::CAN_HANDLE_EXPIRED_PASSWORDS.0
            | Self::SESSION_TRACK.0
            | Self::DEPRECATE_EOF.0
            | Self::OPTIONAL_RESULTSET_METADATA.0
            | Self::QUERY_ATTRIBUTES.0,
    );
}

flags! {
    /// `SERVER_STATUS_*`: the state of the session that OK and EOF packets carry.
    ServerStatus: u16 {
        IN_TRANSACTION = 0;
        AUTOCOMMIT = 1;
        MORE_RESULTS_EXISTS = 3;
        NO_GOOD_INDEX_USED = 4;
        NO_INDEX_USED = 5;
        CURSOR_EXISTS = 6;
        LAST_ROW_SENT = 7;
        DB_DROPPED = 8;
        NO_BACKSLASH_ESCAPES = 9;
        METADATA_CHANGED = 10;
        QUERY_WAS_SLOW = 11;
        PS_OUT_PARAMS = 12;
        IN_TRANSACTION_READONLY = 13;
        SESSION_STATE_CHANGED = 14;
    }
}
