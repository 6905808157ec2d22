//! testpmd's options: defaults, what each means, order, refusals.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use mpps_wire::MacAddr;

use super::*;

const NAMES: NamesArgs<'static> = NamesArgs {
    engines: &["io", "mac", "macswap", "shared_rxq"],
    macswap: &["auto", "scalar"],
    copy: &["auto", "libc"],
};

fn read_line(line: &str) -> Result<AppArgs, ArgError> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    parse(&words, NAMES)
}

fn good(line: &str) -> AppArgs {
    read_line(line).unwrap_or_else(|e| panic!("{line}: {e}"))
}

fn error(line: &str) -> String {
    match read_line(line) {
        Ok(args) => panic!("{line} was read: {args:?}"),
        Err(e) => e.to_string(),
    }
}

fn notices(args: &AppArgs) -> Vec<String> {
    args.notices.iter().map(ToString::to_string).collect()
}

#[test]
fn defaults_are_those_of_the_code_not_of_the_manual() {
    let args = good("");
    assert_eq!(args, AppArgs::default());
    assert_eq!(args.queues.burst, Burst::Packets(32));
    assert_eq!(args.pools.mbcache, 250);
    assert_eq!(args.pools.mbuf_sizes, [2176]);
    assert_eq!((args.offloads.tx, args.offloads.rx), (0x10000, 0));
    assert_eq!(args.offloads.rss, 0xa38c);
    assert_eq!(args.offloads.rx_mq_mode, 7);
    assert_eq!(args.traffic.txpkts, [64]);
    assert_eq!(args.traffic.ip.0, Ipv4Addr::new(198, 18, 0, 1));
    assert!(args.run.mlockall && args.run.link_check && args.queues.flush_rx && args.pools.numa);
}

#[test]
fn run_control() {
    let args = good("-ia --cmdline-file=a --cmdline-file-noecho b --display-xstats x,,y");
    assert!(args.run.interactive && args.run.auto_start);
    let file = |path, echo| CommandFile {
        path: PathBuf::from(path),
        echo,
    };
    assert_eq!(args.run.command_files, [file("a", true), file("b", false)]);
    assert_eq!(args.run.display_xstats, ["x", "y"]);
    assert_eq!(
        args.echo,
        [
            "Interactive-mode selected",
            "Auto-start selected",
            "CLI commands to be read from a",
            "CLI commands to be read from b"
        ]
    );
    let args =
        good("--tx-first --stats-period 1 --no-lsc-interrupt --disable-link-check --no-mlockall");
    assert_eq!(args.run.stats_period, Some(1));
    assert!(args.run.tx_first && !args.run.link_events && !args.run.mlockall);
    assert_eq!(
        args.echo,
        ["Ports to start sending a burst of packets first"]
    );
    let args = good("--mask-event all --print-event intr_lsc --print-event=ipsec");
    assert_eq!(args.run.printed_events, 0b10_0010);
    assert_eq!(
        good("--mask-event=intr_lsc").run.printed_events,
        events::DEFAULT & !2
    );
    assert!(good("--help --nosuch").help);
    let many = vec!["--cmdline-file=a"; 17].join(" ");
    assert!(error(&many).contains("16"));
}

#[test]
fn run_control_that_are_wrong() {
    for line in [
        "--stats-period=abc",
        "--stats-period=-1",
        "--stats-period=0",
        "--stats-period=65535",
        "--print-event=x",
        "--num-procs=0",
        "--proc-id=1",
        "--proc-id=-1",
        "--cmdline-file=",
    ] {
        assert!(read_line(line).is_err(), "{line}");
    }
    assert!(error("-i --tx-first").contains("start tx_first"));
    assert!(notices(&good("-i --stats-period=1"))[0].starts_with("--stats-period has no effect"));
    assert_eq!(good("--num-procs=1 --proc-id=0").run.num_procs, 1);
}

