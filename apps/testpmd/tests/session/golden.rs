//! Sessions against recorded ones, command by command.

use super::differences::{DPDK_ONLY, Difference, Instead, NULL};
use super::rig::{Run, alone, skip, two_cpus};
use super::transcript::{Exchange, exchanges, masked, without_figures};

/// Holds one session with the commands of a recorded one and returns its text.
fn replay(args: &[&str], recorded: &[Exchange]) -> String {
    replay_when(args, recorded, |_| ())
}

/// The same, after some waiting.
fn replay_when(args: &[&str], recorded: &[Exchange], ready: fn(&mut Run)) -> String {
    let mut run = Run::ours(args);
    run.wait_for("testpmd> ", 1);
    ready(&mut run);
    for exchange in recorded {
        if exchange.command == "quit" {
            break;
        }
        run.command(&exchange.command);
        if exchange.command.starts_with("start") {
            // So that the workers come to poll.
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
    run.send("quit\n");
    let ended = run.end();
    assert!(ended.status.success(), "{}", ended.text);
    ended.text
}

/// The lines that both programs print; runs of empty lines as one.
pub(crate) fn common(lines: &[String]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in lines {
        let ours_alone = line.starts_with("mpps: ");
        if ours_alone || DPDK_ONLY.iter().any(|(begin, _)| line.starts_with(begin)) {
            continue;
        }
        if !(line.is_empty() && out.last().is_some_and(String::is_empty)) {
            out.push(line.clone());
        }
    }
    out
}

/// What differs and isn't meant to, in one text.
fn compare(recorded: &[Exchange], ours: &[Exchange], meant: &[Difference]) -> String {
    let mut faults = String::new();
    for (at, (want, have)) in recorded.iter().zip(ours).enumerate() {
        assert_eq!(want.command, have.command, "the sessions got out of step");
        let occurrence = recorded[..at]
            .iter()
            .filter(|other| other.command == want.command)
            .count();
        let meant = meant.iter().find(|one| {
            one.command == want.command && one.occurrence.is_none_or(|nth| nth == occurrence)
        });
        let same = match meant.map(|one| &one.instead) {
            None => common(&want.reply) == common(&have.reply),
            Some(Instead::Begins(text)) => have.reply.join("\n").starts_with(text),
            Some(Instead::Figures) => {
                let plain = |lines: &[String]| {
                    common(lines)
                        .iter()
                        .map(|line| without_figures(line))
                        .collect::<Vec<_>>()
                };
                plain(&want.reply) == plain(&have.reply)
            }
        };
        if !same {
            faults += &format!(
                "--- {} (occurrence {occurrence})\nrecorded:\n{}\nours:\n{}\n",
                want.command,
                want.reply.join("\n"),
                have.reply.join("\n")
            );
        }
    }
    faults
}

#[test]
fn two_null_ports() {
    if !two_cpus("session_two_null_ports") {
        return;
    }
    let _turn = alone();
    let (head, recorded) = exchanges(include_str!("../golden/null.txt"));
    let args = [
        "--vdev",
        "net_null0,no-rx=1",
        "--vdev",
        "net_null1,no-rx=1",
        "--",
        "-i",
        "--total-num-mbufs=8192",
    ];
    // The recorded ports had no arguments; with a burst of 0 they received nothing either.
    let text = replay(&args, &recorded).replace("Devargs: no-rx=1", "Devargs: ");
    let (our_head, ours) = exchanges(&text);
    assert_eq!(common(&head), common(&our_head));
    assert_eq!(recorded.len(), ours.len());
    let faults = compare(&recorded, &ours, NULL);
    assert!(faults.is_empty(), "{faults}");
}

/// The folder of captures; none, and a word about it, where it isn't named.
pub(crate) fn capture(test: &str) -> Option<String> {
    let found = std::env::var("MPPS_CAPTURES")
        .ok()
        .map(|folder| format!("{folder}/mixed.pcap"));
    if found.is_none() {
        skip(test, "MPPS_CAPTURES is not set", "data");
    }
    found
}

/// What is asked until the whole capture went through.
const WAITING: &str = "show fwd stats all";

fn all_forwarded(run: &mut Run) {
    let start = std::time::Instant::now();
    while !run.text().contains("TX-total: 179") {
        run.command(WAITING);
        assert!(start.elapsed().as_secs() < 10, "{}", run.text());
    }
}

#[test]
fn a_capture_through_macswap() {
    let Some(capture) = capture("session_macswap") else {
        return;
    };
    let _turn = alone();
    let (head, recorded) = exchanges(include_str!("../golden/pcap.txt"));
    let device = format!("net_pcap0,rx_pcap={capture},tx_pcap=/dev/null");
    let args = [
        "--vdev",
        &device,
        "--",
        "-i",
        "-a",
        "--forward-mode=macswap",
        "--total-num-mbufs=8192",
        "--port-topology=chained",
    ];
    let text = replay_when(&args, &recorded, all_forwarded);
    let (our_head, mut ours) = exchanges(&text);
    ours.retain(|one| one.command != WAITING);
    assert_eq!(common(&head), common(&our_head));
    let faults = compare(&recorded, &ours, &[]);
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn packets_in_words() {
    let Some(capture) = capture("session_verbose") else {
        return;
    };
    let _turn = alone();
    let device = format!("net_pcap0,rx_pcap={capture},tx_pcap=/dev/null");
    let mut run = Run::ours(&[
        "--vdev",
        &device,
        "--",
        "-i",
        "--total-num-mbufs=8192",
        "--port-topology=chained",
    ]);
    run.wait_for("testpmd> ", 1);
    for command in ["set fwd rxonly", "set verbose 1", "start"] {
        run.command(command);
    }
    run.wait_for("received 19 packets", 1);
    run.send("stop\nquit\n");
    let text = run.end().text;
    // The prompt may come in between, at the beginning of a line.
    let dump = |text: &str| -> Vec<String> {
        let from = |line: &str| {
            let begins = ["port 0/queue 0: received", "  src=", "  ol_flags: "];
            begins
                .iter()
                .find_map(|begin| line.find(begin))
                .map(|at| line[at..].to_owned())
        };
        text.lines().filter_map(from).collect()
    };
    let want = dump(include_str!("../golden/verbose.txt"));
    assert_eq!(want.len(), 179 * 2 + 6);
    assert_eq!(dump(&text), want);
}

#[test]
fn statistics_by_the_second() {
    if !two_cpus("session_stats_period") {
        return;
    }
    let _turn = alone();
    let args = [
        "--vdev",
        "net_null0",
        "--vdev",
        "net_null1",
        "--",
        "--stats-period",
        "1",
        "--forward-mode=csum",
    ];
    let mut run = Run::ours(&[&args[..], &["--total-num-mbufs=8192"]].concat());
    run.wait_for("Tx-pps:", 4);
    run.signal("INT");
    let ended = run.end();
    assert!(ended.status.success(), "{}", ended.text);
    let plain = |text: &str| -> Vec<String> {
        let text = text.replace('\x1b', "^[");
        let lines: Vec<String> = text.lines().map(masked).collect();
        common(&lines)
            .iter()
            .map(|line| without_figures(line))
            .collect()
    };
    assert_eq!(
        plain(&ended.text),
        plain(include_str!("../golden/stats-period.txt"))
    );
}
