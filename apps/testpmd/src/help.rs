//! The texts of `--help`, made from the option tables, at most 80 columns wide.

use crate::app_args::{self, NamesArgs};
use crate::eal_args;
use crate::getopt::{Group, Spec, Treatment};

#[cfg(test)]
mod tests;

/// Columns of a terminal.
const WIDTH: usize = 80;
/// Where explanations begin.
const MARGIN: usize = 30;

/// Help on EAL's half, the options before `--`.
#[must_use]
pub fn eal(program: &str) -> String {
    let mut out = usage(program);
    paragraph(
        &mut out,
        "Before `--` stands what the program runs on: cores, devices, memory.",
    );
    groups(&mut out, eal_args::GROUPS);
    example(&mut out, program);
    out
}

/// Help on testpmd's half, the options after `--`.
#[must_use]
pub fn app(program: &str, names: NamesArgs<'_>) -> String {
    let mut out = usage(program);
    paragraph(
        &mut out,
        "After `--` stands what is done with packets. Long names may be shortened while they stay unique.",
    );
    groups(&mut out, app_args::GROUPS);
    for (what, known) in [
        ("Engines", names.engines),
        ("MAC-swap kernels", names.macswap),
        ("Kinds of copy", names.copy),
    ] {
        if !known.is_empty() {
            paragraph(&mut out, &format!("{what}: {}", known.join(", ")));
        }
    }
    example(&mut out, program);
    out
}

fn usage(program: &str) -> String {
    format!("Usage: {program} [EAL options] [-- [testpmd options]]\n\n")
}

fn example(out: &mut String, program: &str) {
    out.push_str("Try:\n");
    out.push_str(&format!(
        "  {program} --no-huge --vdev net_null0 --vdev net_null1 -- -i\n"
    ));
}

fn paragraph(out: &mut String, text: &str) {
    for line in wrap(text, WIDTH) {
        out.push_str(&line);
        out.push('\n');
    }
    out.push('\n');
}

fn groups<T>(out: &mut String, groups: &[Group<T>]) {
    for group in groups {
        out.push_str(group.title);
        out.push('\n');
        for row in group.opts {
            option(out, &row.spec);
        }
        for (names, why) in reasons(group) {
            for line in wrap(&format!("{}: {why}", names.join(", ")), WIDTH - 2) {
                out.push_str(&format!("  {line}\n"));
            }
        }
        out.push('\n');
    }
}

/// Why options of a group have no effect or are refused: each reason once, with the options that share it.
fn reasons<T>(group: &Group<T>) -> Vec<(Vec<String>, &'static str)> {
    let mut found: Vec<(Vec<String>, &'static str)> = Vec::new();
    for spec in group.opts.iter().map(|row| &row.spec) {
        let (Treatment::NoEffect(why) | Treatment::Refused(why)) = spec.treatment else {
            continue;
        };
        match found.iter_mut().find(|(_, reason)| *reason == why) {
            Some((names, _)) => names.push(spec.name()),
            None => found.push((vec![spec.name()], why)),
        }
    }
    found
}

fn option(out: &mut String, spec: &Spec) {
    let left = match spec.short {
        Some(c) if spec.long.is_empty() => format!("  -{c} {}", spec.metavar),
        Some(c) => format!("  -{c}, {}", spec.form()),
        None => format!("      {}", spec.form()),
    };
    let mut lines = wrap(&explanation(spec), WIDTH - MARGIN).into_iter();
    let first = if left.chars().count() + 2 > MARGIN {
        format!("{left}\n")
    } else {
        let text = lines.next().unwrap_or_default();
        format!("{left:<MARGIN$}{text}\n")
    };
    out.push_str(&first);
    for line in lines {
        out.push_str(&format!("{:MARGIN$}{line}\n", ""));
    }
}

fn explanation(spec: &Spec) -> String {
    let mut text = spec.help.to_owned();
    match spec.treatment {
        Treatment::Honoured => {}
        Treatment::Limited(which) => text.push_str(&format!(" ({which})")),
        Treatment::Deprecated("") => text.push_str(" (deprecated)"),
        Treatment::Deprecated(instead) => {
            text.push_str(&format!(" (deprecated: write {instead})"));
        }
        Treatment::NoEffect(_) => text.push_str(" (no effect, see below)"),
        Treatment::Refused(_) => text.push_str(" (refused, see below)"),
    }
    if spec.repeats {
        text.push_str(" (may be repeated)");
    }
    text
}

/// Lines of at most `width` columns, broken at blanks.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
