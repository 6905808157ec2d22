//! Guests that go and come back: reboots, firmware that drives the card before Linux does, guests that are killed.

use std::thread;
use std::time::Duration;

use mpps_e2e::back_end::{BackEnd, Program};
use mpps_e2e::guest::{Firmware, Nic, Setup, can_run};
use mpps_e2e::report::nics;

use super::{ECHO, PROBE, boot, ping, set_up, start};

/// How often the program has said that a port's link changed.
fn link_changes(back: &BackEnd) -> usize {
    back.session
        .stdout()
        .matches("link state change event")
        .count()
}

#[test]
#[ignore = "long: three boots for each kind of ring"]
fn a_guest_reboots_again_and_again() {
    if !can_run("endings::a_guest_reboots_again_and_again") {
        return;
    }
    for properties in ["", "packed=on"] {
        let back = BackEnd::start(&[""], &["--forward-mode=icmpecho"]);
        let nic = Nic::on(back.socket(0)).with(properties);
        let mut setup = Setup::new(1, PROBE, vec![nic]);
        setup.reboots = true;
        let mut guest = start(&setup);
        for round in 0..3 {
            guest.wait_until_up();
            set_up(&mut guest, 1);
            ping(&mut guest, 500, 8, 500);
            // Up once at first, down and up again with each reboot.
            assert!(link_changes(&back) > 2 * round, "{}", back.said());
            if round < 2 {
                guest.run(&format!("probe flood {ECHO} >/dev/null 2>&1 &"));
                guest.send("reboot -f");
            }
        }
        guest.power_off();
        back.quit();
    }
}

/// The card's boot code asks the network for a system, with a driver of its own that negotiates less; then Linux comes.
#[test]
#[ignore = "long: a boot over a network under emulation"]
fn firmware_drives_the_card_before_linux_does() {
    if !can_run("endings::firmware_drives_the_card_before_linux_does") {
        return;
    }
    for properties in ["", "packed=on"] {
        let mut back = BackEnd::start(&[""], &["--forward-mode=icmpecho"]);
        let nic = Nic::on(back.socket(0)).with(properties);
        let mut setup = Setup::new(1, PROBE, vec![nic]);
        setup.firmware = Firmware::Network;
        let mut guest = start(&setup);
        guest.wait_until_up();
        let text = guest.text();
        assert!(text.contains("iPXE"), "the boot code said nothing: {text}");
        let asked = nics(&back.ask("show port stats 0"))[0].rx[0];
        assert!(asked > 0, "the boot code sent nothing: {}", back.said());
        set_up(&mut guest, 1);
        ping(&mut guest, 500, 8, 500);
        // Up for the boot code, down behind it, up for Linux.
        assert!(
            link_changes(&back) >= 3,
            "nothing was negotiated anew: {}",
            back.said()
        );
        let said = back.session.stderr();
        let took: Vec<&str> = said
            .lines()
            .filter(|line| line.contains("took features"))
            .collect();
        println!("{}", took.join("\n"));
        // The two drivers want different things; DPDK's program doesn't say so.
        assert!(
            back.program == Program::Dpdk || took.len() == 2,
            "{}",
            back.said()
        );
        guest.power_off();
        back.quit();
    }
}

/// QEMU is killed while its guest sends as fast as it can: the port waits for the next one, and serves it well.
#[test]
#[ignore = "long: six boots"]
fn a_killed_guest_is_replaced() {
    if !can_run("endings::a_killed_guest_is_replaced") {
        return;
    }
    for properties in ["", "packed=on"] {
        let back = BackEnd::start(&[""], &["--forward-mode=icmpecho"]);
        for round in 0..3 {
            let mut guest = boot(1, Nic::on(back.socket(0)).with(properties));
            set_up(&mut guest, 1);
            ping(&mut guest, 500, 8, 500);
            guest.run(&format!("probe flood {ECHO} >/dev/null 2>&1 &"));
            thread::sleep(Duration::from_millis(500 * round));
            guest.kill();
        }
        back.quit();
    }
}
