//! testpmd's options: defaults, what each means, order, refusals.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use mpps_wire::MacAddr;

use super::*;

mod data;

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
