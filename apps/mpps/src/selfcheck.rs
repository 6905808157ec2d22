//! `mpps check`: null ports, then a capture through pcap ports; what they forward is checked, then measured.

use std::path::Path;
use std::time::{Duration, Instant};

use mpps_engines::EngineSpec;

use crate::bench::{Bench, Failure, Machine};
use crate::folder::Folder;
use crate::report::Measured;
use crate::{capture, live};

/// Time that a thousand frames may take from file to file.
const PATIENCE: Duration = Duration::from_secs(10);

const NULL: &str = "null, macswap, 64 bytes";
const PCAP: &str = "pcap, macswap, mixed";

/// Runs everything in about `time` and prints the summary to standard output.
pub(crate) fn run(time: Duration) -> Result<(), Failure> {
    let machine = Machine::read()?;
    let engine = mpps_engines::find("macswap").ok_or("there is no engine macswap")?;
    let kernel = mpps_engines::EngineSettings::default().macswap.name();
    println!(
        "mpps {}: one worker on CPU {} of {}, clock {:.2} GHz, macswap kernel {kernel}",
        env!("CARGO_PKG_VERSION"),
        machine.cpu,
        machine.cpus,
        machine.clock.hz() as f64 / 1e9
    );
    let folder = Folder::new()?;
    let null = measure(
        &machine,
        engine,
        NULL,
        &["net_null0".to_owned(), "net_null1".to_owned()],
        time / 2,
    )?;
    println!("{}", null.line(&machine));
    let frames = capture::frames();
    let source = folder.path().join("mixed.pcap");
    capture::write(&source, &frames)?;
    let right = check(
        &machine,
        engine,
        &source,
        &folder.path().join("swapped.pcap"),
        &frames,
    )?;
    let device = format!("net_pcap0,rx_pcap={},infinite_rx=1", source.display());
    let pcap = measure(&machine, engine, PCAP, &[device], time / 2)?;
    println!("{}", pcap.line(&machine));
    println!(
        "  checked: {right} of {} frames came out of pcap with their addresses swapped, the rest of each unchanged",
        frames.len()
    );
    Ok(())
}

fn measure(
    machine: &Machine,
    engine: &EngineSpec,
    title: &'static str,
    devices: &[String],
    time: Duration,
) -> Result<Measured, Failure> {
    let mut bench = Bench::start(machine, devices, engine)?;
    let samples = live::watch(&mut bench, title, time);
    bench.finish()?;
    Ok(Measured { title, samples })
}

/// Sends every frame once from file to file and compares: a rate says nothing about contents.
fn check(
    machine: &Machine,
    engine: &EngineSpec,
    source: &Path,
    target: &Path,
    frames: &[Vec<u8>],
) -> Result<usize, Failure> {
    let device = format!(
        "net_pcap0,rx_pcap={},tx_pcap={}",
        source.display(),
        target.display()
    );
    let bench = Bench::start(machine, &[device], engine)?;
    let start = Instant::now();
    while bench.received() < frames.len() as u64 && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
    }
    bench.finish()?;
    let right = capture::swapped(frames, &capture::read(target)?);
    if right != frames.len() {
        return Err(format!(
            "{right} of {} frames came out right; the measurement is void",
            frames.len()
        )
        .into());
    }
    Ok(right)
}
