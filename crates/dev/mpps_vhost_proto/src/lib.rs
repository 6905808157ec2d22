//! The messages of vhost-user (QEMU, `docs/interop/vhost-user.rst`), for both sides, without a socket inside.
//!
//! The **front end** (virtio-user, QEMU) sends [`Request`]s, the **back end** (vhost) answers some of them with a [`Reply`];
//! over a second channel the back end may send [`BackendRequest`]s. Each message is a [`Header`] of [`HEADER_LEN`] bytes and
//! a payload whose length the header tells, in the machine's byte order, with at most [`MAX_FDS`] file descriptors beside it.
//!
//! Decoding takes a header, a payload and the descriptors that came along, and either gives a typed message that owns its
//! descriptors or an error that names the message; descriptors of a refused message are closed by being dropped. Sizes,
//! flags, counts and numbers of descriptors are checked here; what a message means at this moment (is there such a ring?
//! was the feature negotiated?) is for the session to judge. Nothing here panics, whatever the bytes are.
//!
//! ```
//! use mpps_vhost_proto::{Header, Request, VringState, HEADER_LEN};
//! let sent = Request::<std::os::fd::BorrowedFd<'_>>::SetVringNum(VringState { index: 1, num: 256 }).encode(false);
//! let (head, payload) = sent.bytes.split_first_chunk::<HEADER_LEN>().unwrap();
//! let header = Header::parse(*head).unwrap();
//! let got = Request::decode(header, payload, Vec::new()).unwrap();
//! assert!(matches!(got, Request::SetVringNum(VringState { index: 1, num: 256 })));
//! ```
#![forbid(unsafe_code)]

mod backend_request;
mod error;
mod fields;
mod header;
mod kind;
mod negotiated;
mod payload;
mod reply;
mod request;

pub use backend_request::{BackendKind, BackendRequest};
pub use error::DecodeError;
pub use fields::{
    ConfigSpace, Inflight, Iotlb, LogArea, MemoryRegion, VringAddr, VringArea, VringFd, VringState,
};
pub use header::Header;
pub use kind::RequestKind;
pub use negotiated::{DeviceStatus, ProtocolFeatures};
pub use reply::Reply;
pub use request::{LogBase, Message, Request};

/// Bytes of a header.
pub const HEADER_LEN: usize = 12;

/// The longest payload that is taken. No message of a network device comes near; what is longer is an error.
pub const MAX_PAYLOAD: u32 = 4096;

/// The most file descriptors that come with a message.
pub const MAX_FDS: usize = 8;

/// The most regions of a SET_MEM_TABLE message.
pub const MAX_TABLE_REGIONS: usize = 8;

/// Bit of the feature bits that stands for protocol features (`VHOST_USER_F_PROTOCOL_FEATURES`).
pub const F_PROTOCOL_FEATURES: u64 = 1 << 30;

/// Feature bit by which the front end asks for a dirty log (`VHOST_F_LOG_ALL`).
pub const F_LOG_ALL: u64 = 1 << 26;
