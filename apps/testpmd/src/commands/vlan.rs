//! VLANs of ports.

use mpps_console::Command;

use super::answer;
use crate::app::{App, VlanKind};

pub(super) static COMMANDS: [Command<App>; 9] = [
    Command::new(
        "config",
        "vlan set (strip|filter|qinq_strip|extend) (on|off) <port:port>",
        "Sets how a port handles the tags of received packets",
        |app, args| {
            let what = if args.is("strip") {
                VlanKind::Strip
            } else if args.is("filter") {
                VlanKind::Filter
            } else if args.is("extend") {
                VlanKind::Extend
            } else {
                VlanKind::QinqStrip
            };
            let result = app.set_vlan_offload(args.u16("port"), what, args.is("on"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "vlan set stripq (on|off) <queue:word>",
        "Sets whether one queue takes tags out, as in 0,1",
        |app, args| {
            let result = app.set_vlan_strip_queue(args.word("queue"), args.is("on"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "vlan set (inner|outer) tpid <type:u16> <port:port>",
        "Sets the EtherType that a port takes for a tag",
        |app, args| {
            let result = app.set_vlan_type(args.u16("port"), args.is("outer"), args.u16("type"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "rx_vlan (add|rm) all <port:port>",
        "Lets all VLANs pass, or none",
        |app, args| {
            // DPDK begins with 0 and ends at the first that is refused.
            let result = (0..4096)
                .try_for_each(|vlan| app.set_vlan_member(args.u16("port"), vlan, args.is("add")));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "rx_vlan (add|rm) <vlan:u16> <port:port>",
        "Lets a VLAN pass, or not",
        |app, args| {
            let result = app.set_vlan_member(args.u16("port"), args.u16("vlan"), args.is("add"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "tx_vlan set <port:port> <vlan:u16>",
        "Tags what engines send by a port",
        |app, args| {
            let result = app.set_tx_vlan(args.u16("port"), args.u16("vlan"), None);
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "tx_vlan set <port:port> <vlan:u16> <outer:u16>",
        "Tags what engines send by a port twice",
        |app, args| {
            let result =
                app.set_tx_vlan(args.u16("port"), args.u16("vlan"), Some(args.u16("outer")));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "tx_vlan reset <port:port>",
        "Tags nothing any more",
        |app, args| {
            let result = app.reset_tx_vlan(args.u16("port"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "tx_vlan set pvid <port:port> <vlan:u16> (on|off)",
        "Tags what has no tag; not available on these ports",
        |app, args| {
            let result = app.set_pvid(args.u16("port"));
            answer(app, result)
        },
    ),
];
