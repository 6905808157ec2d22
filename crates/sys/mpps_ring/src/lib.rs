//! Rings that move batches between threads, and single-writer counters.
