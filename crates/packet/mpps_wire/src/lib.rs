//! Wire formats as checked views of bytes, checksums and the Toeplitz hash.
#![forbid(unsafe_code)]

mod mac;

pub use mac::{MacAddr, ParseMacError};
