//! The main job: null ports, then a capture through pcap ports; what they forward is checked, then measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mpps_engines::EngineSpec;

use crate::bench::{Bench, Failure, Machine};
use crate::report::Measured;
use crate::{capture, live};

/// Time that a thousand frames may take from file to file.
const PATIENCE: Duration = Duration::from_secs(10);

const NULL: &str = "null ports, macswap, 64 bytes";
const PCAP: &str = "pcap ports, macswap, mixed frames";

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
    let source = folder.0.join("mixed.pcap");
    capture::write(&source, &frames)?;
    let right = check(
        &machine,
        engine,
        &source,
        &folder.0.join("swapped.pcap"),
        &frames,
    )?;
    let device = format!("net_pcap0,rx_pcap={},infinite_rx=1", source.display());
    let pcap = measure(&machine, engine, PCAP, &[device], time / 2)?;
    println!("{}", pcap.line(&machine));
    println!(
        "  checked: {right} of {} frames came out of pcap with their addresses swapped, the rest of each unchanged",
        frames.len()
    );
    println!("{NEXT}");
    Ok(())
}

const NEXT: &str = "\
What to try next:
  cargo build --release                                                                      makes testpmd, too
  target/release/testpmd --vdev net_null0 --vdev net_null1 -- -i --forward-mode=macswap     then: start, show port stats all, stop
  target/release/testpmd --vdev net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap -- --port-topology=chained --forward-mode=macswap
  target/release/testpmd --vdev net_null0 --vdev net_null1 -- --stats-period 1              Ctrl-C ends it
  cargo xtask check --list                                                                   what this project promises, and how to try it";

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

/// A folder for the captures, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("mpps-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What can't be removed is a few files in the folder for temporary ones.
        let _ = fs::remove_dir_all(&self.0);
    }
}
