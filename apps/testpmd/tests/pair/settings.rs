//! What can and can't be set on the two ports, in DPDK's words.

use super::rig::{BACK, Call, FRONT, Pair, ask, linked};

/// Commands to either side and their answers.
const OF_BOTH: &[(&str, &str)] = &[
    ("set link-down port 0", "\nSet link down fail.\n"),
    ("set link-up port 0", "\nSet link up fail.\n"),
];

/// Promiscuous mode is off, as there is no control queue to ask for it; off it stays without a word.
const OF_FRONT: &[(&str, &str)] = &[
    ("set promisc 0 off", ""),
    ("set allmulti 0 off", ""),
    (
        "set promisc 0 on",
        "Error during enabling promiscuous mode for port 0: Operation not supported\n",
    ),
    (
        "set allmulti 0 on",
        "Error during enabling all-multicast mode for port 0: Operation not supported\n",
    ),
];

/// A back end takes whatever comes.
const OF_BACK: &[(&str, &str)] = &[
    ("set promisc 0 on", ""),
    ("set allmulti 0 on", ""),
    (
        "set promisc 0 off",
        "Error during disabling promiscuous mode for port 0: Operation not supported\n",
    ),
];

#[test]
fn ports_say_what_they_cannot() {
    let mut pair = Pair::of("settings", Call::of(&[FRONT]), Call::of(&[BACK]));
    let (front, back) = (&mut pair.front, &mut pair.back);
    for (run, own) in [(front, OF_FRONT), (back, OF_BACK)] {
        for (command, answer) in OF_BOTH.iter().chain(own) {
            assert_eq!(ask(run, command), format!("{command}\n{answer}testpmd> "));
        }
    }
    ask(&mut pair.back, "port stop 0");
    let refused = ask(&mut pair.back, "tso set 800 0");
    assert!(
        refused.contains("\nError: TSO is not supported by port 0\n"),
        "{refused}"
    );
    // What is refused changes nothing: packets still go round, as before.
    ask(&mut pair.back, "port start 0");
    linked(&mut pair.back, 0);
    linked(&mut pair.front, 0);
    pair.circulate();
    pair.quit();
}
