//! The man page and the completions of shells, made of what the commands say of themselves: their help texts and the table of
//! variables.

use crate::COMMANDS;
use session::variables::{Kind, Startup, VARIABLES};
use std::fmt::Write as _;

pub const HELP: &str = "\
Usage: clearway manual man|bash|zsh|fish

Prints the man page, or what makes a shell complete commands and options, on stdout.
`source <(clearway manual bash)` is for this shell; `make install` and the packages put
all of them where they are looked for.
";

/// One option, as a help text has it.
#[derive(Debug, PartialEq)]
struct Choice {
    name: String,
    /// What stands for its value.
    value: Option<String>,
    text: String,
}

impl Choice {
    /// `--name=` where a value follows behind it.
    fn word(&self) -> String {
        format!("{}{}", self.name, if self.value.is_some() { "=" } else { "" })
    }
}

/// True: there was such a page.
pub fn manual(arguments: &[String]) -> Result<(), String> {
    let page = match arguments {
        [one] => match one.as_str() {
            "man" => man(),
            "bash" => bash(),
            "zsh" => zsh(),
            "fish" => fish(),
            "--help" => HELP.to_string(),
            other => return Err(format!("manual: '{other}' is none of man, bash, zsh, fish")),
        },
        _ => return Err("manual: one of man, bash, zsh, fish".to_string()),
    };
    print!("{page}");
    Ok(())
}

/// The options in a help text: lines that begin with two blanks and `--`, and those that go on behind them.
fn choices(help: &str) -> Vec<Choice> {
    let mut found: Vec<Choice> = Vec::new();
    let mut goes_on = false;
    for line in help.lines() {
        if let Some(rest) = line.strip_prefix("  --").filter(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
        {
            let (head, text) = rest.split_once("  ").unwrap_or((rest, ""));
            let (name, value) = head.split_once(['=', ' ']).map_or((head, None), |(name, value)| (name, Some(value)));
            let value = value.filter(|value| !value.starts_with("--")).map(str::to_string);
            found.push(Choice { name: format!("--{name}"), value, text: text.trim().to_string() });
            goes_on = true;
        } else if goes_on && line.starts_with("        ") {
            let last = found.last_mut().expect("it goes on");
            last.text = format!("{} {}", last.text, line.trim());
        } else {
            goes_on = false;
        }
    }
    found
}

/// What a command can be told: for the server, its variables too.
fn choices_of(name: &str, help: &str) -> Vec<Choice> {
    let mut all = choices(help);
    if name == "serve" {
        for variable in VARIABLES.iter().filter(|v| v.startup != Startup::None) {
            let name = format!("--{}", variable.name.replace('_', "-"));
            if all.iter().any(|known| known.name == name) {
                continue;
            }
            let text = format!("variable {}", variable.name);
            all.push(Choice { name, value: Some(value_of(variable.kind)), text });
        }
    }
    all
}

fn value_of(kind: Kind) -> String {
    match kind {
        Kind::Bool => "ON|OFF".to_string(),
        Kind::Enum(names) => names.join("|"),
        Kind::UInt { .. } | Kind::Int { .. } | Kind::Double { .. } => "N".to_string(),
        _ => "VALUE".to_string(),
    }
}

fn bash() -> String {
    let mut page = String::from("# bash completion of clearway, by `clearway manual bash`\n_clearway() {\n");
    let names: Vec<&str> = COMMANDS.iter().map(|c| c.name).collect();
    let _ = writeln!(page, "  local word=${{COMP_WORDS[COMP_CWORD]}} words=\n  COMPREPLY=()");
    let _ = writeln!(page, "  if [ \"$COMP_CWORD\" = 1 ]; then");
    let _ = writeln!(page, "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\"))", names.join(" "));
    page.push_str("    return\n  fi\n  case ${COMP_WORDS[1]} in\n");
    for command in COMMANDS {
        let words: Vec<String> = choices_of(command.name, &(command.help)()).iter().map(Choice::word).collect();
        let _ = writeln!(page, "    {}) words='{} --help' ;;", command.name, words.join(" "));
    }
    page.push_str(
        "  esac\n  case $word in\n    -*)\n      COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n      \
         [[ ${COMPREPLY-} != *= ]] || compopt -o nospace\n      ;;\n    \
         *) COMPREPLY=($(compgen -f -- \"${word#=}\")) ;;\n  esac\n}\ncomplete -o filenames -F _clearway clearway\n",
    );
    page
}

/// Without what zsh's descriptions and quotes take for theirs.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !"[]':`\\".contains(*c)).collect()
}

