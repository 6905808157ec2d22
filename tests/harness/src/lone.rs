//! The time of a lone packet through the loop: it goes when it comes, whether others follow or not.

use std::time::{Duration, Instant};

use mpps_cpu::pin_current_thread;
use mpps_dev::{Lcore, LcoreId};
use mpps_engines::StreamIo;

use crate::echo::Echo;
use crate::packet;
use crate::rig::{Failure, Folder, Rig, one_cpu};

/// Rounds that aren't counted: caches and branch predictors are still cold.
const WARM_UP: usize = 1000;

/// How long a packet may be away: a busy machine may not run the other end for a while.
const PATIENCE: Duration = Duration::from_secs(5);

/// Both layouts, from the vhost side, for `time` each; prints `LAYOUT: p50 N us, ...`.
pub(crate) fn run(cpus: [usize; 2], time: Duration, burden: u64) -> Result<(), Failure> {
    pin_current_thread(&one_cpu(cpus[0]))?;
    for (layout, packed) in [("split", 0), ("packed", 1)] {
        let (rig, folder) = (Rig::new("lone", 8192)?, Folder::new()?);
        let socket = folder.file(layout);
        let mut port = rig.port(&format!("net_vhost0,iface={socket}"), 0)?;
        let front =
            format!("net_virtio_user1,path={socket},mrg_rxbuf=1,in_order=1,packed_vq={packed}");
        let echo = Echo::start(&front, cpus[1], burden)?;
        port.wait_for_link()?;
        let mut io = port.io();
        let times = rounds(&rig, &mut io, time);
        echo.finish()?;
        port.finish(io);
        let mut times = times?;
        let counted = times.get_mut(WARM_UP..).filter(|some| !some.is_empty());
        let counted = counted.ok_or("too few lone packets came back in time")?;
        counted.sort_unstable();
        let at = |permille: usize| {
            let ticks = counted[(counted.len() - 1) * permille / 1000];
            rig.clock.duration(ticks).as_nanos() as f64 / 1e3
        };
        println!(
            "{layout}: p50 {:.2} us, p99 {:.2} us, p99.9 {:.2} us, {} rounds",
            at(500),
            at(990),
            at(999),
            counted.len()
        );
    }
    Ok(())
}

fn rounds(rig: &Rig, io: &mut StreamIo, time: Duration) -> Result<Vec<u64>, Failure> {
    let mut lcore = Lcore::new(LcoreId(1), std::slice::from_ref(&rig.pool), rig.clock);
    let (begin, mut times) = (Instant::now(), Vec::with_capacity(1 << 20));
    while begin.elapsed() < time && times.len() < times.capacity() {
        let number = times.len() as u64;
        let packet = packet::make(&mut lcore, rig.pool.id(), number);
        if let Err(packet) = io.burst.push(packet.ok_or("no mbuf for a lone packet")?) {
            lcore.free_one(packet);
        }
        let start = rig.clock.ticks();
        if io.send(&mut lcore) != 1 {
            return Err("the loop doesn't take a lone packet".into());
        }
        while io.receive(&mut lcore) == 0 {
            if begin.elapsed() > time + PATIENCE {
                return Err(format!("lone packet {number} is lost").into());
            }
        }
        times.push(rig.clock.ticks().wrapping_sub(start));
        let whole = io.burst.as_slice().first();
        if whole.and_then(|packet| packet::read(packet.data())) != Some(number) {
            return Err(format!("lone packet {number} came back changed").into());
        }
        lcore.free(&mut io.burst);
    }
    Ok(times)
}
