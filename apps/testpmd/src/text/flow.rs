//! What the `flow` commands answer when they show something; the one-line answers are in `replies`.

use std::fmt;

/// A row of `flow list`.
#[derive(Debug, Clone, Copy)]
pub struct FlowRow<'a> {
    /// The rule's number.
    pub id: u64,
    /// Its group.
    pub group: u32,
    /// Its priority, 0 first.
    pub priority: u32,
    /// For packets received.
    pub ingress: bool,
    /// For packets sent.
    pub egress: bool,
    /// For packets that pass an embedded switch.
    pub transfer: bool,
    /// Item names, upper case, without END.
    pub items: &'a [&'a str],
    /// Action names, likewise.
    pub actions: &'a [&'a str],
}

impl FlowRow<'_> {
    /// The line above the rows; printed only when there is a row.
    pub const HEADER: &'static str = "ID\tGroup\tPrio\tAttr\tRule";
}

impl fmt::Display for FlowRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = |on, letter| if on { letter } else { '-' };
        let (i, e, t) = (
            flag(self.ingress, 'i'),
            flag(self.egress, 'e'),
            flag(self.transfer, 't'),
        );
        write!(
            f,
            "{}\t{}\t{}\t{i}{e}{t}\t",
            self.id, self.group, self.priority
        )?;
        self.items
            .iter()
            .try_for_each(|item| write!(f, "{item} "))?;
        write!(f, "=>")?;
        self.actions
            .iter()
            .try_for_each(|action| write!(f, " {action}"))?;
        writeln!(f)
    }
}

/// `flow query {port} {id} count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowCount {
    /// Packets that matched, where counted.
    pub hits: Option<u64>,
    /// Their bytes, where counted.
    pub bytes: Option<u64>,
}

impl fmt::Display for FlowCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hits_set, bytes_set) = (
            u8::from(self.hits.is_some()),
            u8::from(self.bytes.is_some()),
        );
        let (hits, bytes) = (self.hits.unwrap_or(0), self.bytes.unwrap_or(0));
        writeln!(
            f,
            "COUNT:\n hits_set: {hits_set}\n bytes_set: {bytes_set}\n hits: {hits}\n bytes: {bytes}"
        )
    }
}

/// What was at fault in a rule: DPDK's `rte_flow_error_type`, whose numbers are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum FlowFault {
    /// Not said.
    Unspecified = 1,
    /// The rule itself.
    Rule = 2,
    /// Its group.
    Group = 3,
    /// Its priority.
    Priority = 4,
    /// `ingress`.
    Ingress = 5,
    /// `egress`.
    Egress = 6,
    /// `transfer`.
    Transfer = 7,
    /// Its attributes together.
    Attributes = 8,
    /// The pattern's length.
    PatternLength = 9,
    /// An item's `spec`.
    ItemSpec = 10,
    /// An item's `last`.
    ItemLast = 11,
    /// An item's `mask`.
    ItemMask = 12,
    /// An item.
    Item = 13,
    /// The number of actions.
    ActionCount = 14,
    /// An action's configuration.
    ActionConf = 15,
    /// An action.
    Action = 16,
}

impl FlowFault {
    fn name(self) -> &'static str {
        match self {
            FlowFault::Unspecified => "cause unspecified",
            FlowFault::Rule => "flow rule (handle)",
            FlowFault::Group => "group field",
            FlowFault::Priority => "priority field",
            FlowFault::Ingress => "ingress field",
            FlowFault::Egress => "egress field",
            FlowFault::Transfer => "transfer field",
            FlowFault::Attributes => "attributes structure",
            FlowFault::PatternLength => "pattern length",
            FlowFault::ItemSpec => "item specification",
            FlowFault::ItemLast => "item specification range",
            FlowFault::ItemMask => "item specification mask",
            FlowFault::Item => "specific pattern item",
            FlowFault::ActionCount => "number of actions",
            FlowFault::ActionConf => "action configuration",
            FlowFault::Action => "specific action",
        }
    }
}

/// A port refused a rule; standard error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("port_flow_complain(): Caught PMD error type {} ({}): {message}: {reason}", *.fault as u8, .fault.name())]
pub struct FlowComplaint {
    /// What was at fault.
    pub fault: FlowFault,
    /// What was wrong and what would be right.
    pub message: String,
    /// The error number's text, `Function not implemented` say.
    pub reason: &'static str,
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
