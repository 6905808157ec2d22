//! Emptying receive queues before forwarding starts, so that what waited there is not measured.

use std::time::{Duration, Instant};

use mpps_mbuf::{BURST_MAX, Burst};

use super::{App, PortState};

/// The longest that one queue is read.
const LIMIT: Duration = Duration::from_secs(1);

/// Time after each pass for packets on their way to arrive.
const PAUSE: Duration = Duration::from_millis(10);

impl App {
    /// Two passes over the receive queues of the forwarding ports. Ports where nothing stale can wait are left alone: a
    /// file would lose its first frames, and a null port never runs empty.
    pub(super) fn flush_rx(&mut self) {
        let ids = self.forwarding.active_ports().to_vec();
        let stale = |app: &Self, id: u16| {
            app.port(id)
                .is_some_and(|slot| slot.dev.info().flush_at_start)
        };
        if !self.forwarding.flush_rx || !ids.iter().any(|id| stale(self, *id)) {
            return;
        }
        let mut lcore = self.main_lcore();
        let mut burst = Burst::new(BURST_MAX);
        for _ in 0..2 {
            for id in ids
                .iter()
                .copied()
                .filter(|id| stale(self, *id))
                .collect::<Vec<_>>()
            {
                let Some(PortState::Started(queues)) =
                    self.port_mut(id).map(|slot| &mut slot.state)
                else {
                    continue;
                };
                for queue in queues.rx.iter_mut().flatten() {
                    let start = Instant::now();
                    while queue.rx_burst(&mut lcore, &mut burst) > 0 && start.elapsed() < LIMIT {
                        lcore.free(&mut burst);
                    }
                    lcore.free(&mut burst);
                }
            }
            std::thread::sleep(PAUSE);
        }
    }
}
