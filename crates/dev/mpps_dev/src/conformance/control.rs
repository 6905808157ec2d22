//! Scenarios about the control side: configuration and mailboxes.

use mpps_mbuf::Burst;

use super::rig::{self, Played, Rig, ensure};
use super::{Source, Subject, Violation};
use crate::{DevConfig, QueueSize, Queues, RxOffloads, TxOffloads, TxQueueConfig};

/// A queue that is told to stop moves nothing and loses nothing; told to start, it goes on.
pub(super) fn stopped_queue(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::new(subject)?;
    rig.pass(0, 20, 64)?;
    let sink = rig.sink();
    ensure!(
        rig.ports[0].dev.port().set_tx_started(0, false) && !rig.ports[0].dev.port().tx_started(0),
        "a transmit queue can't be stopped"
    );
    let (mut burst, frames) = rig.burst(20, 64)?;
    let n = rig.send(0, &mut burst)?;
    ensure!(n == 0, "a stopped transmit queue took {n} packets");
    rig.ports[0].dev.port().set_tx_started(0, true);
    ensure!(
        rig.ports[sink].dev.port().set_rx_started(0, false)
            && !rig.ports[sink].dev.port().rx_started(0),
        "a receive queue can't be stopped"
    );
    rig.send_all(0, &mut burst, &mut Vec::new())?;
    let mut got = Vec::new();
    for _ in 0..20 {
        let n = rig.poll(0, 32, &mut got)?;
        ensure!(n == 0, "a stopped receive queue gave {n} packets");
    }
    rig.ports[sink].dev.port().set_rx_started(0, true);
    receive_again(&mut rig, &frames)?;
    let queues = usize::from(subject.facts.queues);
    let port = rig.ports[0].dev.port();
    ensure!(
        !port.set_rx_started(queues, true) && !port.set_tx_started(queues, false),
        "queue {queues} isn't there and can be started or stopped"
    );
    rig.finish()
}

/// What waited behind a stopped queue comes in, or at least something, by the kind of port.
fn receive_again(rig: &mut Rig, frames: &[Vec<u8>]) -> Played {
    let mut got = Vec::new();
    match rig.facts.source {
        Source::Sent => {
            rig.wait_for(0, frames.len(), 32, &mut got)?;
            rig::same(&got, frames)
        }
        Source::Made => rig.wait_for(0, 64, 32, &mut got),
        Source::Given(n) => rig.wait_for(0, n as usize, 32, &mut got),
        Source::Nothing => Ok(()),
    }
}

/// A queue with a deferred start moves nothing until it is started, while its neighbours do.
pub(super) fn deferred_start(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::stopped(subject, 1024)?;
    let mut config = rig::config(subject.facts.queues, &rig.pool);
    config.rx[0].queue.deferred_start = true;
    config.tx[0].queue.deferred_start = true;
    for n in 0..rig.ports.len() {
        rig.configure(n, &config)?;
    }
    rig.start()?;
    let (mut burst, _) = rig.burst(8, 64)?;
    let n = rig.send(0, &mut burst)? + rig.receive(0, &mut Burst::new(8))?;
    ensure!(n == 0, "queues with a deferred start moved {n} packets");
    rig.lcore.free(&mut burst);
    for queue in 1..usize::from(subject.facts.queues) {
        rig.pass(queue, 20, 64)?;
    }
    for port in &rig.ports {
        ensure!(
            port.dev.port().set_rx_started(0, true) && port.dev.port().set_tx_started(0, true),
            "queues with a deferred start can't be started"
        );
    }
    rig.pass(0, 20, 64)?;
    rig.finish()
}

/// The MTU changes while packets pass; one that is out of range changes nothing.
pub(super) fn mtu(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::new(subject)?;
    rig.pass(0, 20, 64)?;
    let (min, max) = {
        let info = rig.ports[0].dev.info();
        (info.min_mtu, info.max_mtu)
    };
    for wanted in [min.max(1400), max.min(9000), max.min(1500)] {
        for port in &mut rig.ports {
            let before = port.dev.port().mtu();
            let result = port.dev.set_mtu(wanted);
            let refused = result.is_err() && subject.facts.given_mtu;
            let now = if refused { before } else { wanted };
            ensure!(
                (result.is_ok() || refused) && port.dev.port().mtu() == now,
                "MTU {wanted} of {min} to {max}: {result:?}, now {}",
                port.dev.port().mtu()
            );
        }
        rig.pass(0, 20, usize::from(wanted.min(1500)))?;
    }
    let before = rig.ports[0].dev.port().mtu();
    for wrong in [min.checked_sub(1), max.checked_add(1)]
        .into_iter()
        .flatten()
    {
        let result = rig.ports[0].dev.set_mtu(wrong);
        ensure!(
            result.is_err() && rig.ports[0].dev.port().mtu() == before,
            "MTU {wrong} is outside of {min} to {max} and was taken"
        );
    }
    rig.finish()
}

