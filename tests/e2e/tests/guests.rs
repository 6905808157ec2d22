//! Linux guests behind vhost ports: another project's driver, which sleeps, must be woken, and negotiates as it likes.
//!
//! The short forms are here; `cargo xtask soak guests` runs those that are marked as long.

use mpps_e2e::back_end::BackEnd;
use mpps_e2e::guest::{Guest, Nic, Setup, can_run};

/// What runs in the guests.
const PROBE: &str = env!("CARGO_BIN_EXE_guest_probe");

/// An address that icmpecho answers for, and the hardware address that goes with it.
const ECHO: &str = "192.168.7.2";

fn start(setup: &Setup) -> Guest {
    Guest::start(setup).expect("what it needs was there a moment ago")
}

/// Gives a guest's first card an address, and the far end a fixed one: no ARP request wakes a queue that lost a call.
fn set_up(guest: &mut Guest, host: u8) {
    guest.run(&format!(
        "ip addr add 192.168.7.{host}/24 dev eth0 && ip link set eth0 up"
    ));
    guest.run(&format!("arp -s {ECHO} 52:54:00:00:00:02"));
}

#[test]
fn echo_requests_come_back_whole() {
    if !can_run("echo_requests_come_back_whole") {
        return;
    }
    let back = BackEnd::start(&[""], &["--forward-mode=icmpecho"]);
    let mut guest = start(&Setup::new(1, PROBE, vec![Nic::on(back.socket(0))]));
    guest.wait_until_up();
    set_up(&mut guest, 1);
    let text = guest.run(&format!("probe ping {ECHO} 300 1 2000; probe ping {ECHO} 1000 32 0; ethtool -S eth0; cat /proc/interrupts"));
    println!("{text}");
    guest.power_off();
    println!("{}", back.said());
    println!("{}", back.quit());
}
