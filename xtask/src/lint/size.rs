//! Small: a function has 60 lines at most and a file 400, tests apart. What is longer has a reason in `size-allow.tsv`,
//! and that list only shrinks: no entry is added or raised, and one that is no longer needed must go.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use super::source::Source;
use super::{Finding, Tree};

const FUNCTION_LINES: usize = 60;
const FILE_LINES: usize = 400;
const LIST: &str = "xtask/size-allow.tsv";

/// Places that are too long, with their length: `path`, or `path::function`.
type Lengths = BTreeMap<String, usize>;

pub(super) fn run(tree: &Tree) -> Result<Vec<Finding>, String> {
    let text = super::read(&tree.workspace.root.join(LIST)).unwrap_or_default();
    let mut long = Lengths::new();
    tree.sources
        .iter()
        .for_each(|source| measure(source, &mut long));
    let (allowed, mut findings) = parse(&text);
    findings.extend(judge(&long, &allowed));
    if !tree.new_size_reasons
        && let Some(before) = committed(tree)
    {
        findings.extend(only_shrinks(&parse(&before).0, &allowed));
    }
    Ok(findings)
}

/// The list as it is where our line of work left the main one, or in the last commit; none before it existed.
fn committed(tree: &Tree) -> Option<String> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        let output = command
            .args(arguments)
            .current_dir(&tree.workspace.root)
            .stderr(Stdio::null())
            .output()
            .ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let base = git(&["merge-base", "HEAD", "origin/main"]).unwrap_or_else(|| "HEAD".to_owned());
    git(&["show", &format!("{}:{LIST}", base.trim())])
}

fn measure(source: &Source, long: &mut Lengths) {
    let path = source.path.display().to_string();
    let length = source.product().count();
    if length > FILE_LINES {
        long.insert(path.clone(), length);
    }
    for function in source.functions() {
        let length = function.last - function.first + 1;
        if length > FUNCTION_LINES {
            let longest = long
                .entry(format!("{path}::{}", function.name))
                .or_default();
            *longest = length.max(*longest);
        }
    }
}

/// Lines of `place<TAB>lines<TAB>reason`.
fn parse(text: &str) -> (Lengths, Vec<Finding>) {
    let (mut allowed, mut findings) = (Lengths::new(), Vec::new());
    for (at, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            [place, lines, reason] if lines.parse::<usize>().is_ok() && reason.len() >= 10 => {
                allowed.insert(place.to_owned(), lines.parse().unwrap_or(0));
            }
            _ => findings.push(Finding::new(
                format!("{LIST}:{}", at + 1),
                "not place<TAB>lines<TAB>reason",
            )),
        }
    }
    (allowed, findings)
}

fn judge(long: &Lengths, allowed: &Lengths) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (place, length) in long {
        match allowed.get(place) {
            None => {
                let most = if place.contains("::") {
                    FUNCTION_LINES
                } else {
                    FILE_LINES
                };
                findings.push(Finding::new(
                    place,
                    format!("{length} lines, {most} at most without a reason"),
                ));
            }
            Some(most) if length > most => {
                findings.push(Finding::new(
                    place,
                    format!("{length} lines, {most} were allowed"),
                ));
            }
            Some(_) => {}
        }
    }
    let needless = allowed.keys().filter(|place| !long.contains_key(*place));
    findings.extend(
        needless.map(|place| Finding::new(place, format!("is short again: take it off {LIST}"))),
    );
    findings
}

fn only_shrinks(before: &Lengths, now: &Lengths) -> Vec<Finding> {
    let grown = now
        .iter()
        .filter(|&(place, lines)| before.get(place).is_none_or(|old| lines > old));
    grown
        .map(|(place, _)| {
            Finding::new(
                place,
                format!("{LIST} only shrinks; --new-size-reasons if it has to be"),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(entries: &[(&str, usize)]) -> Lengths {
        entries
            .iter()
            .map(|&(place, lines)| (place.to_owned(), lines))
            .collect()
    }

    fn measured(text: &str) -> Lengths {
        let mut long = Lengths::new();
        measure(&Source::parse("src/a.rs".into(), text), &mut long);
        long
    }

    #[test]
    fn sixty_lines_are_fine_and_one_more_is_not() {
        let function = |body: usize| format!("fn f() {{\n{}}}\n", "    x();\n".repeat(body));
        assert!(measured(&function(58)).is_empty());
        assert_eq!(measured(&function(59)), lengths(&[("src/a.rs::f", 61)]));
    }

    #[test]
    fn tests_don_t_count() {
        let tests = format!(
            "#[cfg(test)]\nmod tests {{\n{}}}\n",
            "    x();\n".repeat(500)
        );
        assert!(measured(&tests).is_empty());
        assert_eq!(
            measured(&"x();\n".repeat(401)),
            lengths(&[("src/a.rs", 401)])
        );
    }

    #[test]
    fn the_list_is_held_against_the_tree() {
        let long = lengths(&[("a", 410), ("b::f", 70)]);
        assert!(judge(&long, &lengths(&[("a", 410), ("b::f", 75)])).is_empty());
        assert_eq!(judge(&long, &lengths(&[("a", 410)])).len(), 1);
        assert_eq!(judge(&long, &lengths(&[("a", 405), ("b::f", 70)])).len(), 1);
        assert_eq!(
            judge(&long, &lengths(&[("a", 410), ("b::f", 70), ("c", 500)])).len(),
            1
        );
    }

    #[test]
    fn the_list_only_shrinks() {
        let before = lengths(&[("a", 410), ("b", 500)]);
        assert!(only_shrinks(&before, &lengths(&[("b", 450)])).is_empty());
        assert_eq!(
            only_shrinks(&before, &lengths(&[("b", 501), ("c", 410)])).len(),
            2
        );
    }

    #[test]
    fn an_entry_needs_a_reason() {
        assert_eq!(
            parse("# head\na\t410\ta table, one line an option\n").0,
            lengths(&[("a", 410)])
        );
        assert_eq!(
            parse("a\t410\t\nb\tmany\ta table, one line an option\n")
                .1
                .len(),
            2
        );
    }
}
