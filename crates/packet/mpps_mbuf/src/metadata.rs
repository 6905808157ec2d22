//! What travels with a packet beside its bytes: offload flags and lengths, VLAN tags, hash, type, port, timestamp.

use crate::header::field;
use crate::mbuf::Mbuf;
use crate::offload::{OffloadFlags, TxOffload};
use crate::share;

impl Mbuf {
    /// Offload flags.
    #[inline(always)]
    pub fn flags(&self) -> OffloadFlags {
        OffloadFlags::from_bits_retain(field!(self.ol_flags))
    }

    /// Sets the offload flags and the header lengths in one go.
    ///
    /// A packet with a debt ([`OffloadFlags::DEBT`]) keeps it, flags and word: what an engine marks says nothing about
    /// whether the checksum was computed meanwhile. [`Mbuf::clear_debt`] first where it was.
    #[inline(always)]
    pub fn set_offload(&mut self, flags: OffloadFlags, lengths: TxOffload) {
        if self.flags().intersects(OffloadFlags::DEBT) {
            return self.add_flags_to_debt(flags);
        }
        field!(self.ol_flags = flags.bits());
        field!(self.tx_offload = lengths.bits());
    }

    #[cold]
    fn add_flags_to_debt(&mut self, flags: OffloadFlags) {
        let debt = self.flags() & OffloadFlags::DEBT;
        field!(self.ol_flags = (flags | debt).bits());
    }

    /// Sets the offload flags alone; a debt stays, as with [`Mbuf::set_offload`].
    #[inline(always)]
    pub fn set_flags(&mut self, flags: OffloadFlags) {
        let debt = self.flags() & OffloadFlags::DEBT;
        field!(self.ol_flags = (flags | debt).bits());
    }

    /// Sets flags and word, whatever was there.
    #[inline]
    pub(crate) fn put_offload(&mut self, flags: OffloadFlags, word: TxOffload) {
        field!(self.ol_flags = flags.bits());
        field!(self.tx_offload = word.bits());
    }

    /// Takes over all that travels with another packet beside its bytes, a debt included.
    pub fn copy_metadata(&mut self, from: &Mbuf) {
        self.put_offload(from.flags(), from.tx_offload());
        let (packet_type, hash) = (field!(from.packet_type), field!(from.hash));
        field!(self.packet_type = packet_type);
        field!(self.hash = hash);
        self.set_vlan(from.vlan(), from.vlan_outer());
        self.set_port(from.port());
        if let Some(nanoseconds) = from.timestamp() {
            self.set_timestamp(nanoseconds);
        }
    }

    /// Header lengths and TSO size.
    #[inline(always)]
    pub fn tx_offload(&self) -> TxOffload {
        TxOffload::from_bits(field!(self.tx_offload))
    }

    /// Packet type, zero unless [`OffloadFlags::RX_PACKET_TYPE`] is set.
    pub fn packet_type(&self) -> u32 {
        if self.flags().contains(OffloadFlags::RX_PACKET_TYPE) {
            field!(self.packet_type)
        } else {
            0
        }
    }

    /// Sets the packet type and its flag.
    pub fn set_packet_type(&mut self, packet_type: u32) {
        field!(self.packet_type = packet_type);
        self.set_flags(self.flags() | OffloadFlags::RX_PACKET_TYPE);
    }

    /// RSS hash, where [`OffloadFlags::RX_RSS_HASH`] is set.
    pub fn rss_hash(&self) -> u32 {
        field!(self.hash)
    }

    /// Sets the RSS hash and its flag.
    pub fn set_rss_hash(&mut self, hash: u32) {
        field!(self.hash = hash);
        self.set_flags(self.flags() | OffloadFlags::RX_RSS_HASH);
    }

    /// VLAN tag control information, valid with a VLAN flag.
    pub fn vlan(&self) -> u16 {
        field!(self.vlan)
    }

    /// Outer VLAN tag control information, valid with a QinQ flag.
    pub fn vlan_outer(&self) -> u16 {
        field!(self.vlan_outer)
    }

    /// Sets both VLAN tags; flags are the caller's.
    #[inline(always)]
    pub fn set_vlan(&mut self, inner: u16, outer: u16) {
        field!(self.vlan = inner);
        field!(self.vlan_outer = outer);
    }

    /// The port that received the packet, stamped only where bursts of several ports mix.
    pub fn port(&self) -> u16 {
        field!(self.port)
    }

    /// Stamps the port.
    #[inline(always)]
    pub fn set_port(&mut self, port: u16) {
        field!(self.port = port);
    }

    /// Receive timestamp in nanoseconds, where [`OffloadFlags::RX_TIMESTAMP`] is set.
    pub fn timestamp(&self) -> Option<u64> {
        self.flags().contains(OffloadFlags::RX_TIMESTAMP).then(|| {
            // SAFETY: only the owner of the mbuf touches this field.
            unsafe { (*share::cold_of(self.0)).timestamp }
        })
    }

    /// Sets the receive timestamp in nanoseconds and its flag.
    pub fn set_timestamp(&mut self, nanoseconds: u64) {
        // SAFETY: only the owner of the mbuf touches this field.
        unsafe { (*share::cold_of(self.0)).timestamp = nanoseconds };
        self.set_flags(self.flags() | OffloadFlags::RX_TIMESTAMP);
    }
}
