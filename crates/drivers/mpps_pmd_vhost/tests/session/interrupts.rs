//! Front ends that want to be told: each time, the first time, and never at the cost of whoever tells them.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mpps_mbuf::Burst;
use mpps_vhost_proto::{Reply, Request, VringFd, VringState};
use mpps_virtq::Features;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{OFlags, fcntl_setfl};

use crate::front::{Front, PACKED, SPLIT};
use crate::rig::Rig;

/// What an event counter can't be added to by a write.
const FULL: u64 = u64::MAX - 1;

impl Front {
    /// Hands over a counter for one ring, and asks to be told of everything there. The ring must have been opened by the
    /// driver's half, which says that it polls.
    fn wants_calls(&self, ring: u32) -> OwnedFd {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).unwrap();
        let fd = Some(event.as_fd());
        let index = ring as u8;
        self.talk
            .done(&Request::SetVringCall(VringFd { index, fd }));
        self.ask_for_calls(ring);
        event
    }

    /// Flags of the available ring, or of the driver's event structure, behind its first two bytes: calls wanted; with
    /// event indices in a packed ring, for the place 0 alone. In a split ring the event index is zero.
    fn ask_for_calls(&self, ring: u32) {
        let packed = self.features.contains(Features::RING_PACKED);
        let at = self.addresses(ring).avail + if packed { 2 } else { 0 };
        let place = packed && self.features.contains(Features::RING_EVENT_IDX);
        let start = self.rings.as_ptr().addr().get() as u64;
        let at = self.rings.fd_offset() + (at - start);
        rustix::io::pwrite(
            self.rings.fd().unwrap(),
            &[if place { 2 } else { 0 }, 0],
            at,
        )
        .unwrap();
    }
}

/// What a counter has reached; zero again afterwards.
fn taken(event: &OwnedFd) -> u64 {
    let mut count = [0; 8];
    let read = rustix::io::read(event, &mut count);
    read.map_or(0, |_| u64::from_ne_bytes(count))
}

fn value(rig: &Rig, name: &str) -> u64 {
    let all = rig.dev.xstats();
    all.iter().find(|stat| stat.name == name).unwrap().value
}

#[test]
fn v_52_each_call_is_counted() {
    for features in [SPLIT, PACKED] {
        let mut rig = Rig::new("", 1);
        let mut front = Front::up(&rig, features, 1);
        front.exchange(&mut rig, 50);
        let names = ["tx_q0_guest_notifications", "rx_q0_guest_notifications"];
        assert_eq!(names.map(|name| value(&rig, name)), [0, 0], "it polls");
        assert!(value(&rig, "rx_q0_guest_notifications_suppressed") > 0);
        let events = [front.wants_calls(0), front.wants_calls(1)];
        front.exchange(&mut rig, 50);
        let [tx, rx] = events.map(|event| taken(&event));
        assert!(tx > 0 && rx > 0, "{features:?}: {tx}, {rx}");
        assert_eq!(value(&rig, names[0]), tx);
        assert_eq!(value(&rig, names[1]), rx);
        assert_eq!(value(&rig, "tx_q0_guest_notifications_error"), 0);
        assert_eq!(value(&rig, "rx_q0_guest_notifications_error"), 0);
        front.finish();
        rig.finish();
    }
}

#[test]
fn v_42_the_first_call_after_a_ring_was_opened_is_made() {
    for features in [SPLIT, PACKED].map(|features| features | Features::RING_EVENT_IDX) {
        let mut rig = Rig::new("", 1);
        let mut front = Front::up(&rig, features, 1);
        front.exchange(&mut rig, 200);
        let event = front.wants_calls(1);
        front.exchange(&mut rig, 1);
        assert!(taken(&event) >= 1, "{features:?}");
        // The ring goes on where it was, for a driver that knows nothing of what was signalled before.
        let state = VringState { index: 1, num: 0 };
        let Some(Reply::Vring(state)) = front.talk.ask(&Request::GetVringBase(state)) else {
            panic!("no base");
        };
        front.describe(1, state.num, 0);
        rig.wait_link(true);
        let event = front.wants_calls(1);
        front.exchange(&mut rig, 1);
        assert!(taken(&event) >= 1, "{features:?}, opened again");
        front.finish();
        rig.finish();
    }
}

/// Whether a thread comes on within a time that is long.
fn goes_on(turns: &AtomicU64) -> bool {
    // Relaxed: a lone number.
    let want = turns.load(Ordering::Relaxed) + 4;
    let end = Instant::now() + Duration::from_secs(10);
    while Instant::now() < end {
        if turns.load(Ordering::Relaxed) >= want {
            return true;
        }
        std::hint::spin_loop();
    }
    false
}

/// A front end asks to be told of everything, makes its counters block and keeps them full; packets go on.
fn blocks_its_counters(features: Features) {
    let mut rig = Rig::new("", 1);
    let mut front = Front::up(&rig, features, 1);
    let events = [front.wants_calls(0), front.wants_calls(1)];
    let (stop, turns) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut stuck = false;
    std::thread::scope(|scope| {
        let (rig, stop, turns) = (&mut rig, &stop, &turns);
        scope.spawn(move || {
            let mut left = Burst::new(32);
            // Relaxed: a lone flag.
            while !stop.load(Ordering::Relaxed) {
                rig.echo(0, &mut left);
                turns.fetch_add(1, Ordering::Relaxed);
            }
            rig.lcore.free(&mut left);
        });
        let end = Instant::now() + Duration::from_millis(700);
        while !stuck && (Instant::now() < end || front.back < 1000) {
            for event in &events {
                fcntl_setfl(event, OFlags::NONBLOCK).unwrap();
                // One of the two goes beyond what was there already.
                let _ = rustix::io::write(event, &FULL.to_ne_bytes());
                let _ = rustix::io::write(event, &1_u64.to_ne_bytes());
                fcntl_setfl(event, OFlags::empty()).unwrap();
            }
            front.post(64);
            stuck = !goes_on(turns);
            front.take();
            for event in &events {
                // Also to let go of one who waits.
                fcntl_setfl(event, OFlags::NONBLOCK).unwrap();
                taken(event);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(!stuck, "{features:?}: stopped after {} packets", front.back);
    assert!(value(&rig, "rx_q0_guest_notifications") > 10);
    assert!(value(&rig, "tx_q0_guest_notifications") > 10);
    front.exchange(&mut rig, 50);
    front.finish();
    rig.finish();
}

#[test]
fn counters_that_block_stop_nobody() {
    blocks_its_counters(SPLIT);
    blocks_its_counters(PACKED);
}
