//! The control side: files opened and checked when the port is made, queues made of them at each start.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use mpps_dev::{
    ConfigError, DevArgs, DevConfig, DevInfo, EthDev, Link, Port, ProbeError, Queues, RxOffloads,
    RxQueue, StartError, TxOffloads, TxQueue, Unsupported,
};
use mpps_wire::MacAddr;

use crate::args::Wish;
use crate::reader::{Event, FaultKind, ReadError, Reader};
use crate::replay::{Frames, LoopRx};
use crate::rx::{self, FileRx, Filler, NoRx, Open};
use crate::tx::{FreeTx, Target};
use crate::{NAME, say};

/// A port of capture files.
pub(crate) struct PcapDev {
    port: Port,
    rx: Vec<PathBuf>,
    tx: Vec<Target>,
    infinite: bool,
    eof: bool,
    snaplen: u32,
    /// Receive files that have not ended since the last start.
    open: Arc<Open>,
}

impl PcapDev {
    pub(crate) fn new(args: &DevArgs) -> Result<Self, ProbeError> {
        let wish = Wish::of(args)?;
        let name = args.name();
        for path in &wish.rx {
            check_rx(name, path, wish.infinite)?;
        }
        let tx = open_targets(name, &wish)?;
        let open = Arc::new(Open::default());
        open.set(wish.rx.len());
        let mut port = Port::new(
            info(args, &wish),
            Some(MacAddr([0x02, b'p', b'c', b'a', b'p', number()])),
            // Up from start to stop, as DPDK's.
            Link {
                up: false,
                ..Link::SOFTWARE
            },
        );
        port.set_promiscuous(true);
        port.set_allmulticast(true);
        Ok(Self {
            port,
            rx: wish.rx,
            tx,
            infinite: wish.infinite,
            eof: wish.eof,
            snaplen: wish.snaplen,
            open,
        })
    }

    fn rx_queue(&mut self, n: usize) -> Result<Box<dyn RxQueue>, StartError> {
        let Some(path) = self.rx.get(n).cloned() else {
            // It has no use for counters and mailbox, but counts as started by them.
            self.port.rx_queue(n);
            return Ok(Box::new(NoRx));
        };
        let name = self.port.info().name.clone();
        let file = rx::open(&path).map_err(|source| self.file_error(&path, source))?;
        let config = self.port.config();
        let offloads = config.rx_offloads | config.rx[n].offloads;
        let stamp = offloads.contains(RxOffloads::TIMESTAMP);
        let filler = Filler::new(&config.rx[n].pool, stamp);
        if !self.infinite {
            let sides = self.port.rx_queue(n);
            let open = self.open.clone();
            return Ok(Box::new(FileRx::new(
                file, &name, &path, filler, open, sides,
            )));
        }
        let frames = Frames::load(file, &name, &path)
            .map_err(|fault| self.other(format!("{}: {fault}", path.display())))?;
        if frames.is_empty() {
            return Err(self.other(format!(
                "{}: no frames in it to receive over and over",
                path.display()
            )));
        }
        let need = filler.segments(frames.longest());
        if need > filler.pool_size() {
            return Err(self.other(format!(
                "{}: a frame of {} bytes needs {need} mbufs and the pool has {}; raise --total-num-mbufs or --mbuf-size",
                path.display(),
                frames.longest(),
                filler.pool_size(),
            )));
        }
        Ok(Box::new(LoopRx::new(frames, filler, self.port.rx_queue(n))))
    }

    fn tx_queue(&mut self, n: usize) -> Result<Box<dyn TxQueue>, StartError> {
        let (stats, mailbox) = self.port.tx_queue(n);
        let snaplen = self.snaplen;
        let Some(target) = self.tx.get_mut(n) else {
            return Ok(Box::new(FreeTx { stats, mailbox }));
        };
        let queue = target
            .begin(snaplen)
            .and_then(|()| target.queue(snaplen, stats, mailbox));
        match queue {
            Ok(queue) => Ok(Box::new(queue)),
            Err(source) => {
                let path = target.path.clone();
                Err(self.file_error(&path, source))
            }
        }
    }

    fn file_error(&self, path: &Path, source: io::Error) -> StartError {
        StartError::File {
            device: self.port.info().name.clone(),
            path: path.display().to_string(),
            source,
        }
    }

    fn other(&self, reason: String) -> StartError {
        StartError::Other {
            device: self.port.info().name.clone(),
            reason,
        }
    }

    /// Files without a queue are told, not passed over in silence.
    fn say_unused(&self) {
        let (rx, tx) = (self.port.config().rx.len(), self.port.config().tx.len());
        let say = |key, path: &Path, option, files| {
            say(
                &self.port.info().name,
                format_args!(
                    "{key}={} has no queue and is not used; {option}={files} gives each file one",
                    path.display()
                ),
            );
        };
        for path in self.rx.iter().skip(rx) {
            say("rx_pcap", path, "--rxq", self.rx.len());
        }
        for target in self.tx.iter().skip(tx) {
            say("tx_pcap", &target.path, "--txq", self.tx.len());
        }
    }
}

impl EthDev for PcapDev {
    fn port(&self) -> &Port {
        &self.port
    }

    fn port_mut(&mut self) -> &mut Port {
        &mut self.port
    }

