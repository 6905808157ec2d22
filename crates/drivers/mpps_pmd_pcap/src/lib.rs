//! net_pcap: a port that receives from capture files and sends into them.
//!
//! ```text
//!  rx_pcap=a.pcap ── reader ── FileRx ──> burst        one file a queue, once through
//!  infinite_rx=1  ── preload ─ LoopRx ──> burst        all frames in memory, for ever
//!  (neither)                   NoRx                    never receives
//!  burst ──> FileTx ── writer ──> tx_pcap=b.pcap       nanosecond pcap, 256 KiB at a time
//!  burst ──> FreeTx                                    counted as sent, where no tx_pcap is given
//! ```
//! The files are opened when the port is made, so that what is wrong with them is told then. Each start reads the receive
//! files from their beginning; the transmit files are emptied at the first start and appended to afterwards. Nothing here knows kernel
//! interfaces: the arguments that name them are refused.
#![forbid(unsafe_code)]

mod args;
mod device;
pub mod linktype;
pub mod reader;
mod replay;
mod rx;
mod tx;
mod writer;

use std::io::Write;

use mpps_dev::{ArgSpec, DevArgs, Driver, EthDev, ProbeContext, ProbeError};

/// The driver.
pub struct Pcap;

const NAME: &str = "net_pcap";

impl Driver for Pcap {
    fn name(&self) -> &'static str {
        NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["eth_pcap"]
    }

    fn args(&self) -> &'static [ArgSpec] {
        args::ARGS
    }

    fn probe(&self, args: &DevArgs, _: &ProbeContext) -> Result<Box<dyn EthDev>, ProbeError> {
        Ok(Box::new(device::PcapDev::new(args)?))
    }
}

/// One line of ours on standard error, in one piece. That nobody reads it is no reason to fail.
fn say(device: &str, line: std::fmt::Arguments<'_>) {
    let line = format!("mpps: {device}: {line}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}
