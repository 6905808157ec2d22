//! The table of commands with its compiled grammar. The application makes one at start from its static rows; it lives as
//! long as the session.

use std::sync::Arc;

use crate::command::{Command, Section};
use crate::grammar::{Grammar, Row};

/// All commands of a console.
pub struct Table<A: 'static> {
    commands: Vec<&'static Command<A>>,
    sections: &'static [Section],
    grammar: Arc<Grammar>,
}

impl<A> Table<A> {
    /// Gathers the rows of all `tables`, in order. Costs a look-up a row; grammars are compiled when first needed.
    #[must_use]
    pub fn new(sections: &'static [Section], tables: &[&'static [Command<A>]]) -> Self {
        let commands: Vec<&'static Command<A>> = tables.iter().copied().flatten().collect();
        let rows = commands
            .iter()
            .map(|command| Row::new(command.grammar, command.help, command.section))
            .collect();
        let names = sections.iter().map(|section| section.name).collect();
        Table {
            commands,
            sections,
            grammar: Arc::new(Grammar::new(rows, names)),
        }
    }

    /// The grammar, for completion and tests.
    #[must_use]
    pub fn grammar(&self) -> &Arc<Grammar> {
        &self.grammar
    }

    /// The sections of the help, in order.
    #[must_use]
    pub fn sections(&self) -> &'static [Section] {
        self.sections
    }

    /// The rows, in the order that [`Verdict::Run`](crate::Verdict::Run) counts.
    #[must_use]
    pub fn commands(&self) -> &[&'static Command<A>] {
        &self.commands
    }
}
