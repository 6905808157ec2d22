//! What a reader can't see in the line itself: each atomic ordering and fence has a comment within three lines, which
//! names its partner, and each unsafe block or impl one that says who keeps the invariant.

use super::source::{Line, Source};
use super::{Finding, Tree};

const ORDERINGS: &[&str] = &["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
const REACH: usize = 3;

pub(super) fn run(tree: &Tree) -> Result<Vec<Finding>, String> {
    Ok(tree.sources.iter().flat_map(judge).collect())
}

fn judge(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in source.product() {
        if has_ordering(line) && !explained(source, at, |_| true) {
            findings.push(Finding::new(
                source.place(at),
                "an ordering without a comment that names its partner",
            ));
        }
        if has_unsafe(line) && !explained(source, at, |comment| comment.contains("SAFETY:")) {
            findings.push(Finding::new(
                source.place(at),
                "unsafe without a SAFETY comment",
            ));
        }
    }
    findings
}

fn words(line: &Line) -> impl Iterator<Item = &str> {
    line.code
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
}

fn has_ordering(line: &Line) -> bool {
    let code = line.code.trim_start();
    let import = code.starts_with("use ") || code.starts_with("pub use ");
    !import && words(line).any(|word| ORDERINGS.contains(&word))
}

/// Blocks and impls; an `unsafe fn` states its contract in its documentation, which clippy asks for.
fn has_unsafe(line: &Line) -> bool {
    line.code.match_indices("unsafe").any(|(at, word)| {
        let rest = line.code[at + word.len()..].trim_start();
        rest.starts_with('{') || rest.starts_with("impl")
    })
}

/// Whether a comment that satisfies `good` stands on the line, in its statement, or ends within reach above it. A block of
/// comment lines is one comment.
fn explained(source: &Source, at: usize, good: impl Fn(&str) -> bool) -> bool {
    let good_line =
        |line: usize| !source.lines[line].comment.is_empty() && good(&source.lines[line].comment);
    let Some(mut line) = nearest_comment(source, at) else {
        return false;
    };
    loop {
        if good_line(line) {
            return true;
        }
        if line == 0 || !source.lines[line - 1].is_comment() {
            return false;
        }
        line -= 1;
    }
}

/// The closest line at or above `at` with a comment. Lines of the same statement and attributes don't use up the reach.
fn nearest_comment(source: &Source, at: usize) -> Option<usize> {
    let (mut reach, mut inside) = (REACH, true);
    for line in (0..=at).rev() {
        if !source.lines[line].comment.is_empty() {
            return Some(line);
        }
        let code = source.lines[line].code.trim();
        if line < at && (code.is_empty() || code.ends_with([';', '{', '}'])) {
            inside = false;
        }
        if !inside && !code.starts_with("#[") {
            reach = reach.checked_sub(1).filter(|&left| left > 0)?;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str) -> usize {
        judge(&Source::parse("src/a.rs".into(), text)).len()
    }

    #[test]
    fn explained_orderings_are_fine() {
        assert_eq!(
            verdict(
                "use std::sync::atomic::Ordering::Relaxed;\n// Pairs with the store in stop().\nx.load(Ordering::Acquire);\n"
            ),
            0
        );
        assert_eq!(verdict("x.load(Relaxed) // Only this thread writes.\n"), 0);
        assert_eq!(verdict("match a.cmp(b) { Ordering::Less => 1 }\n"), 0);
    }

    #[test]
    fn silent_orderings_are_found() {
        assert_eq!(verdict("x.load(Ordering::Acquire);\n"), 1);
        assert_eq!(
            verdict("// Far away.\na();\nb();\nc();\nfence(SeqCst);\n"),
            1
        );
    }

    #[test]
    fn a_statement_over_several_lines_is_one() {
        let long = "// Partner of the load above.\nmatch a.compare_exchange(\n    b,\n    c,\n    AcqRel,\n    Acquire,\n) {\n";
        assert_eq!(verdict(long), 0);
        assert_eq!(
            verdict(
                "/// Perhaps a little old.\n#[inline]\n#[must_use]\nfn get() {\n    x.load(Relaxed)\n}\n"
            ),
            0
        );
    }

    #[test]
    fn unsafe_says_who_keeps_the_invariant() {
        assert_eq!(
            verdict(
                "// SAFETY: the pool outlives its mbufs,\n// and is pinned.\nlet a = unsafe { b() };\n"
            ),
            0
        );
        assert_eq!(verdict("// Reads it.\nlet a = unsafe { b() };\n"), 1);
        assert_eq!(verdict("unsafe impl Send for A {}\n"), 1);
        assert_eq!(verdict("let text = \"unsafe { }\";\n"), 0);
    }
}
