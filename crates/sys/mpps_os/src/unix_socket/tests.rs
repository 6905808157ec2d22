//! Socket files that are stale, taken or foreign; messages with descriptors; deadlines; peers that come and go.

use super::{Endpoint, Link, LinkError, Listener, SocketError};
use crate::Waker;
use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A directory of a test's own, removed at its end.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("mpps-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(5)
}

#[test]
fn a_listener_removes_its_file_and_no_other() {
    let dir = Dir::new("sock-own");
    let path = dir.at("s");
    let first = Listener::bind(&path).unwrap();
    drop(first);
    assert!(!path.exists());
    let first = Listener::bind(&path).unwrap();
    fs::rename(&path, dir.at("moved")).unwrap();
    let second = Listener::bind(&path).unwrap();
    drop(first);
    assert!(path.exists(), "the second one's file");
    drop(second);
    assert!(!path.exists());
}

#[test]
fn a_stale_file_is_replaced() {
    let dir = Dir::new("sock-stale");
    let path = dir.at("s");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "std leaves the file");
    let listener = Listener::bind(&path).unwrap();
    let _link = Link::connect(&path).unwrap();
    assert!(listener.accept().unwrap().is_some());
    assert!(listener.accept().unwrap().is_none());
}

#[test]
fn a_path_in_use_is_refused_and_left_alone() {
    let dir = Dir::new("sock-use");
    let path = dir.at("s");
    let listener = Listener::bind(&path).unwrap();
    let error = Listener::bind(&path).unwrap_err();
    assert!(error.to_string().contains("in use"), "{error}");
    assert!(path.exists());
    drop(listener);
    File::create(&path).unwrap();
    let error = Listener::bind(&path).unwrap_err();
    assert!(matches!(error, SocketError::NotASocket { .. }), "{error}");
    assert!(path.exists());
}

#[test]
fn a_path_that_no_address_holds_is_refused() {
    let path = PathBuf::from(format!("/tmp/{}", "x".repeat(103)));
    for error in [
        Listener::bind(&path).unwrap_err(),
        Link::connect(&path).unwrap_err(),
        Endpoint::connect(&path).unwrap_err(),
    ] {
        assert!(
            error.to_string().contains("108 bytes; at most 107"),
            "{error}"
        );
    }
}

/// A message that comes byte by byte, each with descriptors: they are closed again before they are all that there are.
#[test]
fn descriptors_of_all_pieces_together_are_bounded() {
    let (a, b) = Link::pair().unwrap();
    let (sent, witness) = rustix::pipe::pipe().unwrap();
    for _ in 0..100 {
        a.send(b"x", &[witness.as_fd(); 8], soon()).unwrap();
    }
    drop(witness);
    let (mut bytes, mut fds) = ([0; 100], Vec::new());
    let end = b.recv(&mut bytes, &mut fds, soon(), None);
    assert!(matches!(end, Err(LinkError::FdsCut)), "{end:?}");
    assert!(fds.len() <= super::link::FDS_AT_ONCE, "{}", fds.len());
    // Nobody has one that came any more.
    drop((a, b, fds));
    assert_eq!(rustix::io::read(&sent, &mut [0_u8; 1]), Ok(0));
}

#[test]
fn descriptors_arrive_with_their_message() {
    let (a, b) = Link::pair().unwrap();
    let dir = Dir::new("sock-fds");
    let mut file = File::options()
        .create_new(true)
        .read(true)
        .write(true)
        .open(dir.at("f"))
        .unwrap();
    file.write_all(b"hello").unwrap();
    a.send(b"first", &[file.as_fd(), file.as_fd()], soon())
        .unwrap();
    a.send(b"second", &[], soon()).unwrap();
    let (mut bytes, mut fds) = ([0; 3], Vec::new());
    b.recv(&mut bytes, &mut fds, soon(), None).unwrap();
    assert_eq!((&bytes, fds.len()), (b"fir", 2));
    let mut rest = [0; 8];
    b.recv(&mut rest, &mut fds, soon(), None).unwrap();
    assert_eq!((&rest, fds.len()), (b"stsecond", 2));
    let fd = fds.pop().unwrap();
    let flags = rustix::io::fcntl_getfd(&fd).unwrap();
    assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    let mut got = File::from(fd);
    got.rewind().unwrap();
    let mut text = String::new();
    got.read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello");
}

