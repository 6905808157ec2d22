//! `cargo xtask bench`: a table of packet rates of the standard scenarios. Absolute rates drift with the machine: compare
//! them within one run only, and use `check` for anything that is promised.

use std::path::PathBuf;
use std::time::Duration;

use crate::session::{self, Counter, Scenario};
use crate::shell::{self, Workspace};

const NULL_PORTS: &[&str] = &["net_null0", "net_null1"];
const RING_PORTS: &[&str] = &["net_ring0", "net_ring1"];

const fn null(
    name: &'static str,
    arguments: &'static [&'static str],
    counter: Counter,
) -> Scenario {
    Scenario {
        name,
        lcores: "0@1,1@0",
        vdevs: NULL_PORTS,
        arguments,
        start: "start",
        counter,
    }
}

const SCENARIOS: &[Scenario] = &[
    null("null-io", &["--forward-mode=io"], Counter::Received),
    null("null-mac", &["--forward-mode=mac"], Counter::Received),
    null(
        "null-macswap",
        &["--forward-mode=macswap"],
        Counter::Received,
    ),
    null("null-csum", &["--forward-mode=csum"], Counter::Received),
    null("null-rxonly", &["--forward-mode=rxonly"], Counter::Received),
    null("null-txonly", &["--forward-mode=txonly"], Counter::Sent),
    null("null-flowgen", &["--forward-mode=flowgen"], Counter::Sent),
    Scenario {
        lcores: "0@0,1@0,2@1",
        ..null(
            "null-macswap-2core",
            &["--forward-mode=macswap", "--nb-cores=2"],
            Counter::Received,
        )
    },
    Scenario {
        vdevs: RING_PORTS,
        start: "start tx_first 32",
        ..null("ring-io", &["--forward-mode=io"], Counter::Received)
    },
];

/// The verb.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let names = shell::only_options(arguments, &[], &["--seconds", "--program"])?;
    let seconds = shell::option(arguments, "--seconds").unwrap_or("2");
    let seconds: u64 = seconds
        .parse()
        .map_err(|_| format!("--seconds: '{seconds}' is not a whole number"))?;
    if let Some(name) = names.iter().find(|name| {
        SCENARIOS
            .iter()
            .all(|scenario| scenario.name != name.as_str())
    }) {
        let known: Vec<&str> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
        return Err(format!(
            "no scenario '{name}'; there are {}",
            known.join(", ")
        ));
    }
    let program = match shell::option(arguments, "--program") {
        Some(path) => PathBuf::from(path),
        None => Workspace::read()?.release_programs()?.join("testpmd"),
    };
    println!("{:24} {:>10}", "scenario", "Mpps");
    let mut failed = 0;
    for scenario in SCENARIOS
        .iter()
        .filter(|one| names.is_empty() || names.iter().any(|name| name == one.name))
    {
        match session::rate(&program, scenario, Duration::from_secs(seconds.max(1))) {
            Ok(rate) => println!("{:24} {rate:>10.2}", scenario.name),
            Err(why) => {
                failed += 1;
                println!("{:24} {why}", scenario.name);
            }
        }
    }
    if failed == 0 {
        Ok(())
    } else {
        Err(format!("{failed} scenarios have no rate"))
    }
}
