//! A pipe as scripts use it, with real descriptors.

use std::os::fd::OwnedFd;

use super::*;
use crate::session::Ending;
use crate::testing::{Recorder, session};

fn pipe_with(bytes: &[u8]) -> (OwnedFd, OwnedFd) {
    let (input, sender) = rustix::pipe::pipe().expect("a pipe");
    rustix::io::write(&sender, bytes).expect("a pipe holds this much");
    (input, sender)
}

/// What a script that sends `bytes` and closes reads back.
fn transcript(bytes: &[u8]) -> (String, Ending) {
    let (input, sender) = pipe_with(bytes);
    drop(sender);
    let mut host = Recorder::default();
    let ending = session()
        .run(&mut host, &mut PipeSource::<_>::new(input, None))
        .expect("it runs");
    (host.text(), ending)
}

#[test]
fn prompt_and_echo_are_those_of_dpdk() {
    let (text, ending) =
        transcript(b"show port info 0\nfoo\nshow\n\n  # x\nset burst 08\nquit\nset burst 1\n");
    let wanted = "testpmd> show port info 0\r\nshow info 0\ntestpmd> foo\r\nCommand not found\ntestpmd> show\r\n\
                  Bad arguments\ntestpmd> \r\ntestpmd>   # x\r\ntestpmd> set burst 08\r\nBad arguments\ntestpmd> quit\r\n";
    assert_eq!((text.as_str(), ending), (wanted, Ending::Quit));
}

#[test]
fn the_input_is_finished_at_its_end() {
    let (text, ending) = transcript(b"set burst 1\nset burst 2");
    let wanted = "testpmd> set burst 1\r\nburst 1\ntestpmd> set burst 2\r\nburst 2\ntestpmd> ";
    assert_eq!((text.as_str(), ending), (wanted, Ending::EndOfInput));
    assert_eq!(transcript(b"").0, "testpmd> ");
}

#[test]
fn a_dropped_line_does_nothing() {
    assert_eq!(
        transcript(b"set burst\x03\x04set burst 1\n").0,
        "testpmd> set burst\r\ntestpmd> "
    );
}

#[test]
fn invalid_text_is_no_command() {
    let (text, _) = transcript(b"set burst \xff5\n\xc3\n");
    assert!(
        text.contains("Bad arguments\n") && text.contains("Command not found\n"),
        "{text}"
    );
}

#[test]
fn a_signal_ends_the_wait() {
    let (input, _sender) = pipe_with(b"set burst 1\nhalf a li");
    let (wake, ring) = rustix::pipe::pipe().expect("a pipe");
    let ringer = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        rustix::io::write(&ring, b"!").expect("room for one");
        ring
    });
    let mut host = Recorder::default();
    let mut source = PipeSource::new(input, Some(wake));
    let ending = session().run(&mut host, &mut source).expect("it runs");
    assert_eq!(ending, Ending::Interrupted);
    assert_eq!(host.text(), "testpmd> set burst 1\r\nburst 1\ntestpmd> ");
    // The descriptor was not emptied: it still says so.
    assert_eq!(
        source.next_line("", &mut host).expect("it waits"),
        Line::Interrupted
    );
    ringer.join().expect("it rang");
}

#[test]
fn a_signal_comes_before_lines_that_wait() {
    let (input, _sender) = pipe_with(b"set burst 1\nset burst 2\n");
    let (wake, ring) = rustix::pipe::pipe().expect("a pipe");
    drop(ring);
    let mut host = Recorder::default();
    let ending = session()
        .run(&mut host, &mut PipeSource::new(input, Some(wake)))
        .expect("it runs");
    assert_eq!(
        (ending, host.text().as_str()),
        (Ending::Interrupted, "testpmd> ")
    );
    let (input, _sender) = pipe_with(b"set burst 1\n");
    let mut host = Recorder {
        interrupted: true,
        ..Recorder::default()
    };
    let ending = session()
        .run(&mut host, &mut PipeSource::<_>::new(input, None))
        .expect("it runs");
    assert_eq!(ending, Ending::Interrupted);
}

#[test]
fn a_very_long_line_is_refused_and_the_next_one_read() {
    let (input, sender) = rustix::pipe::pipe().expect("a pipe");
    let writer = std::thread::spawn(move || {
        let mut bytes = vec![b'x'; 10 << 20];
        bytes.extend(b"\nset burst 1\n");
        let mut sent = 0;
        while sent < bytes.len() {
            sent += rustix::io::write(&sender, &bytes[sent..]).expect("the reader reads");
        }
    });
    let mut host = Recorder::default();
    session()
        .run(&mut host, &mut PipeSource::<_>::new(input, None))
        .expect("it runs");
    writer.join().expect("it wrote");
    assert!(host.out.len() < 2 * crate::MAX_LINE);
    assert!(
        host.text()
            .ends_with("\r\nBad arguments\ntestpmd> set burst 1\r\nburst 1\ntestpmd> ")
    );
}
