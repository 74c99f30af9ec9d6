//! Line plots as SVG text: thread counts across, on a logarithmic scale; a figure upwards from zero; one line a target, with a
//! bar at each point from the least to the greatest of its rounds. Colours come from a style sheet ([`style`]), so that light
//! and dark both work; each line also has its own dash pattern and marker, for eyes and printers without colour.
//!
//! Plotting crates were tried (`docs/decisions/109-libraries.md`): they write colours into each element, without classes,
//! titles and descriptions.

use std::fmt::Write;

/// One target's line of a plot.
pub struct Line<'a> {
    pub name: &'a str,
    /// One for each thread count; `None` leaves a gap.
    pub values: Vec<Option<f64>>,
    /// The least and the greatest round beside each value; empty: there is one round.
    pub spread: Vec<Option<(f64, f64)>>,
}

/// One picture: a figure over thread counts.
pub struct Plot<'a> {
    /// Unique on the page, for the ids of title and description.
    pub id: &'a str,
    pub title: &'a str,
    pub unit: &'a str,
    /// Ascending.
    pub threads: &'a [usize],
    pub lines: Vec<Line<'a>>,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 320.0;
/// Room for axis text: left, right, top, bottom.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 64.0;
/// Between the frame and the first and last thread count.
const INSET: f64 = 26.0;
/// The height of each further row of the legend, and the room of a sample with its gaps.
const LEGEND_ROW: f64 = 20.0;
const LEGEND_SAMPLE: f64 = 48.0;
/// A letter of 13 pixels takes about so much; digits a little less.
const LETTER: f64 = 7.5;

/// Colour in light and in dark, dash pattern.
const STYLES: [(&str, &str, &str); 8] = [
    ("#0b63ce", "#6fb1ff", "none"),
    ("#b3470a", "#ffab70", "7 4"),
    ("#2b7a2b", "#7ed67e", "2 3"),
    ("#8a3ab9", "#d0a0ff", "9 3 2 3"),
    ("#8c6d00", "#e6c84f", "12 3"),
    ("#b3196b", "#ff8ec2", "1 4"),
    ("#00757a", "#5fd6dc", "5 2"),
    ("#5b6472", "#a0a9b8", "16 4"),
];

/// The style sheet of plots.
pub fn style() -> String {
    let mut out = String::from(":root { --ink: #1d2129; --dim: #5b6472; --rule: #d5d9e0;");
    for (n, (light, _, _)) in STYLES.iter().enumerate() {
        put(&mut out, format_args!(" --c{n}: {light};"));
    }
    out.push_str(" }\n@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --dim: #a0a9b8; --rule: #39404c;");
    for (n, (_, dark, _)) in STYLES.iter().enumerate() {
        put(&mut out, format_args!(" --c{n}: {dark};"));
    }
    out.push_str(
        " } }\nsvg text { font-size: 13px; fill: var(--ink); } svg .head { font-weight: 600; }
svg .y { text-anchor: end; fill: var(--dim); } svg .x { text-anchor: middle; fill: var(--dim); }
.grid, .tick { stroke: var(--rule); fill: none; } .line path { fill: none; stroke-width: 2; }
.line .mark { stroke-width: 1; stroke-dasharray: none; }
.line .spread { stroke-width: 1.5; stroke-dasharray: none; opacity: .6; }\n",
    );
    for (n, (_, _, dash)) in STYLES.iter().enumerate() {
        put(&mut out, format_args!(".l{n} path {{ stroke: var(--c{n}); stroke-dasharray: {dash} }} "));
        put(&mut out, format_args!(".l{n} .mark {{ fill: var(--c{n}) }}\n"));
    }
    out
}

/// Height of a plot with its legend.
fn height(plot: &Plot<'_>) -> f64 {
    let rows = legend(plot).last().map_or(0, |(row, _)| *row);
    HEIGHT + LEGEND_ROW * rows as f64
}