#[test]
fn too_many_descriptors_are_an_error_and_closed() {
    let (a, b) = Link::pair().unwrap();
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    let many = [writer.as_fd(); 40];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(40))];
    let mut control = rustix::net::SendAncillaryBuffer::new(&mut space);
    assert!(control.push(rustix::net::SendAncillaryMessage::ScmRights(&many)));
    let bytes = [std::io::IoSlice::new(b"x")];
    rustix::net::sendmsg(&a, &bytes, &mut control, rustix::net::SendFlags::empty()).unwrap();
    let mut fds: Vec<OwnedFd> = Vec::new();
    let error = b.try_recv(&mut [0; 8], &mut fds).unwrap_err();
    assert!(matches!(error, LinkError::FdsCut), "{error}");
    drop((fds, writer));
    // All copies of the write end are closed: the read end is at its end.
    assert_eq!(rustix::io::read(&reader, &mut [0; 1]).unwrap(), 0);
    let error = a.send(b"x", &[reader.as_fd(); 9], soon()).unwrap_err();
    assert!(matches!(error, LinkError::System(_)), "{error}");
}

#[test]
fn a_peer_that_leaves_or_sleeps_is_told_apart() {
    let (a, b) = Link::pair().unwrap();
    let mut fds = Vec::new();
    let short = Instant::now() + Duration::from_millis(30);
    let error = b.recv(&mut [0; 4], &mut fds, short, None).unwrap_err();
    assert!(matches!(error, LinkError::Deadline), "{error}");
    let waker = Waker::new().unwrap();
    waker.wake();
    let error = b
        .recv(&mut [0; 4], &mut fds, soon(), Some(waker.as_fd()))
        .unwrap_err();
    assert!(matches!(error, LinkError::Woken), "{error}");
    a.send(b"ab", &[], soon()).unwrap();
    drop(a);
    let error = b.recv(&mut [0; 4], &mut fds, soon(), None).unwrap_err();
    assert!(
        matches!(error, LinkError::Short { got: 2, want: 4 }),
        "{error}"
    );
    let error = b.recv(&mut [0; 4], &mut fds, soon(), None).unwrap_err();
    assert!(matches!(error, LinkError::Closed), "{error}");
    // No signal ends the process.
    let error = b.send(b"ab", &[], soon()).unwrap_err();
    assert!(matches!(error, LinkError::Closed), "{error}");
}

#[test]
fn who_never_reads_costs_a_deadline() {
    let (a, _b) = Link::pair().unwrap();
    let big = vec![0; 4 << 20];
    let short = Instant::now() + Duration::from_millis(30);
    let error = a.send(&big, &[], short).unwrap_err();
    assert!(matches!(error, LinkError::Deadline), "{error}");
}

#[test]
fn endpoints_meet_in_any_order_and_again() {
    let dir = Dir::new("sock-end");
    let path = dir.at("s");
    let waker = Waker::new().unwrap();
    let (at, stop) = (path.clone(), Waker::new().unwrap());
    let stopped = stop.clone();
    let client = std::thread::spawn(move || {
        let mut client = Endpoint::connect(&at).unwrap();
        let mut met = 0;
        while let Some(link) = client.next(&stopped, &mut |error| panic!("{error}")) {
            // The other side closes.
            let error = link
                .recv(&mut [0; 1], &mut Vec::new(), soon(), None)
                .unwrap_err();
            assert!(matches!(error, LinkError::Closed), "{error}");
            met += 1;
        }
        met
    });
    std::thread::sleep(Duration::from_millis(50));
    for _ in 0..3 {
        // The listener is gone and comes back.
        let mut server = Endpoint::listen(&path).unwrap();
        drop(server.next(&waker, &mut |error| panic!("{error}")).unwrap());
    }
    stop.wake();
    assert!(
        client.join().unwrap() >= 2,
        "one may still have been in the queue"
    );
}

#[test]
fn a_wake_ends_the_wait_and_trouble_is_told_once() {
    let dir = Dir::new("sock-wake");
    let path = dir.at("s");
    File::create(&path).unwrap();
    let waker = Waker::new().unwrap();
    let mut client = Endpoint::connect(&dir.at("s/inside")).unwrap();
    let other = waker.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        other.wake();
    });
    let mut told = 0;
    assert!(client.next(&waker, &mut |_| told += 1).is_none());
    assert_eq!(told, 1);
    thread.join().unwrap();
    let mut server = Endpoint::listen(&dir.at("t")).unwrap();
    assert!(
        server
            .next(&waker, &mut |error| panic!("{error}"))
            .is_none()
    );
}
