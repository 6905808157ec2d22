//! Link state as text: speeds, and the lines behind `Checking link statuses...`.

use std::fmt;

/// A link speed in Mbps as the words that testpmd uses: 0 is `None`, `u32::MAX` is `Unknown`, a speed without a name `Invalid`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpeedText(
    /// Mbps.
    pub u32,
);

/// Speeds with a name, in Mbps.
const SPEEDS: &[(u32, &str)] = &[
    (0, "None"),
    (10, "10 Mbps"),
    (100, "100 Mbps"),
    (1_000, "1 Gbps"),
    (2_500, "2.5 Gbps"),
    (5_000, "5 Gbps"),
    (10_000, "10 Gbps"),
    (20_000, "20 Gbps"),
    (25_000, "25 Gbps"),
    (40_000, "40 Gbps"),
    (50_000, "50 Gbps"),
    (56_000, "56 Gbps"),
    (100_000, "100 Gbps"),
    (200_000, "200 Gbps"),
    (400_000, "400 Gbps"),
    (800_000, "800 Gbps"),
    (u32::MAX, "Unknown"),
];

impl fmt::Display for SpeedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = SPEEDS.iter().find(|(mbps, _)| *mbps == self.0);
        f.pad(named.map_or("Invalid", |(_, name)| name))
    }
}

/// A port's link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Link {
    /// Packets can pass.
    pub up: bool,
    /// Mbps; 0 none, `u32::MAX` unknown.
    pub speed_mbps: u32,
    /// Both directions at once.
    pub full_duplex: bool,
    /// Speed and duplex were negotiated.
    pub autoneg: bool,
}

impl Link {
    /// `up` or `down`.
    pub fn state(&self) -> &'static str {
        if self.up { "up" } else { "down" }
    }
}

/// As link lines and events say it: `Link down`, or `Link up at {speed} {FDX|HDX} {Autoneg|Fixed} {connector}`.
///
/// None of our ports has a connector, so that word is always `None`.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.up {
            return f.write_str("Link down");
        }
        let duplex = if self.full_duplex { "FDX" } else { "HDX" };
        let autoneg = if self.autoneg { "Autoneg" } else { "Fixed" };
        write!(
            f,
            "Link up at {} {duplex} {autoneg} None",
            SpeedText(self.speed_mbps)
        )
    }
}

/// `Port {p} Link up at ...`. Printed only while LSC interrupts are off (`--no-lsc-interrupt`): with them on, the check ends
/// after its first look and prints nothing.
#[derive(Debug, Clone, Copy)]
pub struct LinkLine {
    /// The port's number.
    pub port: u16,
    /// Its link, once up or when 9 s (90 looks 100 ms apart) have passed.
    pub link: Link,
}

impl fmt::Display for LinkLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Port {} {}", self.port, self.link)
    }
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
