//! Packets of 8000 bytes in chains of four, as DPDK's test plans send them, and pools of one's own.

use super::rig::{BACK, Call, FRONT, Pair, ask, figure, receives};

/// Front end, and options of both programs; what makes one mbuf too small for a frame goes to the front end alone, as a
/// vhost port takes chains unasked.
const SETTINGS: &[(&str, &[&str])] = &[
    (FRONT, &[]),
    (FRONT, &["--isolate-pools"]),
    (FRONT, &["--max-pkt-len=9600", "--enable-scatter"]),
    (FRONT, &["--mbuf-size=9856", "--max-pkt-len=9600"]),
    (
        FRONT,
        &[
            "--tx-offloads=0x8000",
            "--mbuf-size=1024",
            "--enable-scatter",
        ],
    ),
    (
        "net_virtio_user0,path=./sock,server=1,mrg_rxbuf=0,in_order=0",
        &["--mbuf-size=9856", "--max-pkt-len=9600"],
    ),
    (
        "net_virtio_user0,path=./sock,server=1,packed_vq=1,queue_size=1024",
        &["--max-pkt-len=9600", "--enable-scatter"],
    ),
];

/// Each side sends chains that the other receives whole.
#[test]
fn chains_of_8000_bytes_both_ways() {
    for (n, (device, options)) in SETTINGS.iter().enumerate() {
        let options = [&["-i"], *options].concat();
        let mut of_back = options.clone();
        of_back.retain(|option| *option != "--enable-scatter");
        let mut pair = Pair::of(
            &format!("chains{n}"),
            Call::of(&[device]).with(&options),
            Call::of(&[BACK]).with(&of_back),
        );
        let lengths = if options.contains(&"--mbuf-size=1024") {
            "800,800,800,800,800,800,800,800,800,800"
        } else {
            "2000,2000,2000,2000"
        };
        for front_sends in [true, false] {
            let (tx, rx) = if front_sends {
                (&mut pair.front, &mut pair.back)
            } else {
                (&mut pair.back, &mut pair.front)
            };
            ask(rx, "set fwd rxonly");
            ask(tx, "set fwd txonly");
            ask(tx, &format!("set txpkts {lengths}"));
            ask(rx, "start");
            ask(tx, "start");
            receives(rx, 0);
            ask(tx, "stop");
            ask(rx, "stop");
            let counted = ask(rx, "show port xstats 0");
            let value =
                |name| figure(&counted, name).unwrap_or_else(|| panic!("{name}: {counted}"));
            let packets = value("rx_good_packets");
            assert!(packets > 0);
            assert_eq!(
                value("rx_good_bytes"),
                packets * 8000,
                "{device} {options:?}"
            );
            assert_eq!(value("rx_q0_size_1519_max_packets"), packets);
            assert_eq!(value("rx_errors"), 0);
        }
        pair.quit();
    }
}

/// Packets of a pool that isn't lent are copied; everything else is as ever.
#[test]
fn isolated_pools() {
    let options = &["-i", "--isolate-pools", "--forward-mode=macswap"];
    let mut pair = Pair::of(
        "isolated",
        Call::of(&["net_null0", FRONT]).with(options),
        Call::of(&[BACK]).with(options),
    );
    ask(&mut pair.back, "start");
    // Packets of the null port's pool go out through the front end.
    ask(&mut pair.front, "start");
    receives(&mut pair.back, 0);
    receives(&mut pair.front, 1);
    ask(&mut pair.front, "stop");
    ask(&mut pair.back, "stop");
    pair.quit();
}
