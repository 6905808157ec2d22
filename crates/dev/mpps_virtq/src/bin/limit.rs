//! Prints what two cores of this machine can pass through shared memory: `limit [BYTES [SECONDS [CPU CPU]]]`.
//! `cargo xtask bench` runs it; one line, `64 bytes: echo 50.00 Mpps, loop 30.00 Mpps`.
#![forbid(unsafe_code)]

use std::error::Error;
use std::time::Duration;

use mpps_virtq::limit::Ruler;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word =
        |at: usize, otherwise: &str| words.get(at).map_or(otherwise, String::as_str).to_owned();
    let bytes = word(0, "64").parse()?;
    let time = Duration::try_from_secs_f64(word(1, "1.2").parse()?)?;
    let cpus = [word(2, "0").parse()?, word(3, "1").parse()?];
    let ruler = Ruler::new(bytes, cpus, time)?;
    println!(
        "{bytes} bytes: echo {:.2} Mpps, loop {:.2} Mpps",
        ruler.echo()?,
        ruler.virtqueues()?
    );
    Ok(())
}
