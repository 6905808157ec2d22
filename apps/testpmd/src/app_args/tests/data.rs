//! Queues, pools, offloads, traffic.

use std::net::Ipv4Addr;

use super::*;

#[test]
fn queues_and_bursts() {
    let args =
        good("--rxq=2 --txq 3 --rxd=512 --txd=256 --burst=0 --no-flush-rx --rxfreet=511 --txpt=32");
    assert_eq!((args.queues.rxq, args.queues.txq), (Some(2), Some(3)));
    assert_eq!(args.queues.burst, Burst::OfPort);
    assert!(!args.queues.flush_rx);
    assert_eq!(
        (args.queues.rxfreet, args.queues.txpt),
        (Some(511), Some(32))
    );
    assert_eq!(
        notices(&args),
        [
            "--rxfreet, --txpt have no effect here: ring thresholds are registers of network cards; `show config rxtx` prints them"
        ]
    );
    assert_eq!(
        error("--burst=1000"),
        "--burst: `1000` is out of range; give 0 to 512"
    );
    assert!(error("--rxd=64 --rxfreet=64").contains("give 0 to 63"));
    assert!(error("--rxq=0 --txq=0").contains("one direction"));
    for line in [
        "--burst=abc",
        "--burst=-1",
        "--rxq=1025",
        "--rxd=0",
        "--txd=65536",
        "--rxpt=256",
        "--rxq=x",
    ] {
        assert!(read_line(line).is_err(), "{line}");
    }
    for line in [
        "--rxpkts=64",
        "--rxoffs=0",
        "--rxhdrs=eth",
        "--multi-rx-mempool",
    ] {
        assert!(
            matches!(read_line(line), Err(ArgError::Unsupported { .. })),
            "{line}"
        );
    }
}

#[test]
fn pools() {
    let args = good(
        "--no-numa --socket-num=0 --mbuf-size=2176,512 --total-num-mbuf 2048 --mbcache=0 --max-pkt-len=9600",
    );
    assert!(!args.pools.numa && args.notices.is_empty());
    assert_eq!(args.pools.mbuf_sizes, [2176, 512]);
    assert_eq!(args.pools.total_num_mbufs, Some(2048));
    assert_eq!(args.pools.max_pkt_len, Some(9600));
    let args = good("--port-numa-config=(0,1),(1,0) --ring-numa-config=(0,3,1)");
    assert_eq!(args.pools.port_numa, [(0, 1), (1, 0)]);
    assert_eq!(
        args.pools.ring_numa,
        [RingNuma {
            port: 0,
            rx: true,
            tx: true,
            socket: 1
        }]
    );
    let args = good("--port-numa-config=0,1");
    assert!(args.pools.port_numa.is_empty());
    assert!(notices(&args)[0].contains("without parentheses"));
    assert_eq!(
        notices(&good("--mp-alloc=anon --mp-anon --no-iova-contig")).len(),
        1
    );
    for line in [
        "--mbuf-size=128",
        "--mbuf-size=65536",
        "--mbuf-size=1,2,3,4,5,6,7,8,9",
        "--total-num-mbufs=1024",
        "--mbcache=513",
        "--max-pkt-len=63",
        "--mp-alloc=x",
        "--port-numa-config=(0)",
        "--port-numa-config=(0,1",
        "--port-numa-config=(0,1)x",
        "--port-numa-config=(32,0)",
        "--ring-numa-config=(0,4,0)",
        "--ring-numa-config=(0,256,0)",
        "--socket-num=255",
    ] {
        assert!(read_line(line).is_err(), "{line}");
    }
}

