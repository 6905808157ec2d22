//! RSS: the hash types with bits and names, `show port {p} rss-hash` and the redirection table.

use std::fmt;

/// A name of `port config all rss`, and the bits it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RssType {
    /// As typed and printed.
    pub name: &'static str,
    /// `RTE_ETH_RSS_*` bits.
    pub bits: u64,
}

const fn bit(name: &'static str, at: u32) -> RssType {
    RssType {
        name,
        bits: 1 << at,
    }
}

const fn group(name: &'static str, bits: u64) -> RssType {
    RssType { name, bits }
}

const IP: u64 = 0xa38c;
const UDP: u64 = 0x2_0820;
const TCP: u64 = 0x1_0410;
const SCTP: u64 = 0x1040;
const TUNNEL: u64 = 0x38_0000;
const VLAN: u64 = 0x600_0000;
/// eth, l2-payload, gtpu, esp, ah, l2tpv3, pfcp, ecpri, mpls, l2tpv2, ib-bth.
const OTHERS: u64 = 1 << 24
    | 1 << 14
    | 1 << 23
    | 1 << 27
    | 1 << 28
    | 1 << 29
    | 1 << 30
    | 1 << 32
    | 1 << 33
    | 1 << 36
    | 1 << 38;

/// Groups first, then single types, in the order in which `show port {p} rss-hash` prints them.
pub const RSS_TYPES: &[RssType] = &[
    group("all", IP | UDP | TCP | SCTP | VLAN | OTHERS),
    group("none", 0),
    group("ip", IP),
    group("udp", UDP),
    group("tcp", TCP),
    group("sctp", SCTP),
    group("tunnel", TUNNEL),
    group("vlan", VLAN),
    bit("ipv4", 2),
    bit("ipv4-frag", 3),
    bit("ipv4-tcp", 4),
    bit("ipv4-udp", 5),
    bit("ipv4-sctp", 6),
    bit("ipv4-other", 7),
    bit("ipv6", 8),
    bit("ipv6-frag", 9),
    bit("ipv6-tcp", 10),
    bit("ipv6-udp", 11),
    bit("ipv6-sctp", 12),
    bit("ipv6-other", 13),
    bit("l2-payload", 14),
    bit("ipv6-ex", 15),
    bit("ipv6-tcp-ex", 16),
    bit("ipv6-udp-ex", 17),
    bit("port", 18),
    bit("vxlan", 19),
    bit("geneve", 20),
    bit("nvgre", 21),
    bit("gtpu", 23),
    bit("eth", 24),
    bit("s-vlan", 25),
    bit("c-vlan", 26),
    bit("esp", 27),
    bit("ah", 28),
    bit("l2tpv3", 29),
    bit("pfcp", 30),
    bit("pppoe", 31),
    bit("ecpri", 32),
    bit("mpls", 33),
    bit("ipv4-chksum", 34),
    bit("l4-chksum", 35),
    bit("l2tpv2", 36),
    bit("l3-pre96", 52),
    bit("l3-pre64", 53),
    bit("l3-pre56", 54),
    bit("l3-pre48", 55),
    bit("l3-pre40", 56),
    bit("l3-pre32", 57),
    bit("l2-dst-only", 58),
    bit("l2-src-only", 59),
    bit("l4-dst-only", 60),
    bit("l4-src-only", 61),
    bit("l3-dst-only", 62),
    bit("l3-src-only", 63),
    bit("ipv6-flow-label", 37),
    bit("ib-bth", 38),
];

/// The bits of a name, groups included.
pub fn rss_type(name: &str) -> Option<u64> {
    RSS_TYPES
        .iter()
        .find(|known| known.name == name)
        .map(|known| known.bits)
}

/// Names indented by two blanks and wrapped near 64 columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RssNames {
    /// What a port supports (`show port info`): single bits in rising order; unnamed ones as `user-defined-{bit}`.
    Supported(u64),
    /// What is in use (`show port {p} rss-hash`): every name of the table whose bits are all set, groups too.
    InUse(u64),
}

