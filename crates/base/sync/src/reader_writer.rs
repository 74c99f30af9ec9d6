//! One interface for every kind of reader-writer lock, so that kinds can be exchanged and measured against each other.
//!
//! | kind | type | a reader writes | a waiting writer | nested reads | writers wait |
//! | --- | --- | --- | --- | --- | --- |
//! | lane | [`LaneRwLock`](crate::LaneRwLock) | its own lane | holds new readers back | yes | for a look at every lane |
//! | prefer-reader | [`PreferReaderLock`](crate::PreferReaderLock) | the shared word | lets every reader pass | yes | in a queue of sleepers, one awake |
//! | prefer-writer | [`PreferWriterLock`](crate::PreferWriterLock) | the shared word | holds new readers back | deadlock | in a queue of sleepers, one awake |
//! | system | [`SystemRwLock`](crate::SystemRwLock) | the shared word | as the platform likes | deadlock | as the platform likes |
//! | parking | [`RwLock`](crate::RwLock) | the shared word | holds new readers back | deadlock | parked by address |
//!
//! The server itself gates statements with `lane` and cold structures with `parking`. The other three are kept because a
//! claim such as "the lane lock costs readers nothing" is only worth what it is compared with: `bench/locks` runs all of them,
//! and the prefer-reader kind is what metadata locks in MySQL were first built on.

/// A lock that many may hold shared or one may hold alone. It guards no value: what it protects is a matter between its holders.
/// A hold ends when its guard is dropped.
pub trait ReaderWriter: Sync {
    /// The name of the kind in tables and plots.
    const KIND: &'static str;
    type Shared<'a>
    where
        Self: 'a;
    type Exclusive<'a>
    where
        Self: 'a;

    /// Waits until the lock is held together with other readers.
    fn shared(&self) -> Self::Shared<'_>;

    /// Waits until the lock is held alone.
    fn exclusive(&self) -> Self::Exclusive<'_>;
}
