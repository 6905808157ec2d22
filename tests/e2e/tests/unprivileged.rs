//! DPDK's own smoke test, devtools/test-null.sh, as an ordinary user without hugepages.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;
use std::time::Duration;

use mpps_e2e::machine::{Folder, cpus, is_root, lcores};
use mpps_e2e::program;
use mpps_e2e::report::forwarded;
use mpps_e2e::session::Session;

/// The user nobody, who owns nothing anywhere.
const NOBODY: u32 = 65534;

const WORDS: &str = "--no-huge -m 40 -A --vdev net_null1 --vdev net_null2 -- --no-mlockall --total-num-mbufs=2048 -ia";

/// `(sleep 1 && echo stop) | testpmd -l 0-1 --no-huge ... -ia`
#[test]
fn an_ordinary_user_forwards_both_ways() {
    let folder = Folder::new();
    let program = folder.path().join("testpmd");
    fs::copy(program::testpmd(), &program).expect("a copy");
    for path in [folder.path(), &program] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    let mut command = Command::new(&program);
    // Two CPUs as published, or two lcores on what there is.
    let lcores = if cpus().starts_with(&[0, 1]) {
        ["-l".to_owned(), "0-1".to_owned()]
    } else {
        ["--lcores".to_owned(), lcores(0..2)]
    };
    command.args(lcores).args(WORDS.split(' '));
    command
        .current_dir("/")
        .env_remove("XDG_RUNTIME_DIR")
        .env("HOME", "/");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let mut session = Session::spawn(command);
    thread::sleep(Duration::from_secs(1));
    session.say("stop");
    let ended = session.finish().well();
    let rows = forwarded(&ended.stdout);
    let ports: Vec<_> = rows.iter().filter(|row| row.port.is_some()).collect();
    assert_eq!(ports.len(), 2, "{rows:?}");
    assert!(
        ports.iter().all(|row| row.rx[0] > 0 && row.tx[0] > 0),
        "{rows:?}"
    );
}
