//! The per-packet kernels: copy, MAC swap, checksum; scalar beside vector.
