//! Headers of generated packets: Ethernet, IPv4 and UDP as 42 bytes, written once and copied into each packet.

use std::net::Ipv4Addr;

use mpps_wire::{MacAddr, checksum};

/// Bytes of the three headers.
pub(crate) const HEADERS: usize = 42;

/// Offset of the IPv4 header.
const IP: usize = 14;

/// Offset of the UDP header.
const UDP: usize = 34;

/// Headers of a UDP packet, ready to copy.
#[derive(Clone)]
pub(crate) struct Template {
    pub(crate) bytes: [u8; HEADERS],
}

/// What differs between generators.
pub(crate) struct Addresses {
    pub(crate) mac: (MacAddr, MacAddr),
    pub(crate) ip: (Ipv4Addr, Ipv4Addr),
    pub(crate) udp: (u16, u16),
}

impl Template {
    /// Headers for a frame of `length` bytes, at least 42; pairs are (source, destination).
    pub(crate) fn new(addresses: &Addresses, length: u16) -> Self {
        let mut bytes = [0; HEADERS];
        bytes[..6].copy_from_slice(&addresses.mac.1.bytes());
        bytes[6..12].copy_from_slice(&addresses.mac.0.bytes());
        bytes[12..14].copy_from_slice(&[8, 0]);
        bytes[IP..IP + 10].copy_from_slice(&[0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17]);
        bytes[IP + 12..IP + 16].copy_from_slice(&addresses.ip.0.octets());
        bytes[IP + 16..IP + 20].copy_from_slice(&addresses.ip.1.octets());
        bytes[UDP..UDP + 2].copy_from_slice(&addresses.udp.0.to_be_bytes());
        bytes[UDP + 2..UDP + 4].copy_from_slice(&addresses.udp.1.to_be_bytes());
        let mut template = Self { bytes };
        template.set_length(length);
        template
    }

    /// Sets the lengths and the IPv4 checksum for a frame of `length` bytes.
    pub(crate) fn set_length(&mut self, length: u16) {
        let length = length.max(HEADERS as u16);
        self.bytes[IP + 2..IP + 4].copy_from_slice(&(length - 14).to_be_bytes());
        self.bytes[UDP + 4..UDP + 6].copy_from_slice(&(length - 34).to_be_bytes());
        self.sum();
    }

    /// The IPv4 checksum as it stands.
    pub(crate) fn checksum(&self) -> u16 {
        u16::from_be_bytes([self.bytes[IP + 10], self.bytes[IP + 11]])
    }

    fn sum(&mut self) {
        self.bytes[IP + 10..IP + 12].fill(0);
        let sum = checksum::checksum(&self.bytes[IP..IP + 20]);
        self.bytes[IP + 10..IP + 12].copy_from_slice(&sum.to_be_bytes());
    }
}