#[test]
fn ports_and_cores() {
    let args = good("--portmask=0x5 --nb-ports=1 --nb-cores=2 --port-topology=loop");
    assert_eq!(args.ports.selection, PortSelection::Mask(vec![0, 2]));
    assert_eq!(args.ports.nb_ports, Some(1));
    assert_eq!(args.ports.topology, Topology::Loop);
    // The later selection holds, and takes a count before it back.
    let args = good("--nb-ports=1 --portmask=f --portlist=0,2,1,3");
    assert_eq!(args.ports.selection, PortSelection::List(vec![0, 2, 1, 3]));
    assert_eq!(args.ports.nb_ports, None);
    assert_eq!(
        good("--portlist=0,2-4,3").ports.selection,
        PortSelection::List(vec![0, 2, 3, 4])
    );
    assert_eq!(
        good("-p 3").ports.selection,
        PortSelection::Mask(vec![0, 1])
    );
    assert_eq!(notices(&good("-p 3")), ["-p is deprecated; use --portmask"]);
    let args = good("--nb-cores=9 --coremask=0x6");
    assert_eq!(args.ports.coremask, Some([1, 2].into()));
    assert_eq!(args.ports.nb_cores, None);
    assert_eq!(
        args.echo,
        ["previous number of forwarding cores 9 - changed to number of configured cores 2"]
    );
    assert_eq!(good("--coremask=0x6 --nb-cores=1").ports.nb_cores, Some(1));
    assert!(good("--coremask=2").echo.is_empty());
    let args = good("--eth-peer=1,02:00:00:00:00:09 --eth-peer=0,0200.0000.00ab");
    assert_eq!(
        args.ports.peers,
        [
            (1, MacAddr([2, 0, 0, 0, 0, 9])),
            (0, MacAddr([2, 0, 0, 0, 0, 0xab]))
        ]
    );
}

#[test]
fn ports_and_cores_that_are_wrong() {
    for line in [
        "--nb-cores=0",
        "--nb-cores=x",
        "--coremask=0",
        "--coremask=xyz",
        "--portmask=0",
        "--portmask=g",
        "--portlist=",
        "--portlist=a",
        "--portlist=1-",
        "--portlist=1,",
        "--nb-ports=0",
        "--eth-peer=32,02:00:00:00:00:09",
        "--eth-peer=0",
        "--eth-peer=0,02:00",
        "--port-topology=ring",
        "--forward-mode=",
        "--eth-peers-configfile=",
    ] {
        assert!(read_line(line).is_err(), "{line}");
    }
    assert_eq!(
        good("--hairpinq=0 --hairpin-mode=0x0").notices,
        Notices::default()
    );
    assert!(matches!(
        read_line("--hairpinq=1"),
        Err(ArgError::Unsupported { .. })
    ));
}

#[test]
fn names_of_other_crates() {
    let args = good("--forward-mode=macswap --macswap=scalar --copy libc --isolate-pools");
    assert_eq!(args.ports.forward_mode.as_deref(), Some("macswap"));
    assert_eq!(args.own.macswap.as_deref(), Some("scalar"));
    assert!(args.own.isolate_pools);
    assert_eq!(args.echo, ["Set macswap packet forwarding mode"]);
    assert_eq!(
        error("--forward-mode=shared-rxq"),
        "--forward-mode: `shared-rxq` is unknown; did you mean `shared_rxq`? There are io, mac, macswap, shared_rxq"
    );
    assert_eq!(
        error("--forward-mode=nosuch"),
        "--forward-mode: `nosuch` is unknown; give one of io, mac, macswap, shared_rxq"
    );
    assert!(error("--macswap=x9").contains("give one of auto, scalar"));
    // Our own names can't be shortened, so DPDK's abbreviations keep their meaning.
    assert!(error("--macs=scalar").contains("can't be shortened"));
    assert!(good("--i").run.interactive);
}

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

#[test]
fn files_of_peers() {
    let text = "02:00:00:00:00:01\n0200.0000.0002\n";
    let macs = parse_peers(text).unwrap();
    assert_eq!(
        macs,
        [MacAddr([2, 0, 0, 0, 0, 1]), MacAddr([2, 0, 0, 0, 0, 2])]
    );
    let error = parse_peers("02:00:00:00:00:01\nnonsense").unwrap_err();
    assert_eq!(error.line, 2);
    assert_eq!(
        parse_peers(&"02:00:00:00:00:01\n".repeat(40))
            .unwrap()
            .len(),
        32
    );
}
