//! The table that the bug reports print: test | threads | A | B | ratio, with latency, CPU and errors; valid Markdown.

use crate::options::Options;
use crate::summary::{Cell, Place, Summary, ratio};

/// The columns of a result, also those of the HTML page.
pub fn header(options: &Options) -> Vec<String> {
    let mut words = vec!["test".to_owned(), "threads".to_owned()];
    words.extend(options.targets.iter().map(|target| format!("{} q/s", target.name)));
    let first = &options.targets[0].name;
    words.extend(options.targets.iter().skip(1).map(|other| format!("{first}/{}", other.name)));
    for (title, unit) in [("p95", "ms"), ("server CPU", "µs/q"), ("switches", "/q vol+invol")] {
        words.push(format!("{title} {unit}"));
    }
    words.push("errors".to_owned());
    words
}

/// One row for each cell; figures of several targets in one column stand in their order.
pub fn row(cell: &Cell) -> Vec<String> {
    let places = &cell.places;
    let mut words = vec![cell.test.clone(), cell.threads.to_string()];
    words.extend(places.iter().map(throughput));
    words.extend(places.iter().skip(1).map(|other| dash(ratio(&places[0], other), 2)));
    let join = |figure: &dyn Fn(&Place) -> String| places.iter().map(figure).collect::<Vec<_>>().join(" · ");
    words.push(join(&|place| dash(place.figures.as_ref().map(|f| f.p95_ms), 2)));
    words.push(join(&|place| dash(server(place, |s| s.cpu_us_per_query), 1)));
    words.push(join(&|place| {
        let voluntary = server(place, |s| s.voluntary_switches_per_query);
        let involuntary = server(place, |s| s.involuntary_switches_per_query);
        if voluntary.is_none() { "-".to_owned() } else { format!("{}+{}", dash(voluntary, 2), dash(involuntary, 2)) }
    }));
    words.push(join(&errors));
    words
}

fn server(place: &Place, figure: impl Fn(&crate::run::ServerCost) -> f64) -> Option<f64> {
    place.figures.as_ref()?.server.as_ref().map(figure).filter(|value| !value.is_nan())
}

fn throughput(place: &Place) -> String {
    match &place.figures {
        Some(figures) => format!("{:.0}", figures.qps),
        None => "FAILED".to_owned(),
    }
}

fn errors(place: &Place) -> String {
    let mut text = place.errors.to_string();
    if place.reconnects > 0 {
        text += &format!(", {} reconnects", place.reconnects);
    }
    if place.failed_runs > 0 {
        text += &format!(", {} runs failed", place.failed_runs);
    }
    text
}

fn dash(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

/// Every sentence about the sweep as a whole: collapses with their cause, and what failed.
pub fn remarks(options: &Options, summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    for fall in &summary.collapses {
        let name = &options.targets[fall.target].name;
        lines.push(format!(
            "{name} keeps {:.0} % of its {} peak ({} threads) at {} threads; cause: {} ({})",
            fall.kept * 100.0,
            fall.test,
            fall.peak_threads,
            fall.last_threads,
            fall.cause.word(),
            fall.cause.sentence()
        ));
    }
    for cell in &summary.cells {
        for (place, target) in cell.places.iter().zip(&options.targets) {
            if let Some(message) = &place.first_failure {
                lines.push(format!("{}: {}, {} threads failed: {message}", target.name, cell.test, cell.threads));
            }
        }
    }
    lines.extend(summary.failures.iter().cloned());
    lines
}

/// The whole report as text.
pub fn render(options: &Options, summary: &Summary) -> String {
    let mut rows = vec![header(options)];
    rows.extend(summary.cells.iter().map(row));
    let columns = rows[0].len();
    let widths: Vec<usize> =
        (0..columns).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let padded: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(
                |(column, (word, &width))| {
                    if column == 0 { format!("{word:<width$}") } else { format!("{word:>width$}") }
                },
            )
            .collect();
        format!("| {} |\n", padded.join(" | "))
    };
    let mut text = line(&rows[0]);
    let rules: Vec<String> = widths
        .iter()
        .enumerate()
        .map(|(column, &width)| if column == 0 { "-".repeat(width) } else { format!("{}:", "-".repeat(width - 1)) })
        .collect();
    text += &format!("| {} |\n", rules.join(" | "));
    text.extend(rows[1..].iter().map(line));
    for remark in remarks(options, summary) {
        text += &format!("! {remark}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::{options, run, sweep};

    #[test]
    fn the_table_shows_ratio_errors_and_cause() {
        let options = options("--target new=h:1 --target old=h:2 --tests t --threads 4,256");
        let mut failed = run(1, 256, 1.0, 0.0);
        failed.outcome = Err("error 1040: Too many connections".into());
        let runs = vec![run(0, 4, 1000.0, 0.1), run(1, 4, 400.0, 0.1), run(0, 256, 500.0, 0.9), failed];
        let text = render(&options, &Summary::of(&options, &sweep(runs)));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("new q/s") && lines[0].contains("new/old"), "{text}");
        assert!(lines[2].contains("20000") && lines[2].contains(" 2.50 "), "{text}");
        assert!(lines[3].contains("FAILED") && lines[3].contains("1 runs failed"), "{text}");
        assert!(text.contains("! new keeps 50 % of its t peak (4 threads) at 256 threads; cause: lock"), "{text}");
        assert!(text.contains("! old: t, 256 threads failed: error 1040: Too many connections"), "{text}");
        let bars = |line: &str| line.matches('|').count();
        assert!(lines[..4].iter().all(|line| bars(line) == bars(lines[0])), "one table for Markdown:\n{text}");
    }
}