/// Columns a line of names may take.
const WIDTH: usize = 64;

impl fmt::Display for RssNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            RssNames::Supported(bits) => supported(f, bits),
            RssNames::InUse(0) => Ok(()),
            RssNames::InUse(bits) => in_use(f, bits),
        }
    }
}

fn supported(f: &mut fmt::Formatter<'_>, bits: u64) -> fmt::Result {
    let mut column = 0;
    for at in (0..u64::BITS).filter(|at| bits >> at & 1 == 1) {
        let named = RSS_TYPES.iter().find(|known| known.bits == 1 << at);
        // The width DPDK reckons for a number that has no name: a column more for every ten.
        let width = 2 + named.map_or_else(
            || "user-defined-".len() + at as usize / 10 + 1,
            |known| known.name.len(),
        );
        if column + width >= WIDTH {
            writeln!(f)?;
            column = 0;
        }
        match named {
            Some(known) => write!(f, "  {}", known.name)?,
            None => write!(f, "  user-defined-{at}")?,
        }
        column += width;
    }
    writeln!(f)
}

fn in_use(f: &mut fmt::Formatter<'_>, bits: u64) -> fmt::Result {
    let mut column = 0;
    for known in RSS_TYPES
        .iter()
        .filter(|known| known.bits != 0 && bits & known.bits == known.bits)
    {
        let width = known.name.len() + 2;
        // Here a line may be full to the last column, unlike above.
        if column + width > WIDTH {
            writeln!(f)?;
            column = 0;
        }
        write!(f, "  {}", known.name)?;
        column += width;
    }
    writeln!(f)
}

/// `show port {p} rss-hash [key|algorithm]`.
#[derive(Debug, Clone, Copy)]
pub enum RssHash<'a> {
    /// No type is in use (or the port knows no RSS), whatever was asked.
    Disabled,
    /// The types, and the key when `key` was asked.
    Functions {
        /// `RTE_ETH_RSS_*` bits.
        types: u64,
        /// The key's bytes.
        key: Option<&'a [u8]>,
    },
    /// `algorithm`: `default`, `simple_xor`, `toeplitz`, `symmetric_toeplitz` or `symmetric_toeplitz_sort`.
    Algorithm(&'a str),
}

impl fmt::Display for RssHash<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            RssHash::Disabled | RssHash::Functions { types: 0, .. } => writeln!(f, "RSS disabled"),
            RssHash::Algorithm(name) => writeln!(f, "RSS algorithm:\n  {name}"),
            RssHash::Functions { types, key } => {
                write!(f, "RSS functions:\n{}", RssNames::InUse(types))?;
                let Some(key) = key else { return Ok(()) };
                writeln!(f, "RSS key:")?;
                key.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
                writeln!(f)
            }
        }
    }
}

/// Entries of the redirection table that one mask covers.
pub const RETA_GROUP: usize = 64;

/// `show port {p} rss reta {size} (mask,...)`: the entries whose mask bit is set.
#[derive(Debug, Clone, Copy)]
pub struct RetaRows<'a> {
    /// The table: entry to queue.
    pub table: &'a [u16],
    /// One mask for each [`RETA_GROUP`] entries.
    pub masks: &'a [u64],
}

impl fmt::Display for RetaRows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (group, (mask, queues)) in self
            .masks
            .iter()
            .zip(self.table.chunks(RETA_GROUP))
            .enumerate()
        {
            for (at, queue) in queues
                .iter()
                .enumerate()
                .filter(|(at, _)| mask >> at & 1 == 1)
            {
                let index = group * RETA_GROUP + at;
                writeln!(
                    f,
                    "RSS RETA configuration: hash index={index}, queue={queue}"
                )?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "hash_tests.rs"]
mod tests;
