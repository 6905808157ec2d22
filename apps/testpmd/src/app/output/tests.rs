//! Order and wholeness of what the console and ports write.

use super::*;

#[test]
fn both_streams_keep_their_text() {
    let mut out = Output::captured();
    out.block("a\nb\n");
    out.complain("oh");
    out.line("c");
    let text = out.take();
    assert_eq!(
        (text.out.as_str(), text.err.as_str()),
        ("a\nb\nc\n", "oh\n")
    );
    assert_eq!(out.take(), Captured::default());
}

#[test]
fn a_port_speaks_behind_what_was_said() {
    let mut out = Output::captured();
    let voice = out.voice().unwrap();
    out.block("block\n");
    voice.say("event\n".to_owned());
    out.line("line");
    assert_eq!(out.take().out, "block\nevent\nline\n");
}

#[test]
fn a_port_waits_while_the_console_is_in_the_middle_of_something() {
    let mut out = Output::captured();
    let voice = out.voice().unwrap();
    write!(out, "help: ").unwrap();
    voice.say("\nPort 0: queue state event\n".to_owned());
    voice.complain("mpps: port 0: gone");
    writeln!(out, "end").unwrap();
    write!(out, "testpmd> ").unwrap();
    out.flush().unwrap();
    voice.say("\nlate\n".to_owned());
    let text = out.take();
    assert_eq!(
        text.out,
        "help: end\ntestpmd> \nPort 0: queue state event\n\nlate\n"
    );
    assert_eq!(text.err, "mpps: port 0: gone\n");
}

#[test]
fn the_printer_writes_while_the_console_waits() {
    let mut out = Output::captured();
    let voice = out.voice().unwrap();
    voice.say("now\n".to_owned());
    let start = std::time::Instant::now();
    let written = || match &*held(&out.shared.sink) {
        Sink::Captured(text) => text.out == "now\n",
        Sink::Standard => false,
    };
    while !written() {
        assert!(start.elapsed().as_secs() < 10, "nothing was written");
        std::thread::yield_now();
    }
}

#[test]
fn blocks_of_many_threads_stay_whole() {
    let mut out = Output::captured();
    let voice = out.voice().unwrap();
    let port = std::thread::spawn(move || {
        for _ in 0..1000 {
            voice.say("<event\nof two lines>\n".to_owned());
        }
    });
    for n in 0..1000 {
        if n % 3 == 0 {
            write!(out, "[written").unwrap();
            writeln!(out, " in parts]").unwrap();
            out.flush().unwrap();
        } else {
            out.block("[block\nof lines]\n");
        }
    }
    port.join().unwrap();
    let text = out.take().out;
    let rest = text
        .replace("<event\nof two lines>\n", "")
        .replace("[written in parts]\n", "")
        .replace("[block\nof lines]\n", "");
    assert_eq!(rest, "");
    assert_eq!(text.matches("event").count(), 1000);
    assert_eq!(text.matches('[').count(), 1000);
}

#[test]
fn ports_that_nobody_reads_take_bounded_memory() {
    let mut out = Output::captured();
    let voice = out.voice().unwrap();
    let line = "x".repeat(99) + "\n";
    // As a reader who has stopped reading: nothing can be written.
    let stuck = out.shared.clone();
    let sink = held(&stuck.sink);
    for _ in 0..10_000 {
        voice.say(line.clone());
    }
    // The printer may have taken what there was once.
    let kept = held(&out.shared.text).bytes;
    assert!(kept <= KEPT + line.len(), "{kept}");
    drop(sink);
    let text = out.take();
    assert!(text.out.len() <= 2 * (KEPT + line.len()));
    voice.say("end\n".to_owned());
    let text = out.take();
    assert!(text.err.starts_with("mpps: ") && text.err.contains(" texts of ports are left out"));
}

#[test]
fn what_waits_is_accounted_for() {
    let mut out = Output::captured();
    let voice = out.voice().unwrap();
    write!(out, "part").unwrap();
    voice.say("event\n".to_owned());
    assert_eq!(held(&out.shared.text).bytes, 10);
    out.flush().unwrap();
    assert_eq!(held(&out.shared.text).bytes, 0);
}
