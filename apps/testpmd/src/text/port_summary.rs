//! `show port summary`.

use std::fmt;

use mpps_wire::MacAddr;

use super::link::{Link, SpeedText};

/// `show port summary`: the count of all ports, then a row for each port asked for.
#[derive(Debug, Clone, Copy)]
pub struct PortSummary<'a> {
    /// Ports there are.
    pub count: usize,
    /// Number, address, device name, driver name and link of those to list.
    pub rows: &'a [(u16, MacAddr, &'a str, &'a str, Link)],
}

impl fmt::Display for PortSummary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Number of available ports: {}", self.count)?;
        let titles = ("Port", "MAC Address", "Name", "Driver", "Status");
        writeln!(
            f,
            "{:<4} {:<17} {:<12} {:<14} {:<8} Link",
            titles.0, titles.1, titles.2, titles.3, titles.4
        )?;
        for (port, mac, device, driver, link) in self.rows {
            let speed = SpeedText(link.speed_mbps);
            writeln!(
                f,
                "{port:<4} {mac} {device:<12} {driver:<14} {:<8} {speed}",
                link.state()
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "port_summary_tests.rs"]
mod tests;
