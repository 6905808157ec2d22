use super::{LockError, check_limit, lock_memory, lock_memory_apart_from, lockable, may_lock_all};
use crate::child::{self, Child};
use rustix::process::{Resource, getrlimit};

#[test]
fn a_finite_limit_is_refused_beforehand() {
    let limit = 8 << 20;
    assert_eq!(
        check_limit(Some(limit), false),
        Err(LockError::Limited { limit })
    );
    assert_eq!(check_limit(Some(limit), true), Ok(()));
    assert_eq!(check_limit(None, false), Ok(()));
}

#[test]
fn errors_are_one_line_with_the_reason_and_the_way_out() {
    let error = LockError::Limited { limit: 65536 };
    assert_eq!(error.errno_text(), "Cannot allocate memory");
    assert!(
        error.to_string().contains("65536 bytes") && error.to_string().contains("--no-mlockall")
    );
    let error = LockError::Kernel { errno: libc::EPERM };
    assert_eq!(
        error.to_string(),
        "memory cannot be locked: Operation not permitted; --no-mlockall does without"
    );
}

/// `VmLck` of this process, in KiB.
fn locked_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmLck:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Runs in a process of its own, which alone gets locked.
#[test]
fn child_locks_its_memory() {
    if !child::is_asked_for("child_locks_its_memory") {
        return;
    }
    let untouched = Vec::<u8>::with_capacity(512 << 20);
    match lock_memory(true) {
        Ok(()) => {
            child::say(&format!("locked {}", locked_kib()));
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let resident = status
                .lines()
                .find(|line| line.starts_with("VmRSS:"))
                .unwrap();
            child::say(resident);
        }
        Err(error) => child::say(&format!("refused {error}")),
    }
    drop(untouched);
}

#[test]
fn memory_is_locked_where_it_may_be() {
    let mut child = Child::start("memory_lock::tests::child_locks_its_memory");
    let said = child.line();
    if getrlimit(Resource::Memlock).current.is_some() && !may_lock_all() {
        assert!(
            said.starts_with("refused memory cannot be locked:"),
            "{said}"
        );
    } else {
        let locked: u64 = said.strip_prefix("locked ").expect(&said).parse().unwrap();
        assert!(locked > 0);
        let resident = child.line();
        let resident: u64 = resident.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert!(
            resident < 256 << 10,
            "untouched memory stays away: {resident} KiB resident"
        );
    }
    assert!(child.end().success());
}

#[test]
fn mappings_are_read_from_their_lines() {
    let line = "7f00000000-7f00002000 rw-s 00000000 00:01 1044 /memfd:pool (deleted)";
    assert_eq!(lockable(line), Some((0x7f_0000_0000, 0x7f_0000_2000)));
    assert_eq!(
        lockable("7ffe0000-7ffe1000 r-xp 00000000 00:00 0 [vdso]"),
        None
    );
    assert_eq!(lockable("nonsense"), None);
    assert_eq!(lockable(""), None);
}

/// Bytes that are left out.
const APART: usize = 2 << 30;

/// Runs in a process of its own.
#[test]
fn child_locks_all_but_one_mapping() {
    if !child::is_asked_for("child_locks_all_but_one_mapping") {
        return;
    }
    // Far more than all else that the process maps, reserved arenas included.
    let apart = Vec::<u8>::with_capacity(APART);
    let start = apart.as_ptr().addr();
    match lock_memory_apart_from(&[(start, start + APART)]) {
        Ok(()) => child::say(&format!("locked {}", locked_kib())),
        Err(error) => child::say(&format!("refused {error}")),
    }
    drop(apart);
}

#[test]
fn one_mapping_is_left_out() {
    let mut child = Child::start("memory_lock::tests::child_locks_all_but_one_mapping");
    let said = child.line();
    if getrlimit(Resource::Memlock).current.is_none() || may_lock_all() {
        let locked: u64 = said.strip_prefix("locked ").expect(&said).parse().unwrap();
        assert!(
            locked > 0 && locked < APART as u64 >> 10,
            "{locked} KiB locked"
        );
    } else {
        assert!(said.starts_with("refused"), "{said}");
    }
    assert!(child.end().success());
}
