//! Several queues on several cores, some of the ports, and ports that come and go.

use super::rig::{BACK, Call, FRONT, Pair, ask, figure, linked, packets, quit, receives, until};
use super::run::Run;

/// Whether every queue of a port has received packets.
fn all_receive(run: &mut Run, queues: u16) -> bool {
    let text = ask(run, "show port xstats 0");
    (0..queues).all(|queue| {
        figure(&text, &format!("rx_q{queue}_good_packets")).is_some_and(|packets| packets > 0)
    })
}

struct Setting {
    front: &'static str,
    back: &'static str,
    /// Behind `-i`, for both.
    options: &'static [&'static str],
    queues: u16,
    cores: u32,
}

const SETTINGS: &[Setting] = &[
    Setting {
        front: "net_virtio_user0,path=./sock,server=1,queues=2",
        back: "net_vhost0,iface=sock,client=1,queues=2",
        options: &["--nb-cores=2", "--rxq=2", "--txq=2"],
        queues: 2,
        cores: 2,
    },
    // More queues than cores, which get two each but one.
    Setting {
        front: "net_virtio_user0,path=./sock,server=1,queues=4,packed_vq=1",
        back: "net_vhost0,iface=sock,client=1,queues=4",
        options: &["--nb-cores=3", "--rxq=4", "--txq=4"],
        queues: 4,
        cores: 3,
    },
    // As published in DPDK's test plans: loopback of eight queues, and of a restarted multi-queue port.
    Setting {
        front: "net_virtio_user0,mac=00:01:02:03:04:05,path=./sock,queues=8,packed_vq=1,mrg_rxbuf=0,in_order=1,vectorized=1",
        back: "eth_vhost0,iface=sock,queues=8",
        options: &[
            "--nb-cores=8",
            "--rxq=8",
            "--txq=8",
            "--txd=1024",
            "--rxd=1024",
        ],
        queues: 8,
        cores: 8,
    },
    Setting {
        front: "net_virtio_user0,mac=00:01:02:03:04:05,path=./sock,queues=2,packed_vq=1,mrg_rxbuf=0,in_order=1,vectorized=1,queue_size=255",
        back: "eth_vhost0,iface=sock,queues=2",
        options: &[
            "--tx-offloads=0x0",
            "--rxq=2",
            "--txq=2",
            "--txd=255",
            "--rxd=255",
        ],
        queues: 2,
        cores: 1,
    },
];

/// Packets go round in every queue; again after both ports were stopped and started, and with one core for all.
#[test]
fn every_queue_moves_packets_over_several_cores() {
    for setting in SETTINGS {
        let options = [&["-i"], setting.options].concat();
        let (front, back) = ([setting.front], [setting.back]);
        let call = |devices| Call {
            cores: setting.cores,
            ..Call::of(devices).with(&options)
        };
        let mut pair = Pair::of("queues", call(&front), call(&back));
        for cores in [setting.cores, 1] {
            for run in [&mut pair.front, &mut pair.back] {
                ask(run, &format!("set nbcore {cores}"));
            }
            ask(&mut pair.front, "start");
            ask(&mut pair.back, "start tx_first 2");
            for run in [&mut pair.front, &mut pair.back] {
                until(run, "receiving in every queue", |run| {
                    all_receive(run, setting.queues)
                });
            }
            for run in [&mut pair.front, &mut pair.back] {
                let said = ask(run, "stop");
                let streams = said.matches(" Forward Stats for RX Port= 0/Queue=").count();
                let shown = if setting.queues > 1 {
                    setting.queues
                } else {
                    0
                };
                assert_eq!(streams, usize::from(shown), "{said}");
                for command in ["port stop 0", "clear port xstats 0", "port start 0"] {
                    ask(run, command);
                }
            }
            linked(&mut pair.front, 0);
            linked(&mut pair.back, 0);
        }
        pair.quit();
    }
}

