//! Dates and times as MySQL knows them: zero dates, fractional seconds to the microsecond, TIME up to 838:59:59.

/// Year, month, day packed so that integer order is calendar order: `(year * 13 + month) << 5 | day`. Zero is 0000-00-00.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub u32);

/// Microseconds since 00:00:00, negative before; at most 838:59:59.000000 either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

/// MySQL's packed form: `((year * 13 + month) << 5 | day) << 17 | hour << 12 | minute << 6 | second`, then `<< 24 | microseconds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime(pub u64);
