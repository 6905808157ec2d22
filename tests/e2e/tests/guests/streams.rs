//! TCP between two guests on two ports that are forwarded by `io`: checksums that nobody has computed yet and packets
//! larger than any wire has must arrive as what they stand for.

use mpps_e2e::back_end::BackEnd;
use mpps_e2e::guest::{Nic, Setup, can_run};

use super::{PROBE, TRAFFIC, set_up, start};

/// A card that leaves nothing to others: what comes for it must have been finished before.
const PLAIN: &str = "csum=off,guest_csum=off,gso=off,host_tso4=off,host_tso6=off,host_ecn=off,host_ufo=off,\
    guest_tso4=off,guest_tso6=off,guest_ecn=off,guest_ufo=off";

/// The largest frame of an ordinary MTU is smaller than what this counter counts.
const LARGER: &str = "rx_q0_size_1519_max_packets";

/// Sends so many bytes each way, checked at both ends; with `large`, some packets must have been larger than the MTU.
fn transfer(port: &str, cards: [&str; 2], bytes: usize, large: bool) {
    println!(
        "{port:?}: virtio-net-pci,{} with virtio-net-pci,{}",
        cards[0], cards[1]
    );
    let mut back = BackEnd::start(&[port, port], &["--forward-mode=io"]);
    let mut guests = [1u8, 2].map(|number| {
        let at = usize::from(number) - 1;
        let nic = Nic::on(back.socket(at)).with(cards[at]);
        start(&Setup::new(number, PROBE, vec![nic]))
    });
    for (guest, number) in guests.iter_mut().zip(1..) {
        guest.wait_until_up();
        set_up(guest, number);
    }
    let [one, two] = &mut guests;
    two.run(&format!("probe serve 7 {bytes} >/tmp/served 2>&1 &"));
    let (status, text) = one.attempt_within(
        &format!("probe transfer 192.168.7.2 7 {bytes}; s=$?; grep ^Tcp: /proc/net/snmp; ethtool -S eth0; exit $s"),
        TRAFFIC,
    );
    let served = two
        .attempt("cat /tmp/served; grep ^Tcp: /proc/net/snmp; ethtool -S eth0")
        .1;
    let ports = back.ask("show port xstats all");
    assert_eq!(
        status,
        0,
        "{text}\nthe other end: {served}\n{ports}\n{}",
        back.session.stderr()
    );
    println!("{}", text.lines().next().unwrap_or_default());
    let seen: u64 = (0..2).map(|port| back.xstat(port, LARGER)).sum();
    assert!(
        !large || seen > 0,
        "no packet was larger than the MTU: {ports}"
    );
    for guest in guests {
        guest.power_off();
    }
    back.quit();
}

/// The short form: the newest ring, and checksums and segments left to the other end.
#[test]
fn a_stream_between_two_guests_arrives_whole() {
    if can_run("streams::a_stream_between_two_guests_arrives_whole") {
        transfer("tso=1", ["packed=on", "packed=on"], 4 << 20, true);
    }
}

#[test]
#[ignore = "long: two boots and 16 MiB each way for each pair of cards"]
fn streams_arrive_whole_whatever_each_end_leaves_to_the_other() {
    if !can_run("streams::streams_arrive_whole_whatever_each_end_leaves_to_the_other") {
        return;
    }
    let packed = format!("packed=on,{PLAIN}");
    let cases = [
        ("tso=1", ["", ""], true),
        ("", ["", ""], false),
        ("tso=1", ["packed=on", ""], true),
        ("tso=1", ["mrg_rxbuf=off", "mrg_rxbuf=off"], true),
        ("tso=1", ["", PLAIN], true),
        ("tso=1", [PLAIN, ""], true),
        ("tso=1", [&packed, "packed=on"], true),
        ("", [PLAIN, PLAIN], false),
    ];
    for (port, cards, large) in cases {
        transfer(port, cards, 16 << 20, large);
    }
}
