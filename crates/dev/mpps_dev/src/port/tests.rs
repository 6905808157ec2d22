//! What all ports have in common: configuration, names, counters, addresses, MTU, lines.

use std::collections::HashSet;
use std::sync::Arc;

use mpps_mbuf::{Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};
use mpps_wire::MacAddr;

use super::Port;
use crate::{
    ConfigError, DevConfig, DevInfo, Link, PortStats, QueueSize, QueueStats, RxOffloads,
    RxQueueConfig, TxOffloads, TxQueueConfig,
};

fn pool() -> Pool {
    let config = PoolConfig {
        name: "port".to_owned(),
        size: 64,
        data_room: 2176,
        cache_size: 0,
        node: None,
    };
    Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap()
}

fn info() -> DevInfo {
    let mut info = DevInfo::software("net_x0", "net_x", "");
    info.max_rx_queues = 20;
    info.max_tx_queues = 20;
    info.min_mtu = 68;
    info.max_mtu = 9000;
    info.max_mac_addrs = 3;
    info.rx_descriptors = (64, 4096, 32);
    info.tx_descriptors = (128, 1024, 16);
    info.rx_offloads = RxOffloads::VLAN_STRIP;
    info.rx_queue_offloads = RxOffloads::SCATTER;
    info
}

fn port() -> Port {
    Port::new(info(), Some(MacAddr([2, 0, 0, 0, 0, 1])), Link::SOFTWARE)
}

fn config(rx: usize, tx: usize) -> DevConfig {
    let pool = pool();
    DevConfig {
        rx: vec![RxQueueConfig::of(&pool); rx],
        tx: vec![TxQueueConfig::default(); tx],
        ..DevConfig::default()
    }
}

fn refusal(change: impl FnOnce(&mut DevConfig)) -> String {
    let mut config = config(1, 1);
    change(&mut config);
    port().configure(&config).unwrap_err().to_string()
}

#[test]
fn offloads_that_are_missing_are_refused_by_name() {
    assert_eq!(
        refusal(|c| c.rx_offloads = RxOffloads::TCP_LRO | RxOffloads::VLAN_STRIP),
        "net_x0: Rx offload TCP_LRO is not available here; the port has VLAN_STRIP SCATTER"
    );
    assert_eq!(
        refusal(|c| c.rx[0].offloads = RxOffloads::TIMESTAMP),
        "net_x0: Rx offload TIMESTAMP is not available here; the port has VLAN_STRIP SCATTER"
    );
    assert_eq!(
        refusal(|c| c.tx_offloads = TxOffloads::TCP_TSO | TxOffloads::MULTI_SEGS),
        "net_x0: Tx offload TCP_TSO MULTI_SEGS is not available here; the port has none"
    );
}

#[test]
fn descriptor_numbers_are_refused_in_the_words_that_scripts_know() {
    let text = |what, n, (min, max, align): (u16, u16, u16)| {
        format!(
            "net_x0: Invalid value for {what}(={n}), should be: <= {max}, >= {min}, and a product of {align}"
        )
    };
    for n in [63, 4128, 100, 1] {
        let have = refusal(|c| c.rx[0].queue.size = QueueSize::new(n).unwrap());
        assert_eq!(have, text("nb_rx_desc", n, (64, 4096, 32)));
    }
    for n in [127, 1040, 513] {
        let have = refusal(|c| c.tx[0].queue.size = QueueSize::new(n).unwrap());
        assert_eq!(have, text("nb_tx_desc", n, (128, 1024, 16)));
    }
    for n in [64, 96, 4096] {
        let mut config = config(1, 1);
        config.rx[0].queue.size = QueueSize::new(n).unwrap();
        port().configure(&config).unwrap();
    }
}