/// Row and left edge of each line's place in the legend: one after the other, as many in a row as there is room for.
fn legend(plot: &Plot<'_>) -> Vec<(usize, f64)> {
    let (mut row, mut at) = (0, LEFT);
    let mut places = Vec::new();
    for line in &plot.lines {
        let width = LEGEND_SAMPLE + line.name.chars().count() as f64 * LETTER;
        if at > LEFT && at + width > WIDTH - RIGHT {
            (row, at) = (row + 1, LEFT);
        }
        places.push((row, at));
        at += width;
    }
    places
}

/// Where a thread count stands: powers of two are equally far apart.
fn across(threads: &[usize], count: usize) -> f64 {
    let log = |n: usize| (n.max(1) as f64).log2();
    let (first, last) = (log(threads.first().copied().unwrap_or(1)), log(threads.last().copied().unwrap_or(1)));
    let (left, right) = (LEFT + INSET, WIDTH - RIGHT - INSET);
    if last > first { left + (right - left) * (log(count) - first) / (last - first) } else { (left + right) / 2.0 }
}

/// The thread counts whose labels do not run into each other, the greatest of all and then from the right.
fn labelled(threads: &[usize]) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    let mut free = f64::INFINITY;
    for &count in threads.iter().rev() {
        let half = count.to_string().len() as f64 * LETTER / 2.0;
        let at = across(threads, count);
        if at + half + LETTER <= free {
            kept.push(count);
            free = at - half;
        }
    }
    kept.reverse();
    kept
}

/// A file of its own: the plots row by row.
pub fn document(plots: &[Plot<'_>], columns: usize) -> String {
    let row = plots.iter().map(height).fold(HEIGHT, f64::max);
    let (width, tall) = (WIDTH * columns as f64, row * plots.len().div_ceil(columns) as f64);
    let mut out = String::new();
    put(&mut out, format_args!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {tall}\" "));
    put(&mut out, format_args!("font-family=\"system-ui, sans-serif\">\n<style>\n{}svg {{ background: ", style()));
    out.push_str("#fff }\n@media (prefers-color-scheme: dark) { svg { background: #15181e } }\n</style>\n");
    for (n, plot) in plots.iter().enumerate() {
        let (x, y) = ((n % columns) as f64 * WIDTH, (n / columns) as f64 * row);
        put(&mut out, format_args!("<svg x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{row}\">\n"));
        out.push_str(&render(plot));
        out.push_str("</svg>\n");
    }
    out.push_str("</svg>\n");
    out
}

