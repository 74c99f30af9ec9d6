//! Sums of statements by digest, and how long statements took.

use crate::statements::{digest_columns, figures, ps, times};
use crate::{Context, Row, maybe, moment, text, uint};
use observe::digests::{self, DigestRow};
use observe::latency::{BUCKET_ENDS_PS, Latencies};
use types::{Result, Value};

pub(crate) fn summary(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(digests::rows().into_iter().map(|row| {
        let DigestRow { schema, digest, totals, latencies, first_seen_us, last_seen_us, sample } = row;
        let (hash, digest) = digest_columns(digest);
        let mut row = vec![maybe(schema), hash, digest];
        row.extend(times(&totals.time));
        row.extend(figures(&totals.figures));
        // COUNT_SECONDARY
        row.push(uint(0));
        row.extend([moment(first_seen_us), moment(last_seen_us)]);
        row.extend([950, 990, 999].map(|thousandths| uint(latencies.quantile_ps(thousandths))));
        match sample {
            Some(sample) => {
                row.push(text(String::from_utf8_lossy(&sample.text).into_owned()));
                row.extend([moment(sample.seen_us), ps(sample.took_ns)]);
            }
            None => row.extend([Value::Null, moment(0), uint(0)]),
        }
        row
    }));
    Ok(())
}

/// BUCKET_NUMBER and what follows.
fn buckets(latencies: &Latencies) -> impl Iterator<Item = [Value<'static>; 6]> + '_ {
    let total = latencies.total();
    let (mut low, mut lower) = (0, 0);
    latencies.counts().iter().zip(BUCKET_ENDS_PS).zip(0..).map(move |((&count, high), number)| {
        lower += count;
        let quantile = if total == 0 { 0.0 } else { lower as f64 / total as f64 };
        let bucket = [uint(number), uint(low), uint(high), uint(count), uint(lower), Value::Double(quantile)];
        low = high;
        bucket
    })
}

pub(crate) fn histogram(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    for row in digests::rows() {
        let (hash, _) = digest_columns(row.digest);
        let schema = maybe(row.schema);
        for bucket in buckets(&row.latencies) {
            let mut row = vec![schema.clone(), hash.clone()];
            row.extend(bucket);
            out.push(row);
        }
    }
    Ok(())
}

pub(crate) fn global_histogram(_: &Context, out: &mut Vec<Row>) -> Result<()> {
    out.extend(buckets(&digests::all_latencies()).map(|bucket| bucket.into()));
    Ok(())
}