#[test]
fn too_many_queues_are_refused_and_nothing_changes() {
    let mut port = port();
    port.configure(&config(2, 3)).unwrap();
    let mut wrong = config(21, 1);
    wrong.mtu = Some(3000);
    assert_eq!(
        port.configure(&wrong).unwrap_err().to_string(),
        "net_x0: number of receive queues 21 is out of range, must be at most 20"
    );
    let mut wrong = config(1, 1);
    wrong.mtu = Some(67);
    assert!(matches!(
        port.configure(&wrong),
        Err(ConfigError::Range { .. })
    ));
    assert_eq!(
        (port.config().rx.len(), port.config().tx.len(), port.mtu()),
        (2, 3, 1500)
    );
}

#[test]
fn extended_statistics_have_dpdks_names_and_order() {
    let mut port = port();
    port.configure(&config(2, 1)).unwrap();
    let (rx, _) = port.rx_queue(1);
    rx.count(5, 500);
    rx.errors.add(1);
    rx.missed.add(2);
    rx.no_mbuf.add(3);
    let (tx, _) = port.tx_queue(0);
    tx.count(7, 700);
    tx.errors.add(4);
    let have: Vec<_> = port
        .xstats()
        .into_iter()
        .map(|stat| (stat.name, stat.value))
        .collect();
    let want = [
        ("rx_good_packets", 5),
        ("tx_good_packets", 7),
        ("rx_good_bytes", 500),
        ("tx_good_bytes", 700),
        ("rx_missed_errors", 2),
        ("rx_errors", 1),
        ("tx_errors", 4),
        ("rx_mbuf_allocation_errors", 3),
        ("rx_q0_packets", 0),
        ("rx_q0_bytes", 0),
        ("rx_q0_errors", 0),
        ("rx_q1_packets", 5),
        ("rx_q1_bytes", 500),
        ("rx_q1_errors", 1),
        ("tx_q0_packets", 7),
        ("tx_q0_bytes", 700),
    ];
    let want: Vec<_> = want.map(|(name, value)| (name.to_owned(), value)).into();
    assert_eq!(have, want);
}

#[test]
fn only_sixteen_queues_have_extended_statistics_and_only_where_the_port_wants_them() {
    let mut port = port();
    port.configure(&config(20, 20)).unwrap();
    let names: Vec<_> = port.xstats().into_iter().map(|stat| stat.name).collect();
    assert_eq!(names.len(), 8 + 16 * 3 + 16 * 2);
    assert_eq!(names.last().unwrap(), "tx_q15_bytes");
    port.info_mut().queue_xstats = false;
    assert_eq!(port.xstats().len(), 8);
}

#[test]
fn clearing_moves_a_baseline_and_leaves_the_queues_counters_alone() {
    let mut port = port();
    port.configure(&config(2, 2)).unwrap();
    let rx: Vec<_> = (0..2).map(|n| port.rx_queue(n).0).collect();
    let (tx, _) = port.tx_queue(1);
    rx[0].count(1, 10);
    rx[1].count(2, 20);
    tx.count(4, 40);
    let stats = port.stats();
    assert_eq!((stats.ipackets, stats.ibytes), (3, 30), "the sum (N-01)");
    assert_eq!((stats.opackets, stats.obytes), (4, 40));
    port.clear_stats();
    assert_eq!(port.stats(), PortStats::default());
    assert_eq!(rx[1].read().packets, 2, "a counter never goes backwards");
    rx[1].count(5, 50);
    assert_eq!(port.stats().ipackets, 5);
    assert_eq!(port.rx_counts(1).unwrap().packets, 5);
    assert_eq!(port.rx_counts(0).unwrap().packets, 0);
    assert_eq!(port.tx_counts(2), None);
    // A second start goes on with the same counters.
    port.close_queues();
    let (again, _) = port.rx_queue(1);
    assert!(Arc::ptr_eq(&again, &rx[1]));
    assert_eq!(port.stats().ipackets, 5);
}

