//! `port stop`, `port start`, `start` and their like in any order, on both sides: a start in good order then flows.

use super::rig::{Call, Pair, ask, linked};

const COMMANDS: &[&str] = &[
    "port stop 0",
    "port stop all",
    "port start 0",
    "port start all",
    "port reset 0",
    "start",
    "start tx_first 1",
    "stop",
    "stop",
    "clear port stats all",
    "clear port xstats all",
    "port 0 rxq 0 stop",
    "port 0 rxq 0 start",
    "port 0 txq 0 stop",
    "port 0 txq 0 start",
    "show port xstats 0",
];

/// A sequence of numbers that looks random; the seed makes a failure come again.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % end
    }
}

/// Whatever was done before.
fn start_in_good_order(pair: &mut Pair) {
    for run in [&mut pair.front, &mut pair.back] {
        for command in [
            "stop",
            "port 0 rxq 0 start",
            "port 0 txq 0 start",
            "port stop 0",
            "port start 0",
        ] {
            ask(run, command);
        }
    }
    linked(&mut pair.front, 0);
    linked(&mut pair.back, 0);
    pair.circulate();
}

fn any_order(name: &str, devices: [&str; 2], seeds: std::ops::Range<u64>) {
    let mut pair = Pair::of(name, Call::of(&devices[..1]), Call::of(&devices[1..]));
    for seed in seeds {
        let mut numbers = Numbers(seed);
        for _ in 0..10 {
            let command = COMMANDS[numbers.below(COMMANDS.len())];
            let run = if numbers.below(2) == 0 {
                &mut pair.front
            } else {
                &mut pair.back
            };
            ask(run, command);
        }
        println!("{name}: seed {seed}");
        start_in_good_order(&mut pair);
    }
    pair.quit();
}

#[test]
fn split_rings_take_any_order() {
    any_order("split", [super::rig::FRONT, super::rig::BACK], 0..8);
}

#[test]
fn packed_rings_take_any_order() {
    let devices = [
        "net_virtio_user0,path=./sock,packed_vq=1",
        "net_vhost0,iface=sock",
    ];
    any_order("packed", devices, 100..108);
}