/// A configuration that is refused leaves the port as it was, and the next right one works (W-21).
pub(super) fn refused_configuration(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::stopped(subject, 1024)?;
    let good = rig::config(subject.facts.queues, &rig.pool);
    refuse_all(&mut rig, &good)?;
    for n in 0..rig.ports.len() {
        rig.configure(n, &good)?;
    }
    rig.start()?;
    rig.pass(0, 20, 64)?;
    rig.stop();
    refuse_all(&mut rig, &good)?;
    // The one accepted last still holds.
    rig.start()?;
    rig.pass(0, 20, 64)?;
    rig.finish()
}

fn refuse_all(rig: &mut Rig, good: &DevConfig) -> Played {
    for port in &mut rig.ports {
        let (mtu, queues) = (port.dev.port().mtu(), port.dev.port().config().rx.len());
        for (what, config) in wrong(port.dev.info(), good) {
            let error = port.dev.configure(&config).err();
            let Some(error) = error else {
                return Err(Violation::new(format!("{what} is accepted")));
            };
            let text = error.to_string();
            ensure!(
                text.contains(&port.dev.info().name) && !text.contains('\n'),
                "{what} is refused without the device's name, or in several lines: {text}"
            );
            let now = port.dev.port();
            ensure!(
                (now.mtu(), now.config().rx.len()) == (mtu, queues),
                "{what} was refused and changed the port"
            );
        }
    }
    Ok(())
}

/// Configurations that must be refused, each with one fault.
fn wrong(info: &crate::DevInfo, good: &DevConfig) -> Vec<(&'static str, DevConfig)> {
    let mut all = Vec::new();
    let mut with = |what, change: &dyn Fn(&mut DevConfig)| {
        let mut config = good.clone();
        change(&mut config);
        all.push((what, config));
    };
    with("too many receive queues", &|c| {
        c.rx = vec![good.rx[0].clone(); usize::from(info.max_rx_queues) + 1];
    });
    with("too many transmit queues", &|c| {
        c.tx = vec![TxQueueConfig::default(); usize::from(info.max_tx_queues) + 1];
    });
    if let Some(missing) = RxOffloads::all()
        .difference(info.rx_offloads | info.rx_queue_offloads)
        .iter()
        .next()
    {
        with("a receive offload the port lacks", &|c| {
            c.rx_offloads = missing
        });
        with("a receive offload of a queue that the port lacks", &|c| {
            c.rx[0].offloads = missing;
        });
    }
    if let Some(missing) = TxOffloads::all()
        .difference(info.tx_offloads | info.tx_queue_offloads)
        .iter()
        .next()
    {
        with("a transmit offload the port lacks", &|c| {
            c.tx_offloads = missing
        });
    }
    let too_many = u64::from(info.rx_descriptors.1) + 1;
    if let Ok(size) = QueueSize::new(too_many) {
        with("too many receive descriptors", &|c| {
            c.rx[0].queue.size = size
        });
    }
    for mtu in [info.min_mtu.checked_sub(1), info.max_mtu.checked_add(1)] {
        if mtu.is_some() {
            with("an MTU out of range", &|c| c.mtu = mtu);
        }
    }
    if info.hash_key_size > 0 {
        with("a hash key of the wrong length", &|c| {
            c.rss.key = Some(vec![0; usize::from(info.hash_key_size) + 1]);
        });
    }
    all
}

/// A port that was never configured starts without queues or refuses to, and can be configured afterwards.
pub(super) fn unconfigured(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::stopped(subject, 1024)?;
    for port in &mut rig.ports {
        match port.dev.start() {
            Ok(Queues { rx, tx }) if rx.is_empty() && tx.is_empty() => {
                port.dev.stop(Queues::default());
            }
            Ok(_) => {
                return Err(Violation::new(
                    "start without a configuration hands out queues",
                ));
            }
            Err(error) => {
                let text = error.to_string();
                ensure!(text.contains(&port.dev.info().name), "{text}");
            }
        }
    }
    let config = rig::config(subject.facts.queues, &rig.pool);
    for n in 0..rig.ports.len() {
        rig.configure(n, &config)?;
    }
    rig.start()?;
    rig.pass(0, 20, 64)?;
    rig.finish()
}
