//! Line plots as SVG text: thread counts across (evenly spaced: they are powers of two or the like), a figure upwards
//! from zero, one line a target. Colours come from a style sheet ([`style`]), so that light and dark both work; each line
//! also has its own dash pattern and marker, for eyes and printers without colour.

use std::fmt::Write;

pub struct Line<'a> {
    pub name: &'a str,
    /// One for each thread count; None leaves a gap.
    pub values: Vec<Option<f64>>,
}

pub struct Plot<'a> {
    /// Unique on the page, for the ids of title and description.
    pub id: &'a str,
    pub title: &'a str,
    pub unit: &'a str,
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
/// The legend: lines in a row, and the height of each further row.
const LEGEND_COLUMNS: usize = 4;
const LEGEND_ROW: f64 = 18.0;

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
.grid { stroke: var(--rule); fill: none; } .line path { fill: none; stroke-width: 2; }
.line .mark { stroke-width: 1; stroke-dasharray: none; }\n",
    );
    for (n, (_, _, dash)) in STYLES.iter().enumerate() {
        put(&mut out, format_args!(".l{n} path {{ stroke: var(--c{n}); stroke-dasharray: {dash} }} "));
        put(&mut out, format_args!(".l{n} .mark {{ fill: var(--c{n}) }}\n"));
    }
    out
}

/// Height of a plot with so many lines.
fn height(lines: usize) -> f64 {
    HEIGHT + LEGEND_ROW * (lines.div_ceil(LEGEND_COLUMNS).max(1) - 1) as f64
}

/// A file of its own: the plots row by row.
pub fn document(plots: &[Plot<'_>], columns: usize) -> String {
    let row = plots.iter().map(|plot| height(plot.lines.len())).fold(HEIGHT, f64::max);
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

pub fn render(plot: &Plot<'_>) -> String {
    let top = plot.lines.iter().flat_map(|line| line.values.iter().flatten()).copied().fold(0.0, f64::max);
    let step = tick_step(top);
    let ceiling = (top / step).ceil().max(1.0) * step;
    // Each thread count stands in the middle of its share of the width.
    let x = |i: usize| LEFT + (WIDTH - LEFT - RIGHT) * (i as f64 + 0.5) / plot.threads.len() as f64;
    let y = |value: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / ceiling;
    let mut out = String::new();
    let (id, title, unit) = (plot.id, escape(plot.title), escape(plot.unit));
    put(
        &mut out,
        format_args!(
            "<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">",
            height(plot.lines.len())
        ),
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
    for (i, threads) in plot.threads.iter().enumerate() {
        let (at, base) = (x(i), HEIGHT - BOTTOM + 18.0);
        put(&mut out, format_args!("<text class=\"x\" x=\"{at:.1}\" y=\"{base}\">{threads}</text>"));
    }
    let (middle, base) = ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - BOTTOM + 34.0);
    put(&mut out, format_args!("<text class=\"x\" x=\"{middle}\" y=\"{base}\">threads</text>"));
    for (n, line) in plot.lines.iter().enumerate() {
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
        for (i, value) in line.values.iter().enumerate() {
            let Some(value) = value else { continue };
            let mark = marker(n, x(i), y(*value));
            let (name, threads, value) = (escape(line.name), plot.threads[i], short(*value));
            put(&mut out, format_args!("{mark}<title>{name}, {threads} threads: {value} {unit}</title></path>"));
        }
        let (column, row) = (n % LEGEND_COLUMNS, n / LEGEND_COLUMNS);
        let (at, base) = (LEFT + 120.0 * column as f64, HEIGHT - 10.0 + LEGEND_ROW * row as f64);
        put(
            &mut out,
            format_args!("<path d=\"M{at} {:.1}h24\"/>{}</path>", base - 4.0, marker(n, at + 12.0, base - 4.0)),
        );
        put(&mut out, format_args!("<text x=\"{}\" y=\"{base}\">{}</text></g>", at + 30.0, escape(line.name)));
    }
    out.push_str("</svg>\n");
    out
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
        for (threads, value) in plot.threads.iter().zip(&line.values) {
            let value = value.map_or_else(|| "none".to_owned(), short);
            let _infallible = write!(text, "{value} at {threads} threads, ");
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
        let lines = vec![Line { name: "<a&b>", values: vec![Some(1.0), None, Some(3.0)] }];
        let text = render(&Plot { id: "p", title: "t", unit: "q/s", threads: &[4, 16, 64], lines });
        assert!(!text.contains("<a&b>") && text.contains("&lt;a&amp;b&gt;"), "{text}");
        assert!(text.contains("none at 16 threads"), "{text}");
        let path = text.split("<g class=\"line l0\"><path d=\"").nth(1).and_then(|rest| rest.split('"').next());
        assert_eq!(path.map(|path| path.matches('M').count()), Some(2), "two pieces: {text}");
    }
}
