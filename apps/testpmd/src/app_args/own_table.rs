//! Rows that DPDK's testpmd doesn't have. They take no part in abbreviation, so that DPDK's keep their meaning.

use super::AppArgs;
use crate::getopt::{Opt, flag, opt, value};

pub(super) const ROWS: &[Opt<AppArgs>] = &[
    opt(
        value(
            "macswap",
            "KERNEL",
            "Kernel of MAC swapping; auto unless given",
        )
        .exact(),
        |args, given| {
            args.own.macswap = Some(given.non_empty("a kernel such as auto")?.to_owned());
            Ok(())
        },
    ),
    opt(
        value("copy", "KIND", "How packets are copied; auto unless given").exact(),
        |args, given| {
            args.own.copy = Some(given.non_empty("a kind such as auto")?.to_owned());
            Ok(())
        },
    ),
    opt(
        flag(
            "isolate-pools",
            "Give each port that lends its buffers a pool of its own",
        )
        .exact(),
        |args, _| {
            args.own.isolate_pools = true;
            Ok(())
        },
    ),
];