#[test]
fn a_queue_is_started_between_its_start_and_its_stop() {
    let mut port = port();
    let mut wish = config(2, 1);
    wish.rx[1].queue.deferred_start = true;
    port.configure(&wish).unwrap();
    assert!(!port.rx_started(0) && !port.set_rx_started(0, true));
    let (_, mailbox) = port.rx_queue(0);
    let (_, deferred) = port.rx_queue(1);
    assert!(port.rx_started(0) && !port.rx_started(1) && !port.tx_started(0));
    assert!(!mailbox.stopped() && deferred.stopped());
    assert!(port.set_rx_started(0, false) && port.set_rx_started(1, true));
    assert!(mailbox.stopped() && !deferred.stopped());
    assert!(!port.set_rx_started(2, true) && !port.rx_started(2));
    port.close_queues();
    assert!(!port.rx_started(1));
}

#[test]
fn an_mtu_reaches_the_mailboxes_of_running_queues() {
    let mut port = port();
    port.configure(&config(1, 1)).unwrap();
    let (_, rx) = port.rx_queue(0);
    let (_, tx) = port.tx_queue(0);
    assert_eq!((rx.mtu(), tx.mtu()), (1500, 1500));
    port.set_mtu(9000).unwrap();
    assert_eq!((rx.mtu(), tx.mtu(), port.mtu()), (9000, 9000, 9000));
    for wrong in [0, 67, 9001, u16::MAX] {
        let line = format!("MTU {wrong} is out of range, must be 68 to 9000");
        assert_eq!(port.set_mtu(wrong).unwrap_err().to_string(), line);
    }
    assert_eq!((rx.mtu(), port.mtu()), (9000, 9000));
    port.set_mtu(68).unwrap();
    port.close_queues();
    port.set_mtu(1400).unwrap();
    assert_eq!(rx.mtu(), 68, "a queue that came back hears no more");
    assert_eq!(port.rx_queue(0).1.mtu(), 1400);
}

#[test]
fn addresses_are_a_list_with_the_default_one_first() {
    let mac = |n| MacAddr([2, 0, 0, 0, 0, n]);
    let mut port = port();
    assert!(port.add_mac(mac(2)) && port.add_mac(mac(3)));
    assert!(port.add_mac(mac(2)), "it is there");
    assert!(!port.add_mac(mac(4)), "the list is full");
    assert_eq!(port.macs(), [mac(1), mac(2), mac(3)]);
    assert!(!port.remove_mac(mac(1)), "the default one stays");
    assert!(!port.remove_mac(mac(9)));
    assert!(port.remove_mac(mac(2)) && port.add_mac(mac(4)));
    port.set_mac(mac(3));
    assert_eq!(port.mac(), mac(3));
    assert_eq!(port.macs(), [mac(3), mac(4)], "no address is there twice");
}

#[test]
fn an_address_made_up_is_local_and_unicast() {
    let macs: HashSet<_> = (0..20)
        .map(|_| Port::new(info(), None, Link::SOFTWARE).mac().0)
        .collect();
    assert!(macs.len() > 1);
    assert!(macs.iter().all(|mac| mac[0] & 3 == 2));
}

#[test]
fn counters_and_mailboxes_of_all_queues_lie_on_lines_of_their_own() {
    let mut port = port();
    port.configure(&config(20, 20)).unwrap();
    let mut lines = HashSet::new();
    let mut add = |start: usize, len: usize| {
        for line in start / 128..=(start + len - 1) / 128 {
            assert!(lines.insert(line), "two things share line {line:#x}");
        }
    };
    let mut sides = Vec::new();
    for n in 0..20 {
        sides.push(port.rx_queue(n));
        sides.push(port.tx_queue(n));
    }
    for (stats, mailbox) in &sides {
        add(Arc::as_ptr(stats).addr(), size_of::<QueueStats>());
        add(Arc::as_ptr(mailbox).addr(), size_of_val(&**mailbox));
    }
    assert_eq!(lines.len(), 80);
}
