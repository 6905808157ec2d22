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
//! An engine that rewrites a packet and its checksums, whose payload may lie in further segments:
//!
//! ```
//! use mpps_wire::{Ethernet, Header, Ipv4, Udp, ethertype, parse, protocol};
//!
//! fn rewrite(head: &mut [u8], rest: &[&[u8]]) -> Option<()> {
//!     let layers = parse(head, None);
//!     Ethernet::at_mut(head, 0)?.swap_addresses();
//!     if !layers.is_ipv4() || layers.l4_proto != protocol::UDP || layers.l4_len == 0 || layers.is_fragment() {
//!         return None;
//!     }
//!     Ipv4::fill_checksum(head, layers.l3_offset());
//!
//!     let packet_len = head.len() + rest.iter().map(|segment| segment.len()).sum::<usize>();
//!     let l4_total = layers.l4_total(head, packet_len)?;
//!     let udp = Udp::at_mut(head, layers.l4_offset())?;
//!     udp.swap_ports();
//!     udp.checksum.set(0);
//!     let mut sum = layers.pseudo(head, l4_total)?;
//!     // Padding behind the IP packet isn't summed.
//!     let mut left = l4_total;
//!     for segment in [&head[layers.l4_offset()..]].iter().chain(rest) {
//!         let part = &segment[..left.min(segment.len())];
//!         sum = sum.plus(part);
//!         left -= part.len();
//!     }
//!     Udp::at_mut(head, layers.l4_offset())?.checksum.set(sum.udp_checksum());
//!     Some(())
//! }
//!
//! let mut head = [0u8; 42];
//! *Ethernet::at_mut(&mut head, 0).unwrap() = Ethernet::new([2; 6].into(), [4; 6].into(), ethertype::IPV4);
//! *Ipv4::at_mut(&mut head, 14).unwrap() = Ipv4::new([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), protocol::UDP, 12);
//! Udp::at_mut(&mut head, 34).unwrap().length.set(12);
//! assert_eq!(rewrite(&mut head, &[b"odd", b"!padding"]), Some(()));
//! assert!(Ipv4::checksum_is_good(&head, 14));
//! let layers = parse(&head, None);
//! assert_eq!(layers.pseudo(&head, 12).unwrap().plus(&head[34..]).plus(b"odd!").checksum(), 0);
//! ```
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
