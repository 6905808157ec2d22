//! The text of `help`, made from the table each time it is asked for.

use std::io::{self, Write};

use crate::grammar::{Choices, Grammar, Row};
use crate::table::Table;

impl<A> Table<A> {
    /// Writes the overview (`section` none), a section, or all of them. False where there is no such section.
    pub fn write_help(
        &self,
        section: Option<&str>,
        choices: &dyn Choices,
        out: &mut dyn Write,
    ) -> io::Result<bool> {
        let Some(wanted) = section else {
            return self.write_overview(out).map(|()| true);
        };
        let mut found = false;
        for section in self
            .sections()
            .iter()
            .filter(|section| wanted == "all" || wanted == section.name)
        {
            found = true;
            writeln!(out, "\n{}: {}\n", section.name, section.about)?;
            for row in self
                .grammar()
                .rows
                .iter()
                .filter(|row| row.section == section.name)
            {
                writeln!(
                    out,
                    "{}\n    {}\n",
                    usage(self.grammar(), row, choices),
                    row.help
                )?;
            }
        }
        Ok(found)
    }

    /// A row as a user reads it, `show port (info|stats) (all|<port>)`: for the book and man page.
    #[must_use]
    pub fn usage(&self, row: usize, choices: &dyn Choices) -> String {
        usage(self.grammar(), &self.grammar().rows[row], choices)
    }

    fn write_overview(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\nThe commands by section:\n")?;
        for section in self.sections() {
            writeln!(out, "    help {:<27}: {}", section.name, section.about)?;
        }
        writeln!(out, "    help {:<27}: Everything", "all")?;
        writeln!(
            out,
            "\nTab completes and lists what may follow; # begins a comment.\n"
        )
    }
}

/// The grammar as a user reads it: values as `<name>`, choices spelt out.
pub(crate) fn usage(grammar: &Grammar, row: &Row, choices: &dyn Choices) -> String {
    let mut text = String::with_capacity(row.grammar.len());
    let mut rest = row.grammar;
    while let Some((before, value)) = rest.split_once('<') {
        let (inside, after) = value.split_once('>').unwrap_or((value, ""));
        let (name, kind) = inside.split_once(':').unwrap_or((inside, ""));
        text.push_str(before);
        text.push_str(&placeholder(grammar, name, kind, choices));
        rest = after;
    }
    text + rest
}

fn placeholder(grammar: &Grammar, name: &str, kind: &str, choices: &dyn Choices) -> String {
    if kind.starts_with('(') {
        return kind.to_owned();
    }
    let offered = match kind
        .strip_prefix("choice(")
        .and_then(|source| source.strip_suffix(')'))
    {
        Some(source) => grammar.choices_of(source, choices),
        None => Vec::new(),
    };
    if offered.is_empty() {
        format!("<{name}>")
    } else {
        format!("({})", offered.join("|"))
    }
}
