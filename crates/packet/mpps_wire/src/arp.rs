//! ARP for IPv4 over Ethernet (RFC 826).

use crate::{Header, MacAddr, ethertype};
use core::net::Ipv4Addr;
use zerocopy::byteorder::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// An ARP packet with Ethernet and IPv4 addresses, 28 bytes.
///
/// ```
/// use mpps_wire::{Arp, Header};
///
/// let mut bytes = [0; 28];
/// bytes[..8].copy_from_slice(&[0, 1, 8, 0, 6, 4, 0, 1]);
/// let arp = Arp::at(&bytes, 0).expect("28 bytes");
/// assert!(arp.is_ethernet_ipv4() && arp.operation.get() == Arp::REQUEST);
/// ```
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Unaligned,
)]
#[repr(C)]
pub struct Arp {
    /// Hardware type; 1 is Ethernet.
    pub hardware: U16,
    /// Protocol type, an EtherType.
    pub protocol: U16,
    /// Length of a hardware address, in bytes.
    pub hardware_len: u8,
    /// Length of a protocol address, in bytes.
    pub protocol_len: u8,
    /// [`Arp::REQUEST`], [`Arp::REPLY`] or another operation.
    pub operation: U16,
    sender_mac: [u8; 6],
    sender_ip: [u8; 4],
    target_mac: [u8; 6],
    target_ip: [u8; 4],
}

impl Header for Arp {}

impl Arp {
    /// Operation: who has this address?
    pub const REQUEST: u16 = 1;
    /// Operation: I have it.
    pub const REPLY: u16 = 2;

    /// The types and lengths are those that this struct lays out.
    #[inline]
    pub fn is_ethernet_ipv4(&self) -> bool {
        self.hardware.get() == 1
            && self.protocol.get() == ethertype::IPV4
            && self.hardware_len == 6
            && self.protocol_len == 4
    }

    /// Hardware address of the sender.
    #[inline]
    pub fn sender_mac(&self) -> MacAddr {
        MacAddr(self.sender_mac)
    }

    /// Protocol address of the sender.
    #[inline]
    pub fn sender_ip(&self) -> Ipv4Addr {
        self.sender_ip.into()
    }

    /// Hardware address of the target; meaningless in a request.
    #[inline]
    pub fn target_mac(&self) -> MacAddr {
        MacAddr(self.target_mac)
    }

    /// Protocol address of the target.
    #[inline]
    pub fn target_ip(&self) -> Ipv4Addr {
        self.target_ip.into()
    }

    /// Turns a request into the reply that says `mac` owns the address asked for.
    #[inline]
    pub fn answer(&mut self, mac: MacAddr) {
        self.operation.set(Arp::REPLY);
        self.target_mac = self.sender_mac;
        self.sender_mac = mac.bytes();
        core::mem::swap(&mut self.sender_ip, &mut self.target_ip);
    }
}

#[cfg(test)]
mod tests;
