//! Rows: how much memory, from where.

use std::path::PathBuf;

use super::{EalArgs, HugeUnlink, IovaMode, PageLimit};
use crate::getopt::{ArgError, Given, Opt, flag, opt, optional, value};

/// Where a page source carves buffers itself.
const LAYOUT: &str = "buffers are laid out in cache lines, whatever the memory modules are";
/// More MiB than any machine has: 1 EiB.
const MAX_MB: u64 = 1 << 40;
/// NUMA nodes that a list may name.
const MAX_NODES: usize = 64;

pub(super) const ROWS: &[Opt<EalArgs>] = &[
    opt(
        value("memory-size", "MB", "Memory in all, in MiB")
            .short('m')
            .exact(),
        |args, given| {
            args.memory.total_mb = Some(given.number(1..=MAX_MB)?);
            Ok(())
        },
    ),
    opt(
        value("numa-mem", "MB[,MB...]", "Memory of each NUMA node, in MiB"),
        per_node,
    ),
    opt(
        value("socket-mem", "MB[,MB...]", "Other name of --numa-mem").means("numa-mem"),
        per_node,
    ),
    opt(
        value(
            "numa-limit",
            "MB[,MB...]",
            "Upper limit of each NUMA node, in MiB; 0: none",
        ),
        limits,
    ),
    opt(
        value("socket-limit", "MB[,MB...]", "Other name of --numa-limit").means("numa-limit"),
        limits,
    ),
    opt(
        value(
            "pagesz-mem",
            "SIZE:LIMIT",
            "Upper limit on pages of one size, such as 2M:64M",
        )
        .repeats()
        .exact(),
        page_limit,
    ),
    opt(flag("no-huge", "Use ordinary pages"), |args, _| {
        args.memory.no_huge = true;
        Ok(())
    }),
    opt(flag("in-memory", "Leave no files behind"), |args, _| {
        args.memory.in_memory = true;
        Ok(())
    }),
    opt(
        flag(
            "single-file-segments",
            "One file for each page size and node",
        ),
        |args, _| {
            args.memory.single_file_segments = true;
            Ok(())
        },
    ),
    opt(
        value("huge-dir", "DIR", "Take huge pages from this hugetlbfs"),
        |args, given| {
            args.memory.huge_dir = Some(PathBuf::from(given.non_empty("a folder")?));
            Ok(())
        },
    ),
    opt(
        optional(
            "huge-unlink",
            "WHEN",
            "Remove hugepage files: existing, always (no value), never",
        ),
        huge_unlink,
    ),
    opt(
        value(
            "file-prefix",
            "NAME",
            "Begins the names of hugepage files and of the runtime folder",
        ),
        file_prefix,
    ),
    opt(
        flag("no-shconf", "Share nothing with other processes"),
        |args, _| {
            args.memory.no_shconf = true;
            Ok(())
        },
    ),
    opt(
        flag("legacy-mem", "Reserve all memory at start"),
        |args, _| {
            args.memory.legacy_mem = true;
            Ok(())
        },
    ),
    opt(
        flag("match-allocations", "Give pages back as they were taken"),
        |args, _| {
            args.memory.match_allocations = true;
            Ok(())
        },
    ),
    opt(
        value(
            "base-virtaddr",
            "ADDRESS",
            "Map memory from this address on, hexadecimal",
        ),
        base_virtaddr,
    ),
    opt(
        value("iova-mode", "MODE", "Addresses that devices use: pa or va"),
        |args, given| {
            let modes = [("pa", IovaMode::Pa), ("va", IovaMode::Va)];
            args.memory.iova_mode = Some(given.choice(&modes)?);
            Ok(())
        },
    ),
    opt(
        optional("huge-worker-stack", "KB", "Put thread stacks on huge pages")
            .no_effect("threads keep the stacks that the system gives them"),
        |_, given| match given.value {
            Some(_) => given.number(1..=u32::MAX).map(|_| ()),
            None => Ok(()),
        },
    ),
    opt(
        value("mbuf-pool-ops-name", "NAME", "Kind of mbuf pool")
            .limited("there is one kind of pool; ring_mp_mc names it"),
        pool_ops,
    ),
    opt(
        value("memory-channels", "N", "Memory channels")
            .short('n')
            .exact()
            .no_effect(LAYOUT),
        |args, given| {
            args.channels = Some(given.number(1..=1024)?);
            Ok(())
        },
    ),
    opt(
        value("memory-ranks", "N", "Memory ranks, 1 to 16")
            .short('r')
            .exact()
            .no_effect(LAYOUT),
        |args, given| {
            args.ranks = Some(given.number(1..=16)?);
            Ok(())
        },
    ),
];

