//! A Rust file, line by line, with code and comments told apart. Not a parser: it knows strings, characters and
//! comments, which is what the rules need so as not to judge a word in a text.

use std::path::{Path, PathBuf};

/// One line of a file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// The code, with the insides of strings and characters blanked.
    pub(crate) code: String,
    /// The text of comments.
    pub(crate) comment: String,
}

impl Line {
    /// Whether there is nothing but a comment.
    pub(crate) fn is_comment(&self) -> bool {
        self.code.trim().is_empty() && !self.comment.is_empty()
    }
}

/// A file of Rust code.
#[derive(Debug)]
pub(crate) struct Source {
    /// Relative to the workspace.
    pub(crate) path: PathBuf,
    pub(crate) lines: Vec<Line>,
    /// For each line, whether it belongs to tests.
    pub(crate) tests: Vec<bool>,
}

/// A function with a body: its name and first and last line, counted from 0.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) first: usize,
    pub(crate) last: usize,
}

impl Source {
    pub(crate) fn parse(path: PathBuf, text: &str) -> Self {
        let lines = split(text);
        let tests = if is_test_file(&path) {
            vec![true; lines.len()]
        } else {
            test_modules(&lines)
        };
        Self { path, lines, tests }
    }

    /// `path:line`, counted from 1.
    pub(crate) fn place(&self, line: usize) -> String {
        format!("{}:{}", self.path.display(), line + 1)
    }

    /// Lines outside tests, with their numbers from 0.
    pub(crate) fn product(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.lines
            .iter()
            .enumerate()
            .filter(|&(at, _)| !self.tests[at])
    }

    /// Functions outside tests.
    pub(crate) fn functions(&self) -> Vec<Function> {
        let starts = self
            .product()
            .filter_map(|(at, line)| Some((at, function_name(&line.code)?.to_owned())));
        starts
            .filter_map(|(first, name)| {
                Some(Function {
                    name,
                    first,
                    last: block_end(&self.lines, first)?,
                })
            })
            .collect()
    }
}

/// Files that hold nothing but tests.
fn is_test_file(path: &Path) -> bool {
    let name = path
        .file_stem()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let folder = path
        .components()
        .any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "benches")));
    // The end-to-end crate lies in tests/ and is a test as a whole.
    folder || name == "tests" || name.ends_with("_tests")
}

/// The name after `fn`, if the line declares a function.
fn function_name(code: &str) -> Option<&str> {
    let at = code.match_indices("fn ").map(|(at, _)| at).find(|&at| {
        let before = code[..at].trim_end();
        let known = [
            "pub",
            "const",
            "unsafe",
            "async",
            "extern \"\"",
            "extern",
            ")",
            "default",
        ];
        before.is_empty() || known.iter().any(|word| before.ends_with(word))
    })?;
    let rest = code[at + 3..].trim_start();
    let end = rest
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

/// The line of the brace that closes the first one opened at or after `first`; none where a semicolon comes before any.
fn block_end(lines: &[Line], first: usize) -> Option<usize> {
    let (mut braces, mut others) = (0_usize, 0_usize);
    for (at, line) in lines.iter().enumerate().skip(first) {
        for c in line.code.chars() {
            match c {
                '{' => braces += 1,
                '}' => {
                    braces = braces.saturating_sub(1);
                    if braces == 0 {
                        return Some(at);
                    }
                }
                '(' | '[' => others += 1,
                ')' | ']' => others = others.saturating_sub(1),
                ';' if braces == 0 && others == 0 => return None,
                _ => {}
            }
        }
    }
    None
}

/// Marks the blocks under `#[cfg(test)]`, and what is only built for loom.
fn test_modules(lines: &[Line]) -> Vec<bool> {
    let mut tests = vec![false; lines.len()];
    for (at, line) in lines.iter().enumerate() {
        if line.code.contains("#[cfg(test)]") || line.code.contains("#[cfg(all(test") {
            let end = block_end(lines, at).unwrap_or(at);
            tests[at..=end].fill(true);
        }
    }
    tests
}

/// Where the splitter is.
#[derive(Clone, Copy)]
enum State {
    Code,
    LineComment,
    BlockComment(usize),
    Text,
    RawText(usize),
}

fn split(text: &str) -> Vec<Line> {
    let mut state = State::Code;
    let mut lines = Vec::new();
    for raw in text.lines() {
        let mut line = Line::default();
        let chars: Vec<char> = raw.chars().collect();
        let mut at = 0;
        while at < chars.len() {
            at += step(&chars[at..], &mut state, &mut line);
        }
        if matches!(state, State::LineComment) {
            state = State::Code;
        }
        lines.push(line);
    }
    lines
}

/// Takes the next characters off `rest`, which isn't empty, and returns how many.
fn step(rest: &[char], state: &mut State, line: &mut Line) -> usize {
    let next = rest.get(1).copied();
    match *state {
        State::Code => return code_step(rest, state, line),
        State::LineComment => line.comment.push(rest[0]),
        State::BlockComment(depth) => match (rest[0], next) {
            ('*', Some('/')) => {
                *state = if depth == 1 {
                    State::Code
                } else {
                    State::BlockComment(depth - 1)
                };
                return 2;
            }
            ('/', Some('*')) => {
                *state = State::BlockComment(depth + 1);
                return 2;
            }
            (c, _) => line.comment.push(c),
        },
        State::Text => match rest[0] {
            '\\' => return 2,
            '"' => {
                line.code.push('"');
                *state = State::Code;
            }
            _ => {}
        },
        State::RawText(hashes) => {
            if rest[0] == '"' && rest[1..].iter().take_while(|&&c| c == '#').count() >= hashes {
                line.code.push('"');
                *state = State::Code;
                return 1 + hashes;
            }
        }
    }
    1
}

fn code_step(rest: &[char], state: &mut State, line: &mut Line) -> usize {
    match (rest[0], rest.get(1).copied()) {
        ('/', Some('/')) => {
            *state = State::LineComment;
            return 2;
        }
        ('/', Some('*')) => {
            *state = State::BlockComment(1);
            return 2;
        }
        ('"', _) => *state = State::Text,
        ('r', Some('"' | '#')) if !ends_in_word(&line.code) => {
            let hashes = rest[1..].iter().take_while(|&&c| c == '#').count();
            if rest.get(1 + hashes) == Some(&'"') {
                line.code.push('"');
                *state = State::RawText(hashes);
                return 2 + hashes;
            }
        }
        ('\'', Some(_)) => {
            if let Some(length) = character(rest) {
                line.code.push_str("' '");
                return length;
            }
        }
        _ => {}
    }
    line.code.push(rest[0]);
    1
}

/// `br"` is a raw text, `for"` can't be: only a `b` may stand before the `r`.
fn ends_in_word(code: &str) -> bool {
    let mut back = code.chars().rev();
    match back.next() {
        Some('b' | 'c') => back.next().is_some_and(|c| c.is_alphanumeric() || c == '_'),
        Some(c) => c.is_alphanumeric() || c == '_',
        None => false,
    }
}

/// Length of a character literal at the start, or none where the quote begins a lifetime.
fn character(rest: &[char]) -> Option<usize> {
    if rest[1] == '\\' {
        let end = rest.iter().skip(3).position(|&c| c == '\'')?;
        return Some(end + 4);
    }
    (rest.get(2) == Some(&'\'')).then_some(3)
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
