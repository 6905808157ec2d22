//! To come with the peers.
