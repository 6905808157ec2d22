//! What only the whole of testpmd's half tells.

use super::memory_table::HEADROOM;
use super::{AppArgs, Burst, NamesArgs, rx, tx};
use crate::getopt::{ArgError, nearest};

pub(super) fn finish(args: &mut AppArgs, names: NamesArgs<'_>) -> Result<(), ArgError> {
    name(
        "--forward-mode",
        args.ports.forward_mode.as_deref(),
        names.engines,
    )?;
    name("--macswap", args.own.macswap.as_deref(), names.macswap)?;
    name("--copy", args.own.copy.as_deref(), names.copy)?;
    segments(args)?;
    rings(args)?;
    processes(args)?;
    notices(args);
    warnings(args);
    Ok(())
}

fn wrong(option: &str, value: &str, wrong: &str, right: String) -> ArgError {
    ArgError::BadValue {
        option: option.to_owned(),
        value: crate::getopt::quoted(value),
        wrong: wrong.to_owned(),
        right,
    }
}

/// A name that another crate has to know.
fn name(option: &str, given: Option<&str>, known: &[&str]) -> Result<(), ArgError> {
    let Some(given) = given.filter(|g| !known.contains(g)) else {
        return Ok(());
    };
    let all = known.join(", ");
    let right = match nearest(given, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? There are {all}"),
        None => format!("give one of {all}"),
    };
    Err(wrong(option, given, "is unknown", right))
}

/// Each segment of `--txpkts` has to fit into an mbuf of the first size.
fn segments(args: &AppArgs) -> Result<(), ArgError> {
    let size = args.pools.mbuf_sizes.first().copied().unwrap_or(HEADROOM);
    let room = size.saturating_sub(HEADROOM);
    match args.traffic.txpkts.iter().find(|n| **n > room) {
        // The default of 64 was asked for by nobody; with tiny mbufs only the generating engines mind, at start.
        Some(n) if args.traffic.txpkts != [64] => Err(wrong(
            "--txpkts",
            &n.to_string(),
            "is longer than an mbuf",
            format!(
                "give at most {room}, or a larger --mbuf-size ({size}, {HEADROOM} of it headroom)"
            ),
        )),
        _ => Ok(()),
    }
}

fn rings(args: &AppArgs) -> Result<(), ArgError> {
    let q = &args.queues;
    if q.rxq == Some(0) && q.txq == Some(0) {
        return Err(ArgError::Conflict {
            first: "`--rxq=0`".to_owned(),
            second: "`--txq=0`".to_owned(),
            why: "a port needs queues in one direction at least".to_owned(),
        });
    }
    match (q.rxd, q.rxfreet) {
        (Some(rxd), Some(free)) if free >= rxd => Err(wrong(
            "--rxfreet",
            &free.to_string(),
            "is not below --rxd",
            format!("give 0 to {}", rxd - 1),
        )),
        _ => Ok(()),
    }
}

fn processes(args: &AppArgs) -> Result<(), ArgError> {
    if args.run.proc_id < args.run.num_procs {
        return Ok(());
    }
    let right = format!("give 0 to {}", args.run.num_procs - 1);
    let id = args.run.proc_id.to_string();
    Err(wrong("--proc-id", &id, "is not below --num-procs", right))
}

fn notices(args: &mut AppArgs) {
    let run = &args.run;
    if run.interactive && run.stats_period.is_some() {
        args.notices
            .no_effect("--stats-period", "with -i the prompt asks for statistics");
    }
    if args.pools.socket.is_some() && args.pools.numa {
        args.notices
            .no_effect("--socket-num", "it only counts with --no-numa");
    }
    if let Burst::Packets(burst) = args.queues.burst
        && args.traffic.flowgen_clones >= burst
    {
        args.notices.note(format!(
            "--flowgen-clones={} is cut to fit the burst of {burst}",
            args.traffic.flowgen_clones
        ));
    }
}

/// What DPDK warns of once everything is read; its texts, with the prefix of its log where it uses that.
fn warnings(args: &mut AppArgs) {
    let (rxq, txq) = (args.queues.rxq.unwrap_or(1), args.queues.txq.unwrap_or(1));
    if rxq > 1 && rxq > txq {
        args.warnings.push(format!(
            "Warning: nb_rxq={rxq} enables RSS configuration, but nb_txq={txq} will prevent to fully test it."
        ));
    }
    let scatter = args.offloads.rx & rx::SCATTER != 0;
    let multi_segs = args.offloads.tx & tx::MULTI_SEGS != 0;
    let mut log = |text: String| args.warnings.push(format!("testpmd: Warning: {text}"));
    if args.pools.mbuf_sizes.len() > 1 && !scatter {
        log("multiple mbuf sizes specified but scattered Rx not enabled".to_owned());
    }
    let size = args.pools.mbuf_sizes.first().copied().unwrap_or(u16::MAX);
    if let Some(longest) = args.pools.max_pkt_len.filter(|n| *n > u32::from(size)) {
        let begins = format!("max-pkt-len ({longest}) is greater than mbuf size ({size})");
        if !scatter {
            log(format!("{begins} without scattered Rx enabled"));
        }
        if !multi_segs {
            log(format!("{begins} without multi-segment Tx enabled"));
        }
    }
    if scatter && !multi_segs {
        log("Scattered RX offload enabled, but TX multi-segment support not enabled.".to_owned());
    }
}
