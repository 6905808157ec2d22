//! Echo requests through icmpecho: the guest's driver sleeps until it is called, and our port polls and wants no kicks.

use mpps_e2e::back_end::BackEnd;
use mpps_e2e::guest::{Guest, Nic, Setup, can_run};
use mpps_e2e::report::streamed;

use super::{PROBE, boot, counters, ping, set_up, start};

/// The ways through the rings that a guest can choose, by what QEMU offers.
const WAYS: [&str; 9] = [
    "",
    "event_idx=off",
    "indirect_desc=off",
    "mrg_rxbuf=off",
    "disable-modern=on,disable-legacy=off",
    "packed=on",
    "packed=on,event_idx=off",
    "packed=on,indirect_desc=off",
    "packed=on,mrg_rxbuf=off",
];

/// Lone requests wake the guest one by one, crowds in batches; and for thousands of packets there are next to no kicks.
fn check_wakes(guest: &mut Guest, count: u32) {
    let before: u64 = counters(guest, "_kicks").iter().map(|row| row.1).sum();
    ping(guest, count, 1, 3000);
    ping(guest, 2 * count, 1, 0);
    ping(guest, 4 * count, 32, 0);
    let rows = counters(guest, "_kicks");
    let kicks = rows.iter().map(|row| row.1).sum::<u64>() - before;
    println!("{kicks} kicks for {} packets", 7 * count);
    assert!(
        !rows.is_empty() && kicks <= 8 + u64::from(count) / 50,
        "{kicks} kicks: {rows:?}"
    );
}

fn echo_in_this_way(properties: &str, count: u32) {
    let back = BackEnd::start(&[""], &["--forward-mode=icmpecho"]);
    let mut guest = boot(1, Nic::on(back.socket(0)).with(properties));
    set_up(&mut guest, 1);
    check_wakes(&mut guest, count);
    guest.power_off();
    back.quit();
}

/// The short form of the next one, with a second boot that negotiates anew.
#[test]
fn a_guest_is_woken_before_and_after_a_reboot() {
    if !can_run("echo::a_guest_is_woken_before_and_after_a_reboot") {
        return;
    }
    let back = BackEnd::start(&[""], &["--forward-mode=icmpecho"]);
    let mut setup = Setup::new(1, PROBE, vec![Nic::on(back.socket(0))]);
    setup.reboots = true;
    let mut guest = start(&setup);
    for round in 0..2 {
        guest.wait_until_up();
        set_up(&mut guest, 1);
        check_wakes(&mut guest, 200);
        if round == 0 {
            guest.send("reboot -f");
        }
    }
    guest.power_off();
    back.quit();
}

/// A wake-up that is lost leaves a request without a reply for ever.
#[test]
#[ignore = "long: a boot and some thousand echo requests for each way through the rings"]
fn no_wake_up_is_lost_in_any_way_through_the_rings() {
    if !can_run("echo::no_wake_up_is_lost_in_any_way_through_the_rings") {
        return;
    }
    for properties in WAYS {
        println!("virtio-net-pci,{properties}");
        echo_in_this_way(properties, 1500);
    }
}

/// Every virtual CPU has a queue pair of its own; the packets of all of them come back where they came from.
fn all_queues_carry(queues: u16, properties: &str) {
    let (port, rxq, txq) = (
        format!("queues={queues}"),
        format!("--rxq={queues}"),
        format!("--txq={queues}"),
    );
    let back = BackEnd::start(&[&port], &["--forward-mode=icmpecho", &rxq, &txq]);
    let mut nic = Nic::on(back.socket(0)).with(properties);
    nic.queues = queues;
    let mut setup = Setup::new(1, PROBE, vec![nic]);
    setup.cpus = queues;
    let mut guest = start(&setup);
    guest.wait_until_up();
    set_up(&mut guest, 1);
    // Down to one pair and up again: the port follows what the guest enables.
    for pairs in [1, queues] {
        guest.run(&format!("ethtool -L eth0 combined {pairs} 2>&1 || ethtool -l eth0 | grep -q 'Combined:.*{pairs}'"));
        for cpu in 0..queues {
            guest.run(&format!(
                "taskset {:x} probe ping {} 500 8 0",
                1 << cpu,
                super::ECHO
            ));
        }
    }
    let rows = [
        counters(&mut guest, "_packets"),
        counters(&mut guest, "_kicks"),
    ]
    .concat();
    for queue in 0..queues {
        for name in [
            format!("rx_queue_{queue}_packets"),
            format!("tx_queue_{queue}_packets"),
        ] {
            let row = rows.iter().find(|row| row.0 == name);
            assert!(row.is_some_and(|row| row.1 > 0), "{name}: {rows:?}");
        }
    }
    guest.power_off();
    let stop = back.quit();
    let streams = streamed(&stop);
    let idle = streams.iter().filter(|stream| stream.rx == 0).count();
    assert!(
        streams.len() == usize::from(queues) && idle == 0,
        "{streams:?}"
    );
}

#[test]
#[ignore = "long: a boot for each number of queues and kind of ring"]
fn every_queue_pair_carries_packets() {
    if !can_run("echo::every_queue_pair_carries_packets") {
        return;
    }
    for (queues, properties) in [(2, ""), (4, ""), (2, "packed=on")] {
        println!("{queues} queue pairs, virtio-net-pci,{properties}");
        all_queues_carry(queues, properties);
    }
}
