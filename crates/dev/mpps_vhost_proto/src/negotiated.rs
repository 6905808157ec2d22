//! Bits that both sides agree on: protocol features and the device's status.

bitflags::bitflags! {
    /// Extensions of the protocol (`VHOST_USER_PROTOCOL_F_*`). Unknown bits are kept, so that they can be refused by name.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ProtocolFeatures: u64 {
        /// Several queue pairs.
        const MQ = 1 << 0;
        /// The dirty log is shared memory with a descriptor.
        const LOG_SHMFD = 1 << 1;
        /// The back end announces the guest after a migration.
        const RARP = 1 << 2;
        /// Any request can ask for an acknowledgement.
        const REPLY_ACK = 1 << 3;
        /// The back end is told the MTU.
        const NET_MTU = 1 << 4;
        /// The back end has a channel for requests of its own.
        const BACKEND_REQ = 1 << 5;
        /// Legacy rings of the other byte order.
        const CROSS_ENDIAN = 1 << 6;
        /// Crypto sessions.
        const CRYPTO_SESSION = 1 << 7;
        /// Postcopy migration.
        const PAGEFAULT = 1 << 8;
        /// The back end has the configuration space.
        const CONFIG = 1 << 9;
        /// The back end's requests can carry descriptors.
        const BACKEND_SEND_FD = 1 << 10;
        /// Doorbells mapped into the guest.
        const HOST_NOTIFIER = 1 << 11;
        /// Buffers in flight are noted in shared memory.
        const INFLIGHT_SHMFD = 1 << 12;
        /// The device can be reset.
        const RESET_DEVICE = 1 << 13;
        /// Notifications as messages.
        const INBAND_NOTIFICATIONS = 1 << 14;
        /// Memory regions come and go one by one.
        const CONFIGURE_MEM_SLOTS = 1 << 15;
        /// The device's status is told.
        const STATUS = 1 << 16;
        /// Bits that this list doesn't know.
        const _ = !0;
    }

    /// The status field of a virtio device (virtio 1.3, section 2.1).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct DeviceStatus: u8 {
        /// The guest has seen the device.
        const ACKNOWLEDGE = 1;
        /// The guest has a driver for it.
        const DRIVER = 2;
        /// The driver works.
        const DRIVER_OK = 4;
        /// Features are settled.
        const FEATURES_OK = 8;
        /// The device needs a reset.
        const NEEDS_RESET = 64;
        /// The guest gave up.
        const FAILED = 128;
        /// Bits that this list doesn't know.
        const _ = !0;
    }
}