#[test]
fn offloads_act_in_order() {
    assert_eq!(
        good("--enable-rx-cksum --enable-scatter").offloads.rx,
        0x200e
    );
    assert_eq!(
        good("--enable-scatter --rx-offloads=0x10").offloads.rx,
        0x10
    );
    assert_eq!(
        good("--rx-offloads=0x10 --enable-hw-vlan-strip")
            .offloads
            .rx,
        0x11
    );
    assert_eq!(good("--enable-hw-vlan").offloads.rx, 0x621);
    assert_eq!(
        good("--enable-hw-vlan --disable-hw-vlan-strip").offloads.rx,
        0x620
    );
    assert_eq!(good("--disable-crc-strip").offloads.rx, 0x10000);
    assert_eq!(good("--disable-crc-strip --crc-strip").offloads.rx, 0);
    // Masks are 64 bits wide; DPDK reads them into 31.
    assert_eq!(good("--tx-offloads=0x80000000").offloads.tx, 0x8000_0000);
    assert_eq!(good("--rss-udp").offloads.rss, 0x2_abac);
    assert_eq!(good("--disable-rss").offloads.rss, 0);
    assert_eq!(good("--disable-rss --rss-ip").offloads.rss, 0xa38c);
    assert_eq!(good("--rx-mq-mode=0x1").offloads.rx_mq_mode, 1);
    assert!(good("--enable-rss").offloads.rss_always);
    assert!(error("--disable-rss --enable-rss").contains("can't be used at the same time"));
    assert!(error("--enable-rss --disable-rss").contains("can't be used at the same time"));
    for line in [
        "--rx-mq-mode=8",
        "--rx-offloads=x",
        "--tx-offloads=",
        "--vxlan-gpe-port=65536",
    ] {
        assert!(read_line(line).is_err(), "{line}");
    }
}

#[test]
fn warnings_of_dpdk() {
    assert!(good("--rxq=4 --txq=4 --mbuf-size=2048").warnings.is_empty());
    assert_eq!(
        good("--rxq=4").warnings,
        [
            "Warning: nb_rxq=4 enables RSS configuration, but nb_txq=1 will prevent to fully test it."
        ]
    );
    assert_eq!(
        good("--mbuf-size=2048,512 --max-pkt-len=9600").warnings,
        [
            "testpmd: Warning: multiple mbuf sizes specified but scattered Rx not enabled",
            "testpmd: Warning: max-pkt-len (9600) is greater than mbuf size (2048) without scattered Rx enabled",
            "testpmd: Warning: max-pkt-len (9600) is greater than mbuf size (2048) without multi-segment Tx enabled",
        ]
    );
    assert_eq!(good("--enable-scatter").warnings.len(), 1);
    assert!(
        good("--enable-scatter --tx-offloads=0x8000 --max-pkt-len=9600")
            .warnings
            .is_empty()
    );
}

#[test]
fn traffic() {
    let args = good(
        "--txpkts=64,64 --tx-ip=10.0.0.1,10.0.0.2 --tx-udp=7 --txonly-multi-flow --txonly-flows=4",
    );
    assert_eq!(args.traffic.txpkts, [64, 64]);
    assert_eq!(args.traffic.ip.1, Ipv4Addr::new(10, 0, 0, 2));
    assert_eq!(args.traffic.udp, (7, 7));
    assert_eq!(good("--tx-udp=1,2").traffic.udp, (1, 2));
    assert_eq!(args.traffic.flows, 4);
    assert_eq!(
        good("--eth-link-speed 10000").traffic.link_speed,
        Some(10_000)
    );
    let noisy =
        good("--noisy-forward-mode=5tswap --noisy-lkup-memory=8 --noisy-tx-sw-buffer-size=64")
            .noisy;
    assert_eq!(noisy.mode, NoisyMode::FiveTupleSwap);
    assert_eq!((noisy.memory_mb, noisy.buffer_size), (8, 64));
    assert_eq!(
        good("--mbuf-size=314,978 --forward-mode=io")
            .pools
            .mbuf_sizes,
        [314, 978]
    );
    assert!(error("--txpkts=2049").contains("give at most 2048"));
    assert_eq!(
        good("--txpkts=2049 --mbuf-size=4096").traffic.txpkts,
        [2049]
    );
    for line in [
        "--txpkts=",
        "--txpkts=64,",
        "--txpkts=41",
        "--txpkts=6x",
        "--tx-ip=10.0.0.1",
        "--tx-ip=a,b",
        "--tx-udp=65536",
        "--tx-udp=1,2,3",
        "--eth-link-speed=1234",
        "--txonly-flows=0",
        "--txonly-flows=65",
        "--flowgen-flows=0",
        "--flowgen-clones=-1",
        "--noisy-forward-mode=csum",
        "--noisy-lkup-num-reads=-1",
    ] {
        assert!(read_line(line).is_err(), "{line}");
    }
}
