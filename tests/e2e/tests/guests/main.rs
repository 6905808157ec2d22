//! Linux guests behind vhost ports: another project's driver, which sleeps and must be woken, has its checksums left to
//! others, and negotiates as it likes.
//!
//! What runs by itself is short: three boots. The long forms are marked as ignored and run by `cargo xtask soak guests`,
//! or by `cargo test -p mpps_e2e --test guests -- --ignored --test-threads=1`. With `MPPS_GUEST_BACK_END=dpdk` the same
//! tests try DPDK's program: what fails with both is likely to be the test's fault, or QEMU's.

mod echo;
mod endings;
mod streams;

use std::time::Duration;

use mpps_e2e::guest::{Guest, Nic, Setup};

/// What runs in the guests.
const PROBE: &str = env!("CARGO_BIN_EXE_guest_probe");

/// An address that icmpecho answers for.
const ECHO: &str = "192.168.7.200";

/// How long a guest may take for some thousand packets, or some megabytes, on a machine that does much else.
const TRAFFIC: Duration = Duration::from_secs(240);

fn start(setup: &Setup) -> Guest {
    Guest::start(setup).expect("what it needs was there a moment ago")
}

/// Boots one guest with one card.
fn boot(number: u8, nic: Nic) -> Guest {
    let mut guest = start(&Setup::new(number, PROBE, vec![nic]));
    guest.wait_until_up();
    guest
}

/// Gives a guest's first card its address, and the far end a fixed one: no ARP request may wake a queue that lost a call.
fn set_up(guest: &mut Guest, number: u8) {
    guest.run(&format!(
        "ip addr add 192.168.7.{number}/24 dev eth0 && ip link set eth0 up && arp -s {ECHO} 52:54:00:00:00:02"
    ));
}

/// So many echo requests, `window` of them on their way at most, up to `pause` microseconds apart. Each reply is checked
/// in the guest, and none may take longer than five seconds.
fn ping(guest: &mut Guest, count: u32, window: u32, pause: u32) {
    let text = guest.run_within(
        &format!("probe ping {ECHO} {count} {window} {pause}"),
        TRAFFIC,
    );
    println!("{}", text.trim());
}

/// The sum of a card's counters whose names end so, from `ethtool -S eth0`; a row for each queue.
fn counters(guest: &mut Guest, ending: &str) -> Vec<(String, u64)> {
    let text = guest.run("ethtool -S eth0");
    let rows = text.lines().filter_map(|line| line.trim().split_once(": "));
    let rows = rows.filter(|(name, _)| name.ends_with(ending));
    rows.map(|(name, value)| (name.to_owned(), value.parse().expect("a counter")))
        .collect()
}
