//! What is said when a worker panics: where it was, and the counters as they stand. The process ends afterwards.

use std::sync::{Arc, Mutex, PoisonError};

use mpps_engines::StreamStats;

use super::forwarding::StreamView;
use crate::tell;

/// A stream and its counters, as of the last start.
type Watched = (String, Arc<StreamStats>);

static STREAMS: Mutex<Vec<Watched>> = Mutex::new(Vec::new());

/// Remembers the streams of a run.
pub(super) fn watch(streams: &[StreamView]) {
    let name = |view: &StreamView| {
        let ((rx, rxq), (tx, txq)) = (view.ends.rx, view.ends.tx);
        format!("RX P={rx}/Q={rxq} -> TX P={tx}/Q={txq}")
    };
    let all = streams
        .iter()
        .map(|view| (name(view), view.stats.clone()))
        .collect();
    *STREAMS.lock().unwrap_or_else(PoisonError::into_inner) = all;
}

/// Puts the words into the panic hook; the terminal is given back first.
pub fn install() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        mpps_console::restore_terminal();
        usual(info);
        if let Some(at) = mpps_worker::position() {
            tell::note(format_args!(
                "a worker failed at port {} queue {}; its packets so far:",
                at.port, at.queue
            ));
        }
        // A lock that is held is the panicking thread's own: better no counters than a hang.
        if let Ok(streams) = STREAMS.try_lock() {
            for (name, stats) in streams.iter() {
                tell::note(format_args!(
                    "{name}: RX-packets {} TX-packets {} TX-dropped {}",
                    stats.rx_packets.get(),
                    stats.tx_packets.get(),
                    stats.dropped.get()
                ));
            }
        }
    }));
}
