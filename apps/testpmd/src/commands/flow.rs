//! `flow ...`, as ports without flow rules answer it.
//!
//! A line is read far enough to tell a rule from a slip of the pen (`Bad arguments`); the port then refuses the rule.

use mpps_console::{Args, Command, Outcome};

use crate::app::App;
use crate::text::{FlowComplaint, FlowFault, Refusal, ShowRefusal};

pub(super) static COMMANDS: [Command<App>; 10] = [
    Command::new(
        "filters",
        "flow (create|validate) <port:port> <rule:rest>",
        "Makes a flow rule, or tries it out",
        make,
    ),
    Command::new("filters", "flow list <port:port>", "Lists flow rules", none),
    Command::new(
        "filters",
        "flow list <port:port> group <group:u32>",
        "Lists the flow rules of a group",
        none,
    ),
    Command::new(
        "filters",
        "flow flush <port:port>",
        "Removes all flow rules",
        none,
    ),
    Command::new(
        "filters",
        "flow destroy <port:port> rule <rule:u64>",
        "Removes a flow rule",
        none,
    ),
    Command::new(
        "filters",
        "flow query <port:port> <rule:u64> <action:word>",
        "Shows a counter of a flow rule",
        query,
    ),
    Command::new(
        "filters",
        "flow isolate <port:port> <on:u8>",
        "Receives by flow rules alone",
        |app, args| complain(app, args.u16("port")),
    ),
    Command::new(
        "filters",
        "flow aged <port:port>",
        "Lists flow rules that nothing matches any more",
        |app, args| complain(app, args.u16("port")),
    ),
    Command::new(
        "filters",
        "flow dump <port:port> all",
        "Writes down all flow rules as the port has them",
        dump,
    ),
    Command::new(
        "filters",
        "flow dump <port:port> rule <rule:u64>",
        "Writes down a flow rule as the port has it",
        dump,
    ),
];

/// Attributes of a rule, and whether a number follows.
const ATTRIBUTES: &[(&str, bool)] = &[
    ("group", true),
    ("priority", true),
    ("ingress", false),
    ("egress", false),
    ("transfer", false),
];

/// What a pattern is made of.
const ITEMS: &[&str] = &[
    "any",
    "arp_eth_ipv4",
    "ah",
    "ecpri",
    "esp",
    "eth",
    "fuzzy",
    "geneve",
    "gre",
    "gre_key",
    "gtp",
    "gtpc",
    "gtpu",
    "higig2",
    "icmp",
    "icmp6",
    "invert",
    "ipv4",
    "ipv6",
    "ipv6_ext",
    "ipv6_frag_ext",
    "l2tpv2",
    "l2tpv3oip",
    "mark",
    "meta",
    "mpls",
    "nsh",
    "nvgre",
    "pf",
    "port_id",
    "port_representor",
    "represented_port",
    "ppp",
    "pppoed",
    "pppoes",
    "raw",
    "sctp",
    "tag",
    "tcp",
    "udp",
    "vf",
    "vlan",
    "void",
    "vxlan",
    "vxlan_gpe",
];

/// What is done with a packet that matches.
const ACTIONS: &[&str] = &[
    "age",
    "count",
    "dec_ttl",
    "drop",
    "flag",
    "jump",
    "mark",
    "meter",
    "modify_field",
    "of_pop_vlan",
    "of_push_vlan",
    "of_set_vlan_pcp",
    "of_set_vlan_vid",
    "passthru",
    "pf",
    "port_id",
    "port_representor",
    "queue",
    "represented_port",
    "rss",
    "sample",
    "security",
    "set_mac_dst",
    "set_mac_src",
    "set_meta",
    "set_tag",
    "vf",
    "void",
    "vxlan_decap",
    "vxlan_encap",
];

fn make(app: &mut App, args: &Args<'_>) -> Outcome {
    if !is_rule(args.word("rule")) {
        app.out.line("Bad arguments");
        return Outcome::Done;
    }
    complain(app, args.u16("port"))
}

/// Whether a line has the outline of a rule: attributes, a pattern, actions.
fn is_rule(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace().peekable();
    while let Some((_, number)) = words
        .peek()
        .and_then(|word| ATTRIBUTES.iter().find(|(name, _)| name == word))
    {
        words.next();
        if *number && words.next().is_none_or(|word| word.parse::<u32>().is_err()) {
            return false;
        }
    }
    words.next() == Some("pattern")
        && list(&mut words, ITEMS)
        && words.next() == Some("actions")
        && list(&mut words, ACTIONS)
        && words.next().is_none()
}

/// Names with what belongs to them, a slash behind each, up to `end`.
fn list<'a>(words: &mut impl Iterator<Item = &'a str>, names: &[&str]) -> bool {
    loop {
        match words.next() {
            Some("end") => return true,
            Some(name) if names.contains(&name) => {}
            _ => return false,
        }
        if !words.any(|word| word == "/") {
            return false;
        }
    }
}

/// Lists, flushes and removals find nothing, which is no error.
fn none(app: &mut App, args: &Args<'_>) -> Outcome {
    let id = args.u16("port");
    if app.port(id).is_none() {
        app.out.complain(Refusal::NoPort(id));
    }
    Outcome::Done
}

fn query(app: &mut App, args: &Args<'_>) -> Outcome {
    let id = args.u16("port");
    if app.port(id).is_none() {
        app.out.complain(Refusal::NoPort(id));
    } else {
        app.out.complain(Refusal::NoFlow(args.u64("rule")));
    }
    Outcome::Done
}

fn dump(app: &mut App, args: &Args<'_>) -> Outcome {
    let id = args.u16("port");
    complain(app, id);
    if app.port(id).is_some() {
        app.out.complain(ShowRefusal::NoFlowDump);
    }
    Outcome::Done
}

fn complain(app: &mut App, id: u16) -> Outcome {
    let reason = if app.port(id).is_some() {
        "Function not implemented"
    } else {
        "No such device"
    };
    app.out.complain(FlowComplaint {
        fault: FlowFault::Unspecified,
        message: reason.to_owned(),
        reason,
    });
    Outcome::Done
}

#[cfg(test)]
mod tests {
    //! What is a rule and what isn't.

    use super::is_rule;

    #[test]
    fn outlines() {
        for rule in [
            "ingress pattern eth / end actions drop / end",
            "pattern end actions end",
            "group 1 priority 2 ingress pattern eth dst is 00:11:22:33:44:55 / ipv4 src is 10.0.0.1 / end actions queue index 0 / count / end",
        ] {
            assert!(is_rule(rule), "{rule}");
        }
        for slip in [
            "",
            "ingress pattern nosuch / end",
            "ingress pattern eth / end",
            "ingress pattern eth end actions drop / end",
            "group x pattern end actions end",
            "pattern end actions nosuch / end",
            "pattern end actions end end",
        ] {
            assert!(!is_rule(slip), "{slip}");
        }
    }
}
