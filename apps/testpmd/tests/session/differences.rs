//! Where a session of ours is meant to read otherwise than the recorded one, and why.

/// What is compared instead of the whole reply.
pub(crate) enum Instead {
    /// Ours begins with this text.
    Begins(&'static str),
    /// The figures may differ, the words and their places may not.
    Figures,
}

/// One answer that differs.
pub(crate) struct Difference {
    /// The command.
    pub(crate) command: &'static str,
    /// Which of its occurrences, from 0; `None` for all.
    pub(crate) occurrence: Option<usize>,
    /// What is compared instead.
    pub(crate) instead: Instead,
    /// Why.
    #[expect(dead_code, reason = "for who reads the table")]
    pub(crate) why: &'static str,
}

const fn differs(
    command: &'static str,
    occurrence: Option<usize>,
    instead: Instead,
    why: &'static str,
) -> Difference {
    Difference {
        command,
        occurrence,
        instead,
        why,
    }
}

/// The session with two null ports.
pub(crate) const NULL: &[Difference] = &[
    differs(
        "set burst 0",
        None,
        Instead::Begins("mpps: set burst 0: must be 1 to 512"),
        "DPDK takes it and then forwards nothing for ever, in silence",
    ),
    differs(
        "start",
        Some(0),
        Instead::Figures,
        "the burst wasn't set to 0",
    ),
    differs(
        "start",
        Some(2),
        Instead::Figures,
        "the burst wasn't set to 0",
    ),
    differs(
        "start tx_first 2",
        None,
        Instead::Figures,
        "the burst wasn't set to 0",
    ),
    differs(
        "start tx_first 0",
        None,
        Instead::Figures,
        "the burst wasn't set to 0",
    ),
    differs(
        "stop",
        Some(2),
        Instead::Figures,
        "the bursts of tx_first hold packets, as the burst wasn't set to 0",
    ),
    differs(
        "show vf stats 0 0",
        None,
        Instead::Begins("function not implemented"),
        "DPDK goes on to show counters that it never got",
    ),
    differs(
        "help",
        None,
        Instead::Begins("\nThe commands by section:"),
        "help is in words of our own",
    ),
    differs(
        "dump_mempool",
        None,
        Instead::Begins("mempool <mb_pool_0>@0x"),
        "the names of 22.11 are understood too",
    ),
    differs(
        "dump_ring",
        None,
        Instead::Begins("mpps: dump ring: "),
        "as above; rings have no names here",
    ),
    differs(
        "dump_physmem",
        None,
        Instead::Begins("Segment 0-0: IOVA:0x"),
        "as above",
    ),
    differs(
        "dump_devargs",
        None,
        Instead::Begins("User device list:\n  [vdev]: net_null0 "),
        "as above",
    ),
    differs(
        "dump_lcores",
        None,
        Instead::Begins("lcore 0, socket 0, role RTE, cpuset 0\n"),
        "as above",
    ),
];

/// Lines that only DPDK prints, by how they begin, wherever they stand.
pub(crate) const DPDK_ONLY: &[(&str, &str)] = &[
    (
        "EAL: ",
        "lines about starting that no script reads; ours begin with `mpps: `",
    ),
    ("TELEMETRY: ", "likewise"),
    (
        "Primary: Sending 'stop_req'",
        "there are no secondary processes to tell",
    ),
    (
        "Warning: NUMA should be configured manually",
        "every port here knows its node",
    ),
];
