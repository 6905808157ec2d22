//! From the text of a row's grammar to its patterns. Runs once a row, when a line first begins with its first word.

use thiserror::Error;

use super::{Branch, Kind, Pattern, Token};
use crate::number::Width;

/// Why the grammar of a row is malformed. A fault of the table, never of what was typed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("grammar {grammar:?}: {what}")]
pub struct GrammarError {
    /// The grammar.
    pub grammar: String,
    /// What is wrong with it.
    pub what: String,
}

/// More would make too many patterns of one row.
const MOST_OPTIONS: usize = 4;

enum Part {
    Token(Token),
    Option(Vec<Token>),
}

/// All patterns of the row: one for each way to leave options out, the longest first.
pub(super) fn compile(grammar: &'static str) -> Result<Vec<Pattern>, GrammarError> {
    let fail = |what: String| GrammarError {
        grammar: grammar.to_owned(),
        what,
    };
    let parts = parts(grammar).map_err(fail)?;
    let options = parts
        .iter()
        .filter(|part| matches!(part, Part::Option(_)))
        .count();
    if options > MOST_OPTIONS {
        return Err(fail(format!(
            "more than {MOST_OPTIONS} options; write several rows"
        )));
    }
    let patterns: Vec<Pattern> = (0..1usize << options)
        .map(|left_out| expand(&parts, left_out))
        .collect();
    patterns.iter().try_for_each(check).map_err(fail)?;
    Ok(patterns)
}

fn expand(parts: &[Part], left_out: usize) -> Pattern {
    let mut tokens = Vec::new();
    let mut option = 0;
    for part in parts {
        match part {
            Part::Token(token) => tokens.push(token.clone()),
            Part::Option(inner) => {
                if left_out & (1 << option) == 0 {
                    tokens.extend(inner.iter().cloned());
                }
                option += 1;
            }
        }
    }
    Pattern { tokens }
}

fn check(pattern: &Pattern) -> Result<(), String> {
    let Some((first, _)) = pattern.tokens.split_first() else {
        return Err("is empty".to_owned());
    };
    if !first
        .branches
        .iter()
        .all(|branch| matches!(branch, Branch::Literal(_)))
    {
        return Err("doesn't begin with a literal".to_owned());
    }
    let mut names = Vec::new();
    for (index, token) in pattern.tokens.iter().enumerate() {
        for branch in &token.branches {
            if let Branch::Value { name, kind } = branch {
                if names.contains(name) {
                    return Err(format!("<{name}> occurs twice"));
                }
                names.push(*name);
                if matches!(kind, Kind::Rest) && index + 1 != pattern.tokens.len() {
                    return Err(format!("<{name}:rest> isn't the last token"));
                }
            }
        }
    }
    Ok(())
}

fn parts(grammar: &'static str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = grammar.trim();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (inside, after) = inner.split_once(']').ok_or("a [ is never closed")?;
            parts.push(Part::Option(tokens(inside)?));
            rest = after;
        } else {
            let (token, after) = token(rest)?;
            parts.push(Part::Token(token));
            rest = after;
        }
        if !rest.is_empty() && !rest.starts_with(' ') {
            return Err(format!("a blank is missing before {rest:?}"));
        }
        rest = rest.trim_start();
    }
    Ok(parts)
}

fn tokens(text: &'static str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (next, after) = token(rest)?;
        tokens.push(next);
        rest = after.trim_start();
    }
    if tokens.is_empty() {
        Err("an option is empty".to_owned())
    } else {
        Ok(tokens)
    }
}

fn token(text: &'static str) -> Result<(Token, &'static str), String> {
    if let Some(mut rest) = text.strip_prefix('(') {
        let mut branches = Vec::new();
        loop {
            let (next, after) = branch(rest)?;
            branches.push(next);
            if let Some(after) = after.strip_prefix('|') {
                rest = after;
            } else if let Some(after) = after.strip_prefix(')') {
                return Ok((Token { branches }, after));
            } else {
                return Err("a ( is never closed".to_owned());
            }
        }
    }
    let (only, rest) = branch(text)?;
    Ok((
        Token {
            branches: vec![only],
        },
        rest,
    ))
}

fn branch(text: &'static str) -> Result<(Branch, &'static str), String> {
    if let Some(inner) = text.strip_prefix('<') {
        let (inside, after) = inner.split_once('>').ok_or("a < is never closed")?;
        let (name, kind) = inside
            .split_once(':')
            .ok_or_else(|| format!("<{inside}> has no type"))?;
        if name.is_empty() {
            return Err(format!("<{inside}> has no name"));
        }
        return Ok((
            Branch::Value {
                name,
                kind: kind_of(kind)?,
            },
            after,
        ));
    }
    let end = text
        .find([' ', '|', ')', '(', '<', '>', '[', ']'])
        .unwrap_or(text.len());
    let (literal, after) = text.split_at(end);
    if literal.is_empty() || literal.contains('#') || !literal.is_ascii() {
        return Err(format!("no literal at {text:?}"));
    }
    Ok((Branch::Literal(literal), after))
}

fn kind_of(text: &'static str) -> Result<Kind, String> {
    if let Some(words) = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'))
    {
        return Ok(Kind::OneOf(words.split('|').collect()));
    }
    if let Some(source) = text
        .strip_prefix("choice(")
        .and_then(|text| text.strip_suffix(')'))
    {
        return Ok(Kind::Choice(source));
    }
    let (name, source) = match text.split_once('@') {
        Some((name, source)) => (name, Some(source)),
        None => (text, None),
    };
    if let Some(width) = Width::from_name(name) {
        return Ok(Kind::Number { width, source });
    }
    match (name, source) {
        ("port", None) => Ok(Kind::Number {
            width: Width::U16,
            source: Some("port"),
        }),
        ("word", source) => Ok(Kind::Word {
            most: crate::MAX_WORD,
            source,
        }),
        ("text" | "list", source) => Ok(Kind::Word {
            most: crate::MAX_TEXT,
            source,
        }),
        ("mac", None) => Ok(Kind::Mac),
        ("ranges", None) => Ok(Kind::Ranges),
        ("rest", None) => Ok(Kind::Rest),
        _ => Err(format!("no type {text:?}")),
    }
}
