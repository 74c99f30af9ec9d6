//! One page that needs nothing but itself: plots, the table, the remarks and how to repeat it. Follows the reader's
//! light or dark preference; every plot has its figures in the table and in its description.

use std::fmt::Write;

use crate::options::Options;
use crate::run::Sweep;
use crate::summary::{Figures, Summary};
use crate::svg::{self, Line, Plot, escape};
use crate::table;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1d2129; --dim: #5b6472; --rule: #d5d9e0; --page: #fff; --warn: #a5310b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --dim: #a0a9b8; --rule: #39404c; --page: #15181e;
  --warn: #ff9d78; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 75rem;
  margin: 2rem auto; padding: 0 1rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1.5rem; }
svg { width: 100%; height: auto; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--dim); } th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--rule);
  text-align: right; white-space: nowrap; } th:first-child, td:first-child { text-align: left; }
.remarks li { color: var(--warn); } dt { color: var(--dim); } dd { margin: 0 0 .4rem; }
";

/// The page. It loads nothing from elsewhere.
pub fn render(options: &Options, sweep: &Sweep, summary: &Summary) -> String {
    let names: Vec<&str> = options.targets.iter().map(|target| target.name.as_str()).collect();
    let title = escape(&format!("Thread sweep: {}", names.join(", ")));
    let mut out = String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    put(&mut out, format_args!("<title>{title}</title>\n<style>{STYLE}{}", svg::style()));
    put(&mut out, format_args!("</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"));
    let remarks = table::remarks(options, summary);
    if !remarks.is_empty() {
        out.push_str("<ul class=\"remarks\">\n");
        for remark in remarks {
            put(&mut out, format_args!("<li>{}</li>\n", escape(&remark)));
        }
        out.push_str("</ul>\n");
    }
    out.push_str("<div class=\"plots\">\n");
    for (n, test) in options.tests.iter().enumerate() {
        out.push_str(&svg::render(&throughput(options, summary, test, &format!("q{n}"))));
        let latency = |figures: &Figures| (figures.p95_ms, figures.p95_ms_spread);
        let id = format!("l{n}");
        out.push_str(&svg::render(&plot(options, summary, test, (&id, "ms at the 95th percentile"), latency)));
    }
    out.push_str("</div>\n<h2>Figures</h2>\n<div class=\"scroll\"><table>\n");
    let rounds = options.repeat;
    put(
        &mut out,
        format_args!(
            "<caption>Medians of {rounds} interleaved rounds, in the plots with the least and the greatest of them; \
             figures that share a cell stand in the order of the targets ({}).</caption>\n<thead><tr>",
            escape(&names.join(" · "))
        ),
    );
    for word in table::header(options) {
        put(&mut out, format_args!("<th scope=\"col\">{}</th>", escape(&word)));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for cell in &summary.cells {
        out.push_str("<tr>");
        for (column, word) in table::row(cell).iter().enumerate() {
            let (open, close) = if column == 0 { ("<th scope=\"row\">", "</th>") } else { ("<td>", "</td>") };
            put(&mut out, format_args!("{open}{}{close}", escape(word)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n<h2>How</h2>\n<dl>\n");
    for (i, target) in options.targets.iter().enumerate() {
        let version = sweep.versions.get(i).map_or("unknown", String::as_str);
        let place = target.address.to_string();
        put(
            &mut out,
            format_args!("<dt>{}</dt><dd>{} at {}</dd>\n", escape(&target.name), escape(version), escape(&place)),
        );
    }
    let how = format!(
        "{}; {} tables of {} rows, {} keys; {} s a run after {} s of warm-up; {} {}",
        sweep.sysbench,
        options.tables,
        options.table_size,
        options.rand_type,
        options.time.as_secs(),
        options.warmup.as_secs(),
        if options.extra.is_empty() { "no extra words" } else { "extra words:" },
        options.extra.join(" ")
    );
    put(&mut out, format_args!("<dt>Load</dt><dd>{}</dd>\n", escape(how.trim_end())));
    put(&mut out, format_args!("<dt>Started</dt><dd>{}</dd>\n</dl>\n</main>\n</body>\n</html>\n", utc(sweep.started)));
    out
}

/// The plots of throughput as a file of their own, two in a row.
pub fn picture(options: &Options, summary: &Summary) -> String {
    let ids: Vec<String> = (0..options.tests.len()).map(|n| format!("q{n}")).collect();
    let plots: Vec<Plot<'_>> =
        options.tests.iter().zip(&ids).map(|(test, id)| throughput(options, summary, test, id)).collect();
    svg::document(&plots, plots.len().clamp(1, 2))
}

fn throughput<'a>(options: &'a Options, summary: &Summary, test: &'a str, id: &'a str) -> Plot<'a> {
    plot(options, summary, test, (id, "queries/s"), |figures| (figures.qps, figures.qps_spread))
}

/// `figure`: the median, and the least and the greatest round.
fn plot<'a>(
    options: &'a Options,
    summary: &Summary,
    test: &'a str,
    (id, unit): (&'a str, &'a str),
    figure: impl Fn(&Figures) -> (f64, (f64, f64)),
) -> Plot<'a> {
    let cells = || summary.cells.iter().filter(|cell| cell.test == test);
    let figures = |target: usize| cells().map(move |cell| cell.places[target].figures.as_ref());
    let lines = options.targets.iter().enumerate().map(|(i, target)| Line {
        name: &target.name,
        values: figures(i).map(|figures| figures.map(|figures| figure(figures).0)).collect(),
        spread: match options.repeat {
            1 => Vec::new(),
            _ => figures(i).map(|figures| figures.map(|figures| figure(figures).1)).collect(),
        },
    });
    Plot { id, title: test, unit, threads: &options.threads, lines: lines.collect() }
}

/// `2026-11-21 22:30 UTC`, by the civil-from-days rule of the proleptic Gregorian calendar.
fn utc(seconds: u64) -> String {
    let days = (seconds / 86_400) as i64 + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) =
        (day_of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let (hour, minute) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _infallible = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::{options, run, sweep};

    #[test]
    fn the_page_stands_alone_and_is_well_formed() {
        let options = options("--target a<b=h:1 --target c=h:2 --tests t --threads 4,64");
        let runs = vec![run(0, 4, 10.0, 0.1), run(1, 4, 5.0, 0.1), run(0, 64, 2.0, 0.9)];
        let sweep = sweep(runs);
        let page = render(&options, &sweep, &Summary::of(&options, &sweep));
        assert!(!page.contains("http") && !page.contains("src=") && !page.contains("a<b"), "{page}");
        assert!(page.contains("prefers-color-scheme: dark") && page.contains("2.00"), "{page}");
        assert!(page.contains("cause: lock"), "{page}");
        assert_eq!(page.matches("<svg").count(), 2);
        for tag in ["svg", "path", "text", "g", "title", "table", "tr", "td", "th", "ul", "div", "dl", "main"] {
            let opened = page.matches(&format!("<{tag} ")).count() + page.matches(&format!("<{tag}>")).count();
            let closed = page.matches(&format!("</{tag}>")).count();
            let open = format!("<{tag} ");
            let empty = page
                .split(&open)
                .skip(1)
                .filter(|rest| rest.split('>').next().is_some_and(|attributes| attributes.ends_with('/')));
            assert_eq!(opened, closed + empty.count(), "{tag}");
        }
    }

    #[test]
    fn dates_of_the_calendar() {
        assert_eq!(utc(0), "1970-01-01 00:00 UTC");
        assert_eq!(utc(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(utc(1_795_300_200), "2026-11-21 22:30 UTC");
    }
}
