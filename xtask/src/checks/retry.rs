//! How soon a port that connects finds the one that it waits for.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::planted::Folder;
use super::{Bound, Check, Miss, Plant, Subject};
use crate::session::Session;

pub(super) const CHECKS: &[Check] = &[Check {
    name: "retry",
    proves: "a vhost port that is the client and a virtio-user port that is one try again: longest of 20 waits from the socket's \
        being there to the connection, each port",
    bound: Bound::Below(50.0, " ms"),
    run: retry,
    // Stops the program for a fifth of a second, again and again.
    plant: Plant::Script(
        "exec 3<&0; \"$REAL\" \"$@\" <&3 & pid=$!; sleep 1\n\
         while kill -STOP $pid 2>/dev/null; do sleep 0.2; kill -CONT $pid; sleep 0.05; done; wait $pid",
    ),
}];

const TIMES: u32 = 20;

/// A connection that doesn't come at all.
const PATIENCE: Duration = Duration::from_secs(5);

fn retry(_: &Check, subject: &Subject) -> Result<f64, Miss> {
    let devices: [fn(&str) -> String; 2] = [
        |socket| format!("net_vhost0,iface={socket},client=1"),
        |socket| format!("net_virtio_user0,path={socket}"),
    ];
    let mut longest = 0.0_f64;
    for device in devices {
        let folder = Folder::new("retry")?;
        let socket = folder.path().join("socket");
        let vdev = device(&socket.display().to_string());
        // The first connection, so that a port which wants its peer at start has one.
        let first = listen(&socket)?;
        let mut session = Session::start(
            &subject.testpmd(),
            &[
                "--in-memory",
                "--no-pci",
                "--no-telemetry",
                "--lcores",
                "0@0,1@0",
                "--vdev",
                &vdev,
                "--",
                "-i",
            ]
            .map(str::to_owned),
        )?;
        accept(first, &socket)?;
        session.wait_for(0, "prompt", |text| text.contains("testpmd> ").then_some(()))?;
        for n in 0..TIMES {
            // At another moment between two attempts each time.
            thread::sleep(Duration::from_millis(u64::from(60 + n * 7 % 50)));
            longest = longest.max(accept(listen(&socket)?, &socket)?);
        }
        session.say("quit")?;
        session.finish()?;
    }
    Ok(longest)
}

fn listen(socket: &Path) -> Result<UnixListener, String> {
    let listener =
        UnixListener::bind(socket).and_then(|one| one.set_nonblocking(true).map(|()| one));
    listener.map_err(|error| format!("{}: {error}", socket.display()))
}

/// Milliseconds until a connection comes; then both are gone again.
fn accept(listener: UnixListener, socket: &Path) -> Result<f64, String> {
    let begin = Instant::now();
    loop {
        match listener.accept() {
            Ok(_) => break,
            Err(_) if begin.elapsed() < PATIENCE => thread::sleep(Duration::from_micros(100)),
            Err(error) => return Err(format!("no connection: {error}")),
        }
    }
    fs::remove_file(socket).map_err(|error| format!("{}: {error}", socket.display()))?;
    Ok(begin.elapsed().as_secs_f64() * 1e3)
}
