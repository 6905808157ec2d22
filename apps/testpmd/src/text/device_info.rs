//! `show device info {name}|all`.

use std::fmt;

use mpps_wire::MacAddr;

use super::Run;

/// Speeds a device may have, by bit of `RTE_ETH_LINK_SPEED_*`; DPDK ends all but the first with two blanks.
const SPEEDS: &[(u32, &str)] = &[
    (0, "Disable autonegotiate (fixed speed)"),
    (1, "10 Mbps half-duplex"),
    (2, "10 Mbps full-duplex"),
    (3, "100 Mbps half-duplex"),
    (4, "100 Mbps full-duplex"),
    (5, "1 Gbps"),
    (6, "2.5 Gbps"),
    (7, "5 Gbps"),
    (8, "10 Gbps"),
    (9, "20 Gbps"),
    (10, "25 Gbps"),
    (11, "40 Gbps"),
    (12, "50 Gbps"),
    (13, "56 Gbps"),
    (14, "100 Gbps"),
    (15, "200 Gbps"),
    (16, "400 Gbps"),
    (17, "800 Gbps"),
];

/// A port of a device.
#[derive(Debug, Clone, Copy)]
pub struct DevicePort<'a> {
    /// The port's number.
    pub port: u16,
    /// Its MAC address.
    pub mac: MacAddr,
    /// Its device name.
    pub name: &'a str,
    /// `RTE_ETH_LINK_SPEED_*` bits; 0 for all, negotiated.
    pub speeds: u32,
}

/// The block of one device, beginning with an empty line.
#[derive(Debug, Clone, Copy)]
pub struct DeviceInfo<'a> {
    /// The device's name.
    pub name: &'a str,
    /// The bus it is on; `vdev` for all of ours.
    pub bus: &'a str,
    /// What the bus says about it, vendor and device number say.
    pub bus_info: &'a str,
    /// The driver's name.
    pub driver: &'a str,
    /// The device's arguments.
    pub devargs: &'a str,
    /// Its node; -1 for none in particular.
    pub socket: i32,
    /// Its ports.
    pub ports: &'a [DevicePort<'a>],
}

impl fmt::Display for DeviceInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let border = Run('*', 21);
        writeln!(f, "\n{border} Infos for device {} {border}", self.name)?;
        writeln!(
            f,
            "Bus name: {}\nBus information: {}",
            self.bus, self.bus_info
        )?;
        writeln!(f, "Driver name: {}\nDevargs: {}", self.driver, self.devargs)?;
        writeln!(f, "Connect to socket: {}", self.socket)?;
        self.ports.iter().try_for_each(|port| port.fmt(f))
    }
}

impl fmt::Display for DevicePort<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DevicePort {
            port,
            mac,
            name,
            speeds,
        } = self;
        write!(
            f,
            "\n\tPort id: {port:<2}\n\tMAC address: {mac}\n\tDevice name: {name}\n\tDevice speed capability:"
        )?;
        if *speeds == 0 {
            return writeln!(f, " Autonegotiate (all speeds)");
        }
        let able = SPEEDS.iter().filter(|(bit, _)| speeds >> bit & 1 == 1);
        able.into_iter()
            .try_for_each(|(_, text)| write!(f, " {text}  "))?;
        writeln!(f)
    }
}

#[cfg(test)]
#[path = "device_info_tests.rs"]
mod tests;
