//! Scenarios about packets: order, sizes, shapes, room.

use mpps_mbuf::{BURST_MAX, Burst, Mbuf};

use super::rig::{NUMBERED, Played, Rig, ensure, same};
use super::{Source, Subject, Violation};

/// Packets of every length come in as they were sent, on every queue.
pub(super) fn order(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::new(subject)?;
    let lens: Vec<usize> = (60..128).chain([511, 512, 513, 1024, 1500, 1514]).collect();
    for queue in 0..usize::from(subject.facts.queues) {
        for round in lens.chunks(24) {
            let (mut burst, mut frames) = (Burst::new(BURST_MAX), Vec::new());
            for &len in round {
                let frame = rig.frame(len);
                push(&mut burst, rig.packet(&frame, 2048)?)?;
                frames.push(frame);
            }
            let mut got = Vec::new();
            rig.send_all(queue, &mut burst, &mut got)?;
            rig.wait_for(queue, frames.len(), 7, &mut got)?;
            same(&got, &frames)?;
        }
    }
    rig.finish()
}

/// An empty burst sends nothing; a full one receives nothing; a partly full one keeps what it has.
pub(super) fn no_room(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::new(subject)?;
    let mut empty = Burst::new(32);
    let n = rig.send(0, &mut empty)?;
    ensure!(n == 0, "{n} packets sent out of an empty burst");
    let (mut full, mut kept) = rig.burst(5, 64)?;
    full.set_limit(5);
    let n = rig.receive(0, &mut full)?;
    ensure!(n == 0, "{n} packets received without room");
    full.set_limit(8);
    if rig.loops() {
        let (mut burst, frames) = rig.burst(5, 64)?;
        rig.send_all(0, &mut burst, &mut Vec::new())?;
        kept.extend_from_slice(&frames[..3]);
    }
    // `receive` checks that the five stay, and that no more than three come.
    rig.receive(0, &mut full)?;
    rig.lcore.free(&mut full);
    rig.finish()
}

/// The smallest and the largest bursts there are, in both directions.
pub(super) fn burst_sizes(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::new(subject)?;
    for receive_limit in [1, BURST_MAX] {
        let (mut burst, frames) = rig.burst(BURST_MAX, 60)?;
        let mut got = Vec::new();
        rig.send_all(0, &mut burst, &mut got)?;
        if rig.loops() {
            rig.wait_for(0, frames.len(), receive_limit, &mut got)?;
            same(&got, &frames)?;
        }
    }
    let (mut got, mut sent) = (Vec::new(), Vec::new());
    for _ in 0..40 {
        let (mut burst, frames) = rig.burst(1, 60)?;
        burst.set_limit(1);
        rig.send_all(0, &mut burst, &mut got)?;
        sent.extend(frames);
    }
    if rig.loops() {
        rig.wait_for(0, sent.len(), BURST_MAX, &mut got)?;
        same(&got, &sent)?;
    }
    receive_by(&mut rig, 1)?;
    receive_by(&mut rig, BURST_MAX)?;
    rig.finish()
}

/// Receives a little from a port with packets of its own, `limit` at a time.
fn receive_by(rig: &mut Rig, limit: usize) -> Played {
    let most = match rig.facts.source {
        Source::Made => 3 * limit,
        Source::Given(n) => limit.min(n as usize / 2),
        Source::Sent | Source::Nothing => return Ok(()),
    };
    rig.wait_for(0, most, limit, &mut Vec::new())
}

/// A queue that takes fewer leaves the rest, in order, and takes them later.
pub(super) fn leftovers(subject: &Subject<'_>) -> Played {
    let Some(holds) = subject.facts.holds else {
        return Ok(());
    };
    let mut rig = Rig::new(subject)?;
    for _ in 0..3 {
        let (mut sent, mut taken) = (Vec::new(), 0);
        let mut left = loop {
            let (mut burst, frames) = rig.burst(100, 64)?;
            sent.extend(frames);
            // `send` checks that what is left is the rest, in order.
            taken += rig.send(0, &mut burst)?;
            if !burst.is_empty() {
                break burst;
            }
            ensure!(taken <= holds, "{taken} packets taken, it holds {holds}");
        };
        ensure!(
            taken == holds,
            "{taken} packets taken before the first refusal, it holds {holds}"
        );
        let n = rig.send(0, &mut left)?;
        ensure!(n == 0, "a full queue took {n} packets more");
        let mut got = Vec::new();
        rig.wait_for(0, 10, 10, &mut got)?;
        rig.send_all(0, &mut left, &mut got)?;
        rig.wait_for(0, sent.len(), 32, &mut got)?;
        same(&got, &sent)?;
    }
    rig.finish()
}