    fn configure(&mut self, config: &DevConfig) -> Result<(), ConfigError> {
        if let Some(queue) = config.rx.iter().find(|rx| rx.pool.data_capacity() == 0) {
            return Err(ConfigError::Other {
                device: self.port.info().name.clone(),
                reason: format!(
                    "the mbufs of pool {} hold no data; raise --mbuf-size above {}",
                    queue.pool.config().name,
                    mpps_mbuf::HEADROOM
                ),
            });
        }
        self.port.configure(config)
    }

    fn start(&mut self) -> Result<Queues, StartError> {
        let (rx, tx) = (self.port.config().rx.len(), self.port.config().tx.len());
        self.open.set(rx.min(self.rx.len()));
        self.say_unused();
        let queues = (0..rx)
            .map(|n| self.rx_queue(n))
            .collect::<Result<Vec<_>, _>>()
            .and_then(|rx| {
                let tx = (0..tx)
                    .map(|n| self.tx_queue(n))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(Queues::new(rx, tx))
            });
        if queues.is_err() {
            self.port.close_queues();
        }
        self.port.set_link_up(queues.is_ok());
        queues
    }

    fn stop(&mut self, queues: Queues) {
        drop(queues);
        self.port.close_queues();
        self.port.set_link_up(false);
    }

    fn link(&self) -> Link {
        let mut link = self.port.link();
        link.up &= !(self.eof && self.open.none());
        link
    }

    fn set_link(&mut self, _: bool) -> Result<(), Unsupported> {
        Err(Unsupported {
            what: "setting the link",
            driver: NAME,
        })
    }

    fn set_promiscuous(&mut self, on: bool) -> Result<(), Unsupported> {
        refuse_off(on, "leaving promiscuous mode")
    }

    fn set_allmulticast(&mut self, on: bool) -> Result<(), Unsupported> {
        refuse_off(on, "leaving allmulticast mode")
    }
}

/// A file receives whatever it holds.
fn refuse_off(on: bool, what: &'static str) -> Result<(), Unsupported> {
    if on {
        Ok(())
    } else {
        Err(Unsupported { what, driver: NAME })
    }
}

fn info(args: &DevArgs, wish: &Wish) -> DevInfo {
    let mut info = DevInfo::software(args.name(), NAME, args.text());
    // A direction without files has as many queues as the other, so that packets can flow between them.
    let (rx, tx) = (wish.rx.len() as u16, wish.tx.len() as u16);
    info.max_rx_queues = if rx == 0 { tx } else { rx };
    info.max_tx_queues = if tx == 0 { rx } else { tx };
    info.rx_offloads = RxOffloads::SCATTER | RxOffloads::TIMESTAMP;
    info.tx_offloads = TxOffloads::MULTI_SEGS;
    info.flush_at_start = false;
    info
}

/// The last byte of the address, counted up by port as DPDK does.
fn number() -> u8 {
    static NEXT: AtomicU8 = AtomicU8::new(0);
    // Relaxed: a lone counter.
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Reads the beginning of a file, so that what is no Ethernet capture is refused before anything runs.
fn check_rx(device: &str, path: &Path, infinite: bool) -> Result<(), ProbeError> {
    let refuse = |reason: String| ProbeError::Device {
        device: device.to_owned(),
        reason: format!("{}: {reason}", path.display()),
    };
    let file = rx::open(path).map_err(|source| file_error(device, path, source))?;
    let mut reader = Reader::new(file);
    let first = loop {
        match reader.next() {
            Ok(Event::Pause) => {}
            Ok(Event::Frame(_)) => break Ok(true),
            Ok(Event::End) => break Ok(false),
            Err(error) => break Err(error),
        }
    };
    match first {
        Ok(true) => Ok(()),
        Ok(false) if infinite => Err(refuse(
            "no frames in it to receive over and over; leave infinite_rx out".to_owned(),
        )),
        Ok(false) => Ok(()),
        Err(ReadError::Io { source, .. }) => Err(file_error(device, path, source)),
        Err(ReadError::Fault(fault)) => {
            let link = matches!(fault.kind, FaultKind::LinkType(_));
            if link {
                Err(refuse(fault.kind.to_string()))
            } else if infinite || !reader.header_read() {
                Err(refuse(fault.to_string()))
            } else {
                // The frames before the fault are none; the line about it comes when the file is read.
                Ok(())
            }
        }
    }
}

fn open_targets(device: &str, wish: &Wish) -> Result<Vec<Target>, ProbeError> {
    let mut targets: Vec<Target> = Vec::new();
    for path in &wish.tx {
        for other in wish.rx.iter().chain(targets.iter().map(|have| &have.path)) {
            if same_file(other, path) {
                return Err(ProbeError::Device {
                    device: device.to_owned(),
                    reason: format!(
                        "tx_pcap={}: the port has this file open already as {}; give each queue a file of its own",
                        path.display(),
                        other.display()
                    ),
                });
            }
        }
        targets
            .push(Target::open(device, path).map_err(|source| file_error(device, path, source))?);
    }
    Ok(targets)
}

/// Whether both names lead to one regular file. Into a device such as /dev/null several may write.
fn same_file(one: &Path, other: &Path) -> bool {
    match (std::fs::metadata(one), std::fs::metadata(other)) {
        (Ok(a), Ok(b)) => a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

fn file_error(device: &str, path: &Path, source: io::Error) -> ProbeError {
    ProbeError::File {
        device: device.to_owned(),
        path: path.display().to_string(),
        source,
    }
}