fn per_node(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    args.memory.per_node_mb = given.numbers(0..=MAX_MB, MAX_NODES)?;
    Ok(())
}

fn limits(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    args.memory.limit_per_node_mb = given.numbers(0..=MAX_MB, MAX_NODES)?;
    Ok(())
}

fn page_limit(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let right = "give PAGE:LIMIT such as 2M:64M";
    let Some((page, limit)) = given.text().split_once(':') else {
        return Err(given.bad("has no colon", right));
    };
    let read = |text| bytes(text).ok_or_else(|| given.bad_part(text, "is not a size", right));
    let (page, limit) = (page.trim(), limit.trim());
    let (page_bytes, limit_bytes) = (read(page)?, read(limit)?);
    if !page_bytes.is_power_of_two() {
        return Err(given.bad_part(page, "is not a power of two", right));
    }
    if limit_bytes % page_bytes != 0 {
        let right = format!("give a multiple of {page}");
        return Err(given.bad_part(limit, "is no whole number of pages", right));
    }
    let limits = &mut args.memory.page_limits;
    if limits.iter().any(|l| l.page_bytes == page_bytes) {
        args.notices.note(format!(
            "{} was given before for pages of {page}; {limit} holds",
            given.spelled
        ));
        limits.retain(|l| l.page_bytes != page_bytes);
    }
    limits.push(PageLimit {
        page_bytes,
        limit_bytes,
    });
    Ok(())
}

/// Decimal digits with K, M, G or T behind them, in bytes.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, shift) = match text.chars().last()?.to_ascii_uppercase() {
        'K' => (&text[..text.len() - 1], 10),
        'M' => (&text[..text.len() - 1], 20),
        'G' => (&text[..text.len() - 1], 30),
        'T' => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

fn huge_unlink(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    args.memory.huge_unlink = match given.value {
        None => HugeUnlink::Always,
        Some(_) => given.choice(&[
            ("existing", HugeUnlink::Existing),
            ("always", HugeUnlink::Always),
            ("never", HugeUnlink::Never),
        ])?,
    };
    if args.memory.huge_unlink == HugeUnlink::Never {
        args.notices
            .note("--huge-unlink=never: hugepage files of an earlier run are used as they are");
    }
    Ok(())
}

fn file_prefix(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let text = given.non_empty("a name")?;
    if text.contains(['%', '/']) {
        return Err(given.bad("can't be part of a file name", "leave out % and /"));
    }
    args.memory.file_prefix = text.to_owned();
    Ok(())
}

fn base_virtaddr(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let granule = 16 << 20;
    let Some(address) = given.hex()?.checked_next_multiple_of(granule) else {
        return Err(given.bad("is out of range", "give an address below 2^47"));
    };
    if address >= 1 << 47 {
        return Err(given.bad("is out of range", "give an address below 2^47"));
    }
    args.memory.base_virtaddr = Some(address);
    Ok(())
}

fn pool_ops(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let name = given.non_empty("a name such as ring_mp_mc")?;
    if name != "ring_mp_mc" {
        args.notices.no_effect(
            given.whole(),
            "there is one kind of pool, per-lcore caches over a shared ring",
        );
    }
    args.memory.pool_ops = Some(name.to_owned());
    Ok(())
}

/// What only the whole command line tells.
pub(super) fn finish(args: &mut EalArgs) {
    let memory = &args.memory;
    if memory.legacy_mem && memory.total_mb.is_none() && memory.per_node_mb.is_empty() {
        args.notices
            .note("--legacy-mem without an amount; -m or --numa-mem says how much to reserve");
    }
}
