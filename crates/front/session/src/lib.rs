//! One connection's session: command dispatch, variables, prepared statements, the transaction in progress.
//!
//! ```text
//!   serve --Command--> query: text -> sql -> Planned --+--> run: pins, privileges, transaction, exec --> sink --> Output
//!                      prepared: id -> Planned --------+
//!                      other statements: control, set, show, define, users
//! ```
//!
//! A session touches, per point select: its own structures, its lane of pins, its lane of the process list, and, reading
//! only, three version words (dictionary, accounts, global variables).

mod absent;
mod access_mode;
mod account_options;
mod alter;
mod alter_actions;
mod applied;
mod authority;
mod beside;
mod binary_log;
mod binary_log_statements;
mod binary_log_text;
mod binlog_statement;
pub mod buffer_pool;
mod channels;
mod charset;
mod checksum;
mod clock;
mod clone;
mod clone_remote;
mod com;
mod command;
mod connection_control;
mod control;
mod create_select;
mod define;
mod digest_place;
mod digests;
mod dump;
mod dumps;
mod encryption;
mod environment;
pub mod error_log;
mod evaluate;
mod events;
mod explain_connection;
mod expression;
mod extensions;
mod files;
mod flush;
mod foreign_servers;
mod former;
mod gathering;
mod gtid;
mod gtids;
mod handler;
mod help;
mod hints;
mod histograms;
mod hosts;
mod init_connect;
mod lent;
mod locks;
mod login;
mod logs;
mod maintain;
pub mod memory;
mod monitor;
mod needs;
mod ok_statements;
pub mod panics;
mod performance;
mod persist;
pub mod persisted;
mod prepared;
mod process;
mod process_entry;
mod profile;
mod program;
mod quotes;
mod receipt;
mod replica_apply;
mod replica_filters;
mod replica_statements;
mod replica_tables;
mod replica_turn;
mod replicas;
mod rights;
mod roles;
mod routine;
mod run;
mod seen;
mod semisync;
mod server;
mod service;
mod session;
mod session_gtid;
mod session_seen;
mod set;
mod set_within;
mod show;
mod show_rights;
mod sink;
mod startup;
mod state;
mod statement;
mod status;
mod sys;
mod table_options;
mod table_spec;
mod taken_over;
mod temporary;
pub mod tls;
mod tls_server;
mod traces;
mod tracking;
mod trigger;
mod user_locks;
mod users;
pub mod variables;
mod view;
mod viewer;
mod xa;
mod xids;

use expr::time_zone;

pub use binary_log::{check_options as check_binary_log, settings as binary_log_settings};
pub use encryption::encrypt_logs;
pub use replica::FilterOptions;
pub use server::{Server, Settings, WritePersisted, computed_variables};
pub use service::{Opened, Sessions};
pub use session::Session;