/// The plot as an `svg` element that uses [`style`].
pub fn render(plot: &Plot<'_>) -> String {
    let values = plot.lines.iter().flat_map(|line| line.values.iter().flatten().copied());
    let greatest = plot.lines.iter().flat_map(|line| line.spread.iter().flatten().map(|(_, high)| *high));
    let top = values.chain(greatest).filter(|value| value.is_finite()).fold(0.0, f64::max);
    let step = tick_step(top);
    let ceiling = (top / step).ceil().max(1.0) * step;
    let x = |i: usize| across(plot.threads, plot.threads[i]);
    let y = |value: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / ceiling;
    let mut out = String::new();
    let (id, title, unit) = (plot.id, escape(plot.title), escape(plot.unit));
    put(
        &mut out,
        format_args!("<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">", height(plot)),
    );
    put(&mut out, format_args!("<title id=\"{id}-t\">{title}</title><desc id=\"{id}-d\">{}</desc>", describe(plot)));
    put(&mut out, format_args!("<text class=\"head\" x=\"{LEFT}\" y=\"18\">{title}, {unit}</text>"));
    let mut value = 0.0;
    while value <= ceiling * 1.0001 {
        let (right, at) = (WIDTH - RIGHT, y(value));
        put(&mut out, format_args!("<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/>"));
        let (left, at) = (LEFT - 6.0, at + 4.0);
        put(&mut out, format_args!("<text class=\"y\" x=\"{left}\" y=\"{at:.1}\">{}</text>", short(value)));
        value += step;
    }
    for &threads in plot.threads {
        let (at, foot) = (across(plot.threads, threads), HEIGHT - BOTTOM);
        put(&mut out, format_args!("<path class=\"tick\" d=\"M{at:.1} {foot}v4\"/>"));
    }
    for threads in labelled(plot.threads) {
        let (at, base) = (across(plot.threads, threads), HEIGHT - BOTTOM + 18.0);
        put(&mut out, format_args!("<text class=\"x\" x=\"{at:.1}\" y=\"{base}\">{threads}</text>"));
    }
    let (middle, base) = ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - BOTTOM + 34.0);
    put(&mut out, format_args!("<text class=\"x\" x=\"{middle}\" y=\"{base}\">threads (logarithmic)</text>"));
    for ((n, line), (row, at)) in plot.lines.iter().enumerate().zip(legend(plot)) {
        put(&mut out, format_args!("<g class=\"line l{}\">", n % STYLES.len()));
        let mut path = String::new();
        let mut drawing = false;
        for (i, value) in line.values.iter().enumerate() {
            let Some(value) = value else {
                drawing = false;
                continue;
            };
            let _infallible = write!(path, "{}{:.1} {:.1}", if drawing { "L" } else { "M" }, x(i), y(*value));
            drawing = true;
        }
        put(&mut out, format_args!("<path d=\"{path}\"/>"));
        for (i, (low, high)) in line.spread.iter().enumerate().filter_map(|(i, spread)| Some((i, (*spread)?))) {
            // Beside each other where lines meet.
            let at = x(i) + (n as f64 - (plot.lines.len() - 1) as f64 / 2.0) * 2.0;
            let (from, to, left) = (y(low), y(high), at - 4.0);
            put(&mut out, format_args!("<path class=\"spread\" d=\"M{at:.1} {from:.1}V{to:.1}"));
            put(&mut out, format_args!("M{left:.1} {from:.1}h8M{left:.1} {to:.1}h8\"/>"));
        }
        for (i, value) in line.values.iter().enumerate() {
            let Some(value) = value else { continue };
            let mark = marker(n, x(i), y(*value));
            let (name, threads, rounds) = (escape(line.name), plot.threads[i], rounds(line, i));
            let value = short(*value);
            put(
                &mut out,
                format_args!("{mark}<title>{name}, {threads} threads: {value} {unit}{rounds}</title></path>"),
            );
        }
        let base = HEIGHT - 10.0 + LEGEND_ROW * row as f64;
        put(
            &mut out,
            format_args!("<path d=\"M{at} {:.1}h24\"/>{}</path>", base - 4.0, marker(n, at + 12.0, base - 4.0)),
        );
        put(&mut out, format_args!("<text x=\"{}\" y=\"{base}\">{}</text></g>", at + 30.0, escape(line.name)));
    }
    out.push_str("</svg>\n");
    out
}

/// What is said of a point's rounds.
fn rounds(line: &Line<'_>, i: usize) -> String {
    let spread = line.spread.get(i).copied().flatten();
    spread.map_or_else(String::new, |(low, high)| format!(" (rounds {} to {})", short(low), short(high)))
}

/// A path left open for a `<title>` inside it: circle, square, triangle, diamond by turns.
fn marker(n: usize, x: f64, y: f64) -> String {
    let shape = match n % 4 {
        0 => "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
        1 => "m-3.5-3.5h7v7h-7z",
        2 => "m0-5l5 9h-10z",
        _ => "m0-5l5 5l-5 5l-5-5z",
    };
    format!("<path class=\"mark\" d=\"M{x:.1} {y:.1}{shape}\">")
}

/// What a screen reader says: every line's figures.
fn describe(plot: &Plot<'_>) -> String {
    let mut text = String::new();
    for line in &plot.lines {
        let _infallible = write!(text, "{}: ", escape(line.name));
        for (i, (threads, value)) in plot.threads.iter().zip(&line.values).enumerate() {
            let value = value.map_or_else(|| "none".to_owned(), short);
            let _infallible = write!(text, "{value} at {threads} threads{}, ", rounds(line, i));
        }
        text.truncate(text.trim_end_matches(", ").len());
        text.push_str(". ");
    }
    text
}

