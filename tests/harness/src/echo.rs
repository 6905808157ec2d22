//! A port of this process that sends back what it receives. An [`Echo`] owns the port and the worker that polls it.

use std::sync::Arc;

use mpps_dev::LcoreId;
use mpps_worker::{Lot, Stream, Workers};

use crate::idle::Burdened;
use crate::rig::{Failure, Port, Rig, one_cpu};

/// Mbufs of its pool.
const MBUFS: u32 = 16384;

/// A running one.
pub(crate) struct Echo {
    port: Port,
    workers: Workers,
    _rig: Rig,
}

impl Echo {
    /// Starts the port, and engine io on it, which wastes so many nanoseconds at each visit.
    pub(crate) fn start(device: &str, cpu: usize, burden: u64) -> Result<Self, Failure> {
        let rig = Rig::new("echo", MBUFS)?;
        let mut port = rig.port(device, 1)?;
        port.wait_for_link()?;
        let mut engine = port.engine("io", &rig.pool)?;
        if burden > 0 {
            engine = Box::new(Burdened {
                inner: engine,
                ticks: burden * rig.clock.hz() / 1_000_000_000,
            });
        }
        let stream = Stream {
            engine,
            io: port.io(),
            enabled: true,
            first: None,
        };
        let lot = Lot {
            lcore: LcoreId(2),
            cpus: one_cpu(cpu),
            streams: vec![stream],
            usage: None,
        };
        let pools = [rig.pool.clone()];
        let workers = Workers::launch(vec![lot], &pools, rig.clock, Arc::default())?;
        Ok(Self {
            port,
            workers,
            _rig: rig,
        })
    }

    /// Stops both; how many packets it dropped.
    pub(crate) fn finish(self) -> Result<u64, Failure> {
        let mut lots = self.workers.stop();
        let stream = lots.pop().and_then(|mut streams| streams.pop());
        let stream = stream.ok_or("the worker ended early")?;
        let dropped = stream.io.stats.dropped.get();
        self.port.finish(stream.io);
        Ok(dropped)
    }
}