/// Two pairs, of which `set portlist` and `set nbport` choose.
#[test]
fn ports_are_chosen() {
    let fronts = [FRONT, "net_virtio_user1,path=./sock1,server=1"];
    let backs = [BACK, "net_vhost1,iface=sock1,client=1"];
    let options = &["-i", "--port-topology=loop"];
    let mut pair = Pair::of(
        "chosen",
        Call::of(&fronts).with(options),
        Call::of(&backs).with(options),
    );
    linked(&mut pair.front, 0);
    linked(&mut pair.back, 1);
    for (command, of_first, of_second) in [
        ("set portlist 1", false, true),
        ("set portlist 0,1", true, true),
        ("set nbport 1", true, false),
        ("set portmask 0x2", false, true),
    ] {
        ask(&mut pair.front, command);
        ask(&mut pair.back, command);
        let before = [packets(&mut pair.front, 0).0, packets(&mut pair.front, 1).0];
        ask(&mut pair.front, "start");
        ask(&mut pair.back, "start tx_first 1");
        for (port, flows) in [(0, of_first), (1, of_second)] {
            if flows {
                receives(&mut pair.front, port);
                receives(&mut pair.back, port);
            }
        }
        ask(&mut pair.back, "stop");
        ask(&mut pair.front, "stop");
        let after = [packets(&mut pair.front, 0).0, packets(&mut pair.front, 1).0];
        assert_eq!(after[0] > before[0], of_first, "{command}");
        assert_eq!(after[1] > before[1], of_second, "{command}");
    }
    pair.quit();
}

/// What a program dropped in the run that it stops.
fn dropped(run: &mut Run) -> u64 {
    let said = ask(run, "stop");
    figure(&said, "TX-dropped").unwrap_or_else(|| panic!("{said}"))
}

/// Ports are attached, started, met by a peer of their own, stopped and detached, while packets go round between others:
/// as many as before.
#[test]
fn others_come_and_go_while_a_pair_forwards() {
    let mut pair = Pair::of("plug", Call::of(&[FRONT]), Call::of(&[BACK]));
    ask(&mut pair.front, "start");
    ask(&mut pair.back, "start tx_first 1");
    pair.circulates();
    for round in 0..3 {
        let back = &mut pair.back;
        let said = ask(back, "port attach net_vhost1,iface=sock1,queues=1");
        assert!(
            said.contains("Port 1 is attached. Now total ports is 2\nDone\n"),
            "{said}"
        );
        let said = ask(back, "port start 1");
        assert!(said.ends_with("Done\ntestpmd> "), "{said}");
        let mut peer = Call::of(&["net_virtio_user0,path=./sock1"]).start(&pair.folder, 0);
        peer.wait_for("testpmd> ", 1);
        linked(&mut peer, 0);
        linked(back, 1);
        receives(back, 0);
        if round == 1 {
            peer.signal("KILL");
            assert!(!peer.end().status.success());
        } else {
            quit(peer);
        }
        receives(back, 0);
        let said = ask(back, "port stop 0");
        assert!(
            said.contains("Please remove port 0 from forwarding configuration."),
            "{said}"
        );
        ask(back, "port stop 1");
        let said = ask(back, "port detach 1");
        assert!(said.contains("Now total ports is 1"), "{said}");
        assert!(!pair.folder.path().join("sock1").exists());
        receives(back, 0);
        receives(&mut pair.front, 0);
    }
    // One burst was sent, and still goes round; none of it was ever dropped.
    assert_eq!(dropped(&mut pair.back), 0);
    assert_eq!(dropped(&mut pair.front), 0);
    // Attached during a run, a port forwards from the next start on.
    ask(&mut pair.back, "start");
    ask(&mut pair.back, "port attach net_null1");
    ask(&mut pair.back, "port start 1");
    ask(&mut pair.back, "stop");
    let said = ask(&mut pair.back, "start");
    assert!(said.contains("ports=2"), "{said}");
    receives(&mut pair.back, 1);
    ask(&mut pair.back, "stop");
    pair.quit();
}
