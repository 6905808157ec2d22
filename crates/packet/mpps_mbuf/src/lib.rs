//! Packet buffers: mbufs, bursts, pools and their per-lcore caches.
