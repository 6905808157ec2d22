//! Feature bits of a network device (virtio 1.3, sections 5.1.3 and 6).

bitflags::bitflags! {
    /// What both sides can do, or, after negotiation, what both sides use.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Features: u64 {
        /// The device takes packets with partial checksum.
        const CSUM = 1 << 0;
        /// The driver takes packets with partial checksum.
        const GUEST_CSUM = 1 << 1;
        /// The device tells the largest MTU.
        const MTU = 1 << 3;
        /// The device has a MAC address.
        const MAC = 1 << 5;
        /// The driver takes large TCP over IPv4.
        const GUEST_TSO4 = 1 << 7;
        /// The driver takes large TCP over IPv6.
        const GUEST_TSO6 = 1 << 8;
        /// The driver takes large TCP with ECN.
        const GUEST_ECN = 1 << 9;
        /// The driver takes large UDP (fragmented).
        const GUEST_UFO = 1 << 10;
        /// The device takes large TCP over IPv4.
        const HOST_TSO4 = 1 << 11;
        /// The device takes large TCP over IPv6.
        const HOST_TSO6 = 1 << 12;
        /// The device takes large TCP with ECN.
        const HOST_ECN = 1 << 13;
        /// The device takes large UDP (fragmented).
        const HOST_UFO = 1 << 14;
        /// A packet may take several receive buffers.
        const MRG_RXBUF = 1 << 15;
        /// The device tells the state of its link.
        const STATUS = 1 << 16;
        /// There is a control queue.
        const CTRL_VQ = 1 << 17;
        /// The control queue sets receive modes.
        const CTRL_RX = 1 << 18;
        /// The control queue filters VLANs.
        const CTRL_VLAN = 1 << 19;
        /// The driver can announce itself when the device asks for it.
        const GUEST_ANNOUNCE = 1 << 21;
        /// Several queue pairs.
        const MQ = 1 << 22;
        /// The control queue sets the MAC address.
        const CTRL_MAC_ADDR = 1 << 23;
        /// Split ring of the device may be notified at any layout of the header (legacy).
        const ANY_LAYOUT = 1 << 27;
        /// Descriptors may point to tables of descriptors.
        const RING_INDIRECT_DESC = 1 << 28;
        /// Notifications are asked for by index.
        const RING_EVENT_IDX = 1 << 29;
        /// The vhost-user back end has protocol features (never seen by the guest).
        const PROTOCOL_FEATURES = 1 << 30;
        /// Not a legacy device.
        const VERSION_1 = 1 << 32;
        /// The device reaches memory through an IOMMU.
        const ACCESS_PLATFORM = 1 << 33;
        /// Packed ring.
        const RING_PACKED = 1 << 34;
        /// Buffers are used in the order in which they were made available.
        const IN_ORDER = 1 << 35;
        /// Memory accesses are ordered as the platform does for devices.
        const ORDER_PLATFORM = 1 << 36;
        /// Notifications carry data.
        const NOTIFICATION_DATA = 1 << 38;
        /// The driver takes UDP segmentation offload over IPv4.
        const GUEST_USO4 = 1 << 54;
        /// The driver takes UDP segmentation offload over IPv6.
        const GUEST_USO6 = 1 << 55;
        /// The device takes UDP segmentation offload.
        const HOST_USO = 1 << 56;
        /// The device delivers hashes.
        const HASH_REPORT = 1 << 57;
        /// The device spreads packets by hash.
        const RSS = 1 << 60;
        /// The device tells speed and duplex.
        const SPEED_DUPLEX = 1 << 63;
    }
}

impl Features {
    /// Any of these lets a driver send packets whose header says something.
    pub const TO_DEVICE_OFFLOADS: Self = Self::CSUM
        .union(Self::HOST_TSO4)
        .union(Self::HOST_TSO6)
        .union(Self::HOST_ECN)
        .union(Self::HOST_UFO)
        .union(Self::HOST_USO);

    /// Any of these lets a device send packets whose header says something.
    pub const TO_DRIVER_OFFLOADS: Self = Self::GUEST_CSUM
        .union(Self::GUEST_TSO4)
        .union(Self::GUEST_TSO6)
        .union(Self::GUEST_ECN)
        .union(Self::GUEST_UFO)
        .union(Self::GUEST_USO4)
        .union(Self::GUEST_USO6);

    /// Bytes of the header before each packet: `num_buffers` is there unless the device is a legacy one without mergeable
    /// buffers (virtio 1.3, section 5.1.6.1).
    pub const fn header_len(self) -> usize {
        if self.intersects(
            Self::VERSION_1
                .union(Self::MRG_RXBUF)
                .union(Self::RING_PACKED),
        ) {
            12
        } else {
            10
        }
    }
}
