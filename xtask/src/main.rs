//! The build's own checks: `cargo xtask check` (what `make test` runs) and `cargo xtask ratchet` (writes lowered counts).
//!
//! Style is a test here. A rule that old code still breaks has its count in `xtask/ratchet.txt`: the count may fall and
//! never grow. New rules go into `tidy.rs`; which crate may use which is `layers.rs`; documents are `docs.rs`.

mod circles;
mod docs;
mod errors;
mod layers;
mod ratchet;
mod scan;
mod size;
mod tidy;

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ratchet::Ratchet;

/// A place where a rule is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub rule: &'static str,
    /// Relative to the top of the workspace.
    pub path: String,
    /// From 1; 0: the file as a whole.
    pub line: usize,
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line, self.rule, self.message)
    }
}

fn main() -> ExitCode {
    let top = top();
    let mut out = std::io::stdout();
    let command = std::env::args().nth(1).unwrap_or_default();
    let text = match command.as_str() {
        "check" => check(&top).map(|notes| format!("{notes}the house is tidy\n")),
        "ratchet" => Ratchet::write_lowered(&top, &violations(&top)).map_err(|error| error.to_string()),
        _ => Err("usage: cargo xtask check | ratchet".to_owned()),
    };
    let (text, code) = match text {
        Ok(text) => (text, ExitCode::SUCCESS),
        Err(text) => (text + "\n", ExitCode::FAILURE),
    };
    let _closed_pipe = out.write_all(text.as_bytes());
    code
}

/// The workspace that this program was built in.
fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

fn violations(top: &Path) -> Vec<Violation> {
    let mut found = layers::check(top);
    found.extend(tidy::check(top));
    found.sort_by(|a, b| (a.rule, &a.path, a.line).cmp(&(b.rule, &b.path, b.line)));
    found
}

/// Notes about counts that may be lowered, or every violation that the ratchet does not cover.
fn check(top: &Path) -> Result<String, String> {
    let found = violations(top);
    let ratchet = Ratchet::read(top).map_err(|error| format!("xtask/ratchet.txt: {error}"))?;
    let (grown, lowered) = ratchet.judge(&found);
    if !grown.is_empty() {
        let lines: Vec<String> = grown.iter().map(ToString::to_string).collect();
        return Err(format!("{}\n{} violations", lines.join("\n"), lines.len()));
    }
    Ok(lowered)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_house_is_tidy() {
        if let Err(message) = super::check(&super::top()) {
            panic!("\n{message}");
        }
    }
}
