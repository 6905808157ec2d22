//! Wire formats as checked views of bytes, checksums and the Toeplitz hash.
//!
//! Everything here works on byte slices that the caller owns: no I/O, no state, and no allocation on the way of a
//! packet. Three kinds of things:
//!
//! - **Headers** ([`Ethernet`], [`Ipv4`], [`Udp`], ...): structs laid over bytes by [`Header::at`] and
//!   [`Header::at_mut`]. One bounds check, then plain fields; integers are big-endian types with `get` and `set`.
//! - **Walks** ([`parse`], [`walk_ethernet`], [`walk_extensions`]): lengths and kinds by value, so that the bytes are
//!   free to be written afterwards.
//! - **Sums** ([`checksum`], [`Crc32c`], [`Toeplitz`]): values carried over as many segments as there are.
//!
//! No input makes a function here panic or loop without bound: what is cut off or malformed isn't there.
#![forbid(unsafe_code)]

mod arp;
pub mod checksum;
mod ethernet;
#[cfg(test)]
mod frames;
mod header;
mod icmp;
mod ipv4;
mod ipv6;
mod mac;
mod packet_type;
mod parse;
mod sctp;
mod tcp;
pub mod toeplitz;
pub mod tunnel;
mod udp;

pub use arp::Arp;
pub use ethernet::{Ethernet, LinkLayer, MAX_VLAN_TAGS, Vlan, VlanTags, ethertype, walk_ethernet};
pub use header::Header;
pub use icmp::Icmp;
pub use ipv4::{Ipv4, protocol};
pub use ipv6::{Extensions, Ipv6, Ipv6Fragment, MAX_EXTENSIONS, walk_extensions};
pub use mac::{MacAddr, ParseMacError};
pub use packet_type::{Classified, HeaderLengths, PacketType, classify};
pub use parse::{Fragment, Layers, Tunnel, parse};
pub use sctp::{Crc32c, Sctp};
pub use tcp::Tcp;
pub use toeplitz::Toeplitz;
pub use tunnel::{
    Geneve, Gre, Gtp, Inner, MplsLabel, TunnelKind, TunnelPorts, Vxlan, VxlanGpe, walk_mpls,
};
pub use udp::Udp;