/// A packet without a byte passes or is counted, and holds nothing up.
pub(super) fn zero_length(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::new(subject)?;
    let packet = rig.packet(&[], 2048)?;
    between(&mut rig, packet, &[])?;
    rig.finish()
}

/// Longer than any frame of Ethernet, and longer than 64 KiB: passes whole or is counted.
pub(super) fn oversize(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::new(subject)?;
    for len in [1515, 2048, 2049, 9018, 16_384, 65_535, 65_536, 70_000] {
        let frame = rig.frame(len);
        let packet = rig.packet(&frame, 2048)?;
        between(&mut rig, packet, &frame)?;
    }
    rig.finish()
}

/// Chains of up to 255 segments, empty ones in the middle.
pub(super) fn many_segments(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::new(subject)?;
    for segments in [2, 3, 17, 18, 32, 64, 128, 255] {
        let frame = rig.frame(segments * 5);
        let packet = rig.packet(&frame, 5)?;
        ensure!(packet.segments() as usize == segments, "the kit miscounts");
        between(&mut rig, packet, &frame)?;
    }
    let frame = rig.frame(64);
    let mut packet = rig.packet(&frame[..20], 2048)?;
    for part in [&[][..], &frame[20..40], &[], &frame[40..], &[]] {
        let tail = rig.packet(part, 2048)?;
        ensure!(packet.chain(tail).is_ok(), "the kit can't chain");
    }
    between(&mut rig, packet, &frame)?;
    rig.finish()
}

/// Data that several mbufs share is sent by each of them, and is writable again once all are gone.
pub(super) fn clones(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::new(subject)?;
    let frame = rig.frame(200);
    for part in [2048, 60] {
        let mut original = rig.packet(&frame, part)?;
        let mut burst = Burst::new(BURST_MAX);
        for _ in 0..3 {
            let clone = rig.feed.share(&mut original);
            push(&mut burst, clone.ok_or_else(|| Violation::new("no clone"))?)?;
        }
        let mut got = Vec::new();
        rig.send_all(0, &mut burst, &mut got)?;
        if rig.loops() {
            rig.wait_for(0, 3, 32, &mut got)?;
            same(&got, &vec![frame.clone(); 3])?;
        }
        let kept: Vec<u8> = original.segments_data().flatten().copied().collect();
        ensure!(kept == frame, "sending a clone changed the shared data");
        // A queue may keep what it has sent until it sends more.
        rig.pass(0, 1, 64)?;
        if rig.loops() || rig.facts.holds.is_none() {
            ensure!(
                original.data_mut().is_some(),
                "the clones are gone and the data is still shared"
            );
        }
        between(&mut rig, original, &frame)?;
    }
    rig.finish()
}

/// Sends an odd packet between two ordinary ones: these arrive in any case, the odd one arrives whole or is counted.
fn between(rig: &mut Rig, odd: Mbuf, content: &[u8]) -> Played {
    let errors = |rig: &Rig| {
        let (sender, receiver) = (rig.ports[0].dev.stats(), rig.ports[rig.sink()].dev.stats());
        sender.oerrors + receiver.ierrors + receiver.imissed + receiver.rx_nombuf
    };
    let (segments, bytes) = (odd.segments(), odd.pkt_len());
    let sent_before = rig.ports[0].dev.stats().opackets;
    let errors_before = errors(rig);
    let (first, last) = (rig.frame(NUMBERED + 50), rig.frame(NUMBERED + 51));
    let mut burst = Burst::new(BURST_MAX);
    push(&mut burst, rig.packet(&first, 2048)?)?;
    push(&mut burst, odd)?;
    push(&mut burst, rig.packet(&last, 2048)?)?;
    let mut got = Vec::new();
    rig.send_all(0, &mut burst, &mut got)?;
    if rig.loops() {
        while got.last() != Some(&last) {
            let n = got.len() + 1;
            rig.wait_for(0, n, 1, &mut got)?;
        }
    }
    let failed = errors(rig) - errors_before;
    let sent = rig.ports[0].dev.stats().opackets - sent_before;
    let what = format!("a packet of {bytes} bytes in {segments} segments");
    ensure!(
        sent + failed >= 3 && failed <= 1,
        "{what} between two others: {sent} counted as sent, {failed} as failed"
    );
    if rig.loops() {
        let whole = [first.clone(), content.to_vec(), last.clone()];
        let without = [first, last];
        ensure!(
            got == whole && failed == 0 || got == without && failed == 1,
            "{what} between two others: {} come in, of {:?} bytes, {failed} counted as failed",
            got.len(),
            got.iter().map(Vec::len).collect::<Vec<_>>()
        );
    }
    Ok(())
}

fn push(burst: &mut Burst, packet: Mbuf) -> Played {
    burst
        .push(packet)
        .map_err(|_| Violation::new("a burst takes 512 packets"))
}