fn zsh() -> String {
    let mut page =
        String::from("#compdef clearway\n# By `clearway manual zsh`.\n_clearway() {\n  local -a commands=(\n");
    for command in COMMANDS {
        let _ = writeln!(page, "    '{}:{}'", command.name, plain(command.summary));
    }
    page.push_str(
        "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  case $words[2] in\n",
    );
    for command in COMMANDS {
        let _ = writeln!(page, "    {})\n      _arguments \\", command.name);
        for choice in choices_of(command.name, &(command.help)()) {
            let values = choice.value.as_deref().map_or(String::new(), |value| match value.contains('|') {
                true => format!(":value:({})", value.replace('|', " ")),
                false => format!(":{}:_files", plain(value)),
            });
            let _ = writeln!(page, "        '{}[{}]{values}' \\", choice.word(), plain(&choice.text));
        }
        page.push_str("        '*:file:_files'\n      ;;\n");
    }
    page.push_str("  esac\n}\n_clearway \"$@\"\n");
    page
}

fn fish() -> String {
    let mut page = String::from("# fish completion of clearway, by `clearway manual fish`\n");
    for command in COMMANDS {
        let (name, summary) = (command.name, plain(command.summary));
        let _ = writeln!(page, "complete -c clearway -n __fish_use_subcommand -f -a {name} -d '{summary}'");
        for choice in choices_of(name, &(command.help)()) {
            let long = choice.name.trim_start_matches("--");
            let values = choice.value.as_deref().map_or(String::new(), |value| match value.contains('|') {
                true => format!(" -x -a '{}'", value.replace('|', " ")),
                false => " -r".to_string(),
            });
            let text = plain(&choice.text);
            let _ = writeln!(
                page,
                "complete -c clearway -n '__fish_seen_subcommand_from {name}' -l {long}{values} -d '{text}'"
            );
        }
    }
    page
}

/// Text as roff has it. Lists without blanks may be broken behind their commas.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace(',', ",\\:");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

fn man() -> String {
    let mut page = format!(
        ".TH CLEARWAY 1 \"\" \"clearway {}\"\n.ad l\n.SH NAME\n\
         clearway \\- a MySQL\\-compatible transactional database server\n\
         .SH SYNOPSIS\n",
        env!("CARGO_PKG_VERSION")
    );
    for command in COMMANDS {
        let _ = writeln!(page, ".B clearway {}\n{}\n.br", command.name, roff(command.arguments));
    }
    page.push_str(".SH COMMANDS\n");
    for command in COMMANDS {
        let help = (command.help)();
        let _ = writeln!(page, ".SS clearway {}\n{}.", command.name, roff(command.summary));
        let is_option = |line: &&str| line.starts_with("  --") || line.starts_with("        ");
        page.push_str(".PP\n.nf\n");
        for line in help.trim_end().lines().filter(|line| !is_option(line)) {
            let _ = writeln!(page, "{}", roff(line));
        }
        page.push_str(".fi\n");
        for choice in choices(&help) {
            let value = choice.value.as_deref().map_or(String::new(), |value| format!("=\\fI{}\\fR", roff(value)));
            let _ = writeln!(page, ".TP\n\\fB{}\\fR{value}\n{}", roff(&choice.name), roff(&choice.text));
        }
    }
    page.push_str(".SH VARIABLES\nEach is an option of the server: its default, and what it can be.\n");
    for (name, value, range) in crate::options::described(&Default::default()) {
        let _ = writeln!(page, ".TP\n\\fB{}\\fR\n{}; {}", roff(&format!("--{name}")), roff(&value), roff(&range));
    }
    page.push_str(
        ".SH FILES\n.TP\n.I /etc/clearway/clearway.cnf\nThe options of the packages' service.\n.TP\n\
         .I /var/lib/clearway\n\
         Its data.\n.SH ENVIRONMENT\n.TP\n.B NOTIFY_SOCKET\n\
         Where the server says that it is ready, as systemd has it.\n\
         .SH SIGNALS\n.TP\n.B SIGTERM, SIGINT\nThe server shuts down.\n.TP\n.B SIGHUP\nIt opens its logs anew.\n",
    );
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_in_help_texts() {
        let help = "Usage: x\n\n  --to=DIR     where it\n               goes\n  --quiet      no words\n\
                    \u{20} -- WORDS   as they are\n\
                    \n  --target NAME=WHERE  a server\nEnd --not.\n  --help --verbose   all\n";
        let choice = |name: &str, value: Option<&str>, text: &str| Choice {
            name: name.to_string(),
            value: value.map(str::to_string),
            text: text.to_string(),
        };
        let expected = [
            choice("--to", Some("DIR"), "where it goes"),
            choice("--quiet", None, "no words"),
            choice("--target", Some("NAME=WHERE"), "a server"),
            choice("--help", None, "all"),
        ];
        assert_eq!(choices(help), expected);
    }

    #[test]
    fn every_command_and_its_options_are_in_every_page() {
        for page in [man().replace("\\-", "-"), bash(), zsh(), fish()] {
            for command in COMMANDS {
                assert!(page.contains(command.name), "{}", command.name);
            }
            for word in ["innodb-buffer-pool-size", "datadir", "until-gtid", "warmup"] {
                assert!(page.contains(word), "{word} in {}", &page[..60]);
            }
        }
    }
}