/// 1, 2 or 5 times a power of ten, for about five grid lines.
fn tick_step(top: f64) -> f64 {
    if top <= 0.0 {
        return 1.0;
    }
    let rough = top / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * power >= rough * 0.9999).unwrap_or(10.0);
    times * power
}

/// 12300 as 12.3k, so that axis text stays narrow.
pub fn short(value: f64) -> String {
    let (scaled, suffix) = match value {
        v if v >= 1e6 => (v / 1e6, "M"),
        v if v >= 1e4 => (v / 1e3, "k"),
        v => (v, ""),
    };
    let digits = if scaled >= 100.0 || scaled == scaled.trunc() { 0 } else { 2 };
    let text = format!("{scaled:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{suffix}")
}

/// Text for XML, in quotes too.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _infallible = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        for (top, step) in [(0.0, 1.0), (4.0, 1.0), (93.0, 20.0), (272_000.0, 100_000.0), (0.3, 0.1)] {
            assert!((tick_step(top) - step).abs() < step * 1e-9, "{top}");
        }
        assert_eq!(
            (short(272_310.0), short(12_000.0), short(2.5), short(60.0)),
            ("272k".into(), "12k".into(), "2.5".into(), "60".into())
        );
    }

    #[test]
    fn a_gap_breaks_the_line_and_markup_is_escaped() {
        let lines = vec![Line { name: "<a&b>", values: vec![Some(1.0), None, Some(3.0)], spread: vec![] }];
        let text = render(&Plot { id: "p", title: "t", unit: "q/s", threads: &[4, 16, 64], lines });
        assert!(!text.contains("<a&b>") && text.contains("&lt;a&amp;b&gt;"), "{text}");
        assert!(text.contains("none at 16 threads"), "{text}");
        let path = text.split("<g class=\"line l0\"><path d=\"").nth(1).and_then(|rest| rest.split('"').next());
        assert_eq!(path.map(|path| path.matches('M').count()), Some(2), "two pieces: {text}");
    }

    #[test]
    fn thread_counts_stand_by_their_logarithm_and_labels_apart() {
        let threads = [4, 16, 64, 256];
        let gaps: Vec<f64> = threads.windows(2).map(|w| across(&threads, w[1]) - across(&threads, w[0])).collect();
        assert!(gaps.iter().all(|gap| (gap - gaps[0]).abs() < 1e-9), "{gaps:?}");
        assert!(across(&[1, 2, 256], 2) - across(&[1, 2, 256], 1) < across(&[1, 2, 256], 256) / 4.0);
        assert_eq!(labelled(&threads), threads);
        let crowded = [1, 240, 248, 256];
        assert_eq!(labelled(&crowded), [1, 256], "what runs into a greater one has a tick alone");
        assert!(across(&[8], 8).is_finite());
    }

    #[test]
    fn rounds_are_drawn_and_the_highest_fits() {
        let lines = vec![Line { name: "a", values: vec![Some(10.0)], spread: vec![Some((5.0, 95.0))] }];
        let text = render(&Plot { id: "p", title: "t", unit: "q/s", threads: &[4], lines });
        assert!(text.contains("class=\"spread\"") && text.contains("(rounds 5 to 95)"), "{text}");
        assert!(text.contains(">100</text>"), "the axis goes up to what the rounds reach: {text}");
    }

    #[test]
    fn long_names_of_a_legend_go_into_further_rows() {
        let name = "a server with a name that is long";
        let line = || Line { name, values: vec![Some(1.0)], spread: vec![] };
        let plot = Plot { id: "p", title: "t", unit: "q/s", threads: &[4], lines: vec![line(), line(), line()] };
        let rows: Vec<usize> = legend(&plot).into_iter().map(|(row, _)| row).collect();
        assert_eq!(rows, [0, 1, 2]);
        assert!(height(&plot) > HEIGHT);
    }
}
