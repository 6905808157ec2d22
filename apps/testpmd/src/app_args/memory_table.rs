//! Rows: pools and NUMA.

use super::port_table::MAX_PORTS;
use super::{AppArgs, MempoolKind, RingNuma};
use crate::getopt::{ArgError, Given, Opt, flag, opt, value};

/// Headroom of an mbuf, part of its size.
pub(super) const HEADROOM: u16 = 128;
/// Sizes at most.
const MAX_SIZES: usize = 8;
/// Pools come from the page source.
const ONE_SOURCE: &str = "pools come from the pages that EAL's memory options choose";

pub(super) const ROWS: &[Opt<AppArgs>] = &[
    opt(
        flag("numa", "Pools on each node (the default)"),
        |args, _| {
            args.pools.numa = true;
            Ok(())
        },
    ),
    opt(flag("no-numa", "Pools on one node"), |args, _| {
        args.pools.numa = false;
        Ok(())
    }),
    opt(
        value(
            "socket-num",
            "N",
            "The node of pools; matters with --no-numa only",
        ),
        |args, given| {
            args.pools.socket = Some(given.number(0..=254)?);
            Ok(())
        },
    ),
    opt(
        value(
            "port-numa-config",
            "(PORT,NODE)[,...]",
            "Node of a port's pool",
        )
        .repeats(),
        port_numa,
    ),
    opt(
        value(
            "ring-numa-config",
            "(PORT,FLAG,NODE)[,...]",
            "Node of a port's rings; flag 1 rx, 2 tx, 3 both",
        )
        .repeats(),
        ring_numa,
    ),
    opt(
        value(
            "mbuf-size",
            "N[,N...]",
            "Bytes of an mbuf, 128 of headroom included; 2176 unless given",
        ),
        |args, given| {
            args.pools.mbuf_sizes = given.numbers(HEADROOM + 1..=u16::MAX, MAX_SIZES)?;
            Ok(())
        },
    ),
    opt(
        value("total-num-mbufs", "N", "Mbufs of a pool, more than 1024"),
        |args, given| {
            args.pools.total_num_mbufs = Some(given.number(1025..=u32::MAX)?);
            Ok(())
        },
    ),
    opt(
        value(
            "mbcache",
            "N",
            "Mbufs that an lcore caches, 0 to 512; 250 unless given",
        ),
        |args, given| {
            args.pools.mbcache = given.number(0..=512)?;
            Ok(())
        },
    ),
    opt(
        value(
            "max-pkt-len",
            "N",
            "Longest packet, at least 64; sets the MTU",
        ),
        |args, given| {
            args.pools.max_pkt_len = Some(given.number(64..=u32::MAX)?);
            Ok(())
        },
    ),
    opt(
        value("max-lro-pkt-size", "N", "Longest packet that LRO makes")
            .no_effect("no port here does LRO"),
        |args, given| {
            args.pools.max_lro_pkt_size = given.number(0..=u32::MAX)?;
            Ok(())
        },
    ),
    opt(
        value(
            "mp-alloc",
            "KIND",
            "Memory of pools: native, anon, xmem, xmemhuge, xbuf",
        )
        .limited("all kinds give what native gives"),
        |args, given| {
            args.pools.kind = given.choice(&[
                ("native", MempoolKind::Native),
                ("anon", MempoolKind::Anon),
                ("xmem", MempoolKind::Xmem),
                ("xmemhuge", MempoolKind::XmemHuge),
                ("xbuf", MempoolKind::Xbuf),
            ])?;
            if args.pools.kind != MempoolKind::Native {
                args.notices.no_effect(given.whole(), ONE_SOURCE);
            }
            Ok(())
        },
    ),
    opt(
        flag("mp-anon", "Old form of --mp-alloc=anon").no_effect(ONE_SOURCE),
        |args, _| {
            args.pools.kind = MempoolKind::Anon;
            Ok(())
        },
    ),
    opt(
        flag("no-iova-contig", "Pools need not be contiguous").no_effect(ONE_SOURCE),
        |_, _| Ok(()),
    ),
];

/// The groups in parentheses of a NUMA option, each of `fields` numbers up to 255. None at all is the mistake of
/// leaving the parentheses out, which DPDK accepts without a word; so does this, with one.
fn groups(
    args: &mut AppArgs,
    given: &Given<'_>,
    fields: usize,
    form: &str,
) -> Result<Vec<Vec<u8>>, ArgError> {
    let right = format!("give {form}");
    if !given.text().contains(['(', ')']) {
        args.notices.note(format!(
            "{} changes nothing without parentheses; write {}={form}",
            given.whole(),
            given.spelled
        ));
        return Ok(Vec::new());
    }
    let mut rest = given.text();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let Some((group, tail)) = rest
            .trim_start_matches([',', ' '])
            .strip_prefix('(')
            .and_then(|r| r.split_once(')'))
        else {
            return Err(given.bad_part(rest, "is not in parentheses", right));
        };
        let numbers: Vec<u8> = group
            .split(',')
            .map(|n| small(given, n))
            .collect::<Result<_, _>>()?;
        if numbers.len() != fields {
            return Err(given.bad_part(group, format!("has not {fields} numbers"), right));
        }
        found.push(numbers);
        rest = tail.trim_end();
    }
    Ok(found)
}

fn small(given: &Given<'_>, text: &str) -> Result<u8, ArgError> {
    let n = given.any_base(text, 0..=255)?;
    Ok(u8::try_from(n).unwrap_or(u8::MAX))
}

fn port(given: &Given<'_>, number: u8) -> Result<u16, ArgError> {
    if u16::from(number) < MAX_PORTS {
        return Ok(u16::from(number));
    }
    let right = format!("give 0 to {}", MAX_PORTS - 1);
    Err(given.bad_part(&number.to_string(), "is no port", right))
}

fn port_numa(args: &mut AppArgs, given: &Given<'_>) -> Result<(), ArgError> {
    for group in groups(args, given, 2, "(0,0),(1,0)")? {
        args.pools
            .port_numa
            .push((port(given, group[0])?, group[1]));
    }
    Ok(())
}

fn ring_numa(args: &mut AppArgs, given: &Given<'_>) -> Result<(), ArgError> {
    for group in groups(args, given, 3, "(0,3,0),(1,3,0)")? {
        let flags = group[1];
        if !matches!(flags, 1..=3) {
            let right = "give 1 for rx, 2 for tx, 3 for both";
            return Err(given.bad_part(&flags.to_string(), "is no direction", right));
        }
        args.pools.ring_numa.push(RingNuma {
            port: port(given, group[0])?,
            rx: flags & 1 != 0,
            tx: flags & 2 != 0,
            socket: group[2],
        });
    }
    Ok(())
}
