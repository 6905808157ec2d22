//! What it costs to make memory resident here, and on which pages it ends up.
//!
//! `cargo run --release -p mpps_shm --example page_cost` prints the time of each step for shared and private memory,
//! twice (the first touch of a page in a virtual machine costs the host, too), and the report.

use mpps_shm::{Mapping, MemoryConfig, MemoryError, PageSource};
use std::time::{Duration, Instant};

const CHUNKS: usize = 8;

fn commit_each(mapping: &Mapping) -> Result<Vec<Duration>, MemoryError> {
    let unit = mapping.commit_unit();
    let timed = |chunk: usize| {
        let start = Instant::now();
        mapping.commit(chunk * unit, unit)?;
        Ok(start.elapsed())
    };
    (0..CHUNKS.min(mapping.len() / unit)).map(timed).collect()
}

fn main() -> Result<(), MemoryError> {
    let start = Instant::now();
    let source = PageSource::new(MemoryConfig::default())?;
    println!("page source: {:?}", start.elapsed());
    for round in 1..=2 {
        let start = Instant::now();
        let shared = source.reserve("shared", 352 << 20, None)?;
        let private = source.reserve_private("private", 32 << 20)?;
        println!("round {round}: two reservations: {:?}", start.elapsed());
        for mapping in [&shared, &private] {
            println!(
                "  {}: commit of {} bytes each: {:?}",
                mapping.name(),
                mapping.commit_unit(),
                commit_each(mapping)?
            );
        }
        let start = Instant::now();
        for report in source.report() {
            println!("  {report}");
        }
        println!("  the report: {:?}", start.elapsed());
    }
    for notice in source.take_notices() {
        println!("notice: {notice}");
    }
    Ok(())
}
