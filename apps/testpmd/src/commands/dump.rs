//! `dump ...`, and the same with the underscore that DPDK wrote until 22.11.

use mpps_console::{Args, Command, Outcome};

use crate::app::App;
use crate::text::ShowRefusal;

pub(super) static COMMANDS: [Command<App>; 4] = [
    Command::new(
        "display",
        "dump (physmem|memzone|socket_mem|struct_sizes|ring|mempool|devargs|lcores|trace|log_types)",
        "Shows memory, pools, devices or lcores, for debugging",
        |app, args| {
            let what = args.literals().nth(1).unwrap_or_default();
            dump(app, what)
        },
    ),
    Command::new(
        "display",
        "dump (ring|mempool) <name:word>",
        "Shows one pool, for debugging",
        named,
    ),
    Command::new(
        "display",
        "(dump_physmem|dump_memzone|dump_socket_mem|dump_struct_sizes|dump_ring|dump_mempool|dump_devargs|dump_lcores|dump_trace|dump_log_types)",
        "The same as dump with a blank",
        |app, args| {
            let what = args
                .literals()
                .next()
                .and_then(|word| word.strip_prefix("dump_"));
            dump(app, what.unwrap_or_default())
        },
    ),
    Command::new(
        "display",
        "(dump_ring|dump_mempool) <name:word>",
        "The same as dump with a blank",
        named,
    ),
];

fn dump(app: &mut App, what: &str) -> Outcome {
    match what {
        "physmem" => app.dump_physmem(),
        "memzone" => app.dump_memzones(),
        "socket_mem" => app.dump_socket_memory(),
        "mempool" => app.dump_pools(None),
        "devargs" => app.dump_devargs(),
        "lcores" => app.dump_lcores(),
        other => app.out.complain(format_args!(
            "mpps: dump {other}: {}",
            nothing_to_dump(other)
        )),
    }
    Outcome::Done
}

/// Why there is nothing to show, and what to do instead.
fn nothing_to_dump(what: &str) -> &'static str {
    match what {
        "ring" => {
            "rings have no names here; those of pools show in dump mempool, those of ports in show port xstats"
        }
        "struct_sizes" => "there are no structs of C here; dump mempool has the sizes of mbufs",
        "trace" => "there are no trace points here; use perf record",
        "log_types" => "there are no log types here; what there is to say goes to standard error",
        _ => "there is no such thing here",
    }
}

fn named(app: &mut App, args: &Args<'_>) -> Outcome {
    if args.is("ring") || args.is("dump_ring") {
        app.out.complain(ShowRefusal::NoRing);
    } else {
        app.dump_pools(Some(args.word("name")));
    }
    Outcome::Done
}
