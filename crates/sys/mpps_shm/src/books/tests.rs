use super::{Account, Books, Claim, Floor, Scope};
use std::sync::Arc;

const MIB: u64 = 1 << 20;

fn account(option: &str, scope: Scope, allowed: u64) -> Account {
    Account {
        option: option.to_owned(),
        scope,
        allowed,
        used: 0,
    }
}

fn claim(need: u64, node: Option<u32>) -> Claim {
    Claim {
        need,
        node,
        page_size: 4096,
    }
}

#[test]
fn a_budget_is_kept_and_given_back() {
    let books = Arc::new(Books::new(
        vec![account("-m", Scope::All, 40 * MIB)],
        Vec::new(),
    ));
    let first = books.charge("first", claim(30 * MIB, None)).unwrap();
    let error = books.charge("second", claim(11 * MIB, None)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "needs 11 MiB for second, -m allows 40 MiB (30 MiB in use); ask for less or raise -m"
    );
    assert_eq!(books.left(claim(0, None)), Some(10 * MIB));
    let second = books.charge("second", claim(10 * MIB, Some(0))).unwrap();
    drop(first);
    assert_eq!(books.left(claim(0, None)), Some(30 * MIB));
    drop(second);
    assert_eq!(books.left(claim(0, None)), Some(40 * MIB));
    assert!(books.check("all", claim(u64::MAX, None)).is_err());
}

#[test]
fn the_tightest_account_decides() {
    let accounts = vec![
        account("node", Scope::Node(1), 2 * MIB),
        account("pages", Scope::PageSize(4096), 3 * MIB),
        account("huge", Scope::PageSize(2 * MIB), 0),
    ];
    let books = Arc::new(Books::new(accounts, Vec::new()));
    assert_eq!(books.left(claim(0, Some(1))), Some(2 * MIB));
    assert_eq!(books.left(claim(0, Some(0))), Some(3 * MIB));
    assert!(
        books
            .check("x", claim(3 * MIB, Some(1)))
            .unwrap_err()
            .to_string()
            .contains("node allows 2 MiB")
    );
    let huge = Claim {
        page_size: 2 * MIB,
        ..claim(2 * MIB, None)
    };
    assert!(
        books
            .check("x", huge)
            .unwrap_err()
            .to_string()
            .contains("huge allows 0")
    );
    let gigantic = Claim {
        page_size: 1 << 30,
        ..claim(1 << 30, None)
    };
    assert_eq!(books.left(gigantic), None);
}

#[test]
fn floors_run_out() {
    let books = Books::new(
        Vec::new(),
        vec![Floor {
            node: Some(1),
            left: 5,
        }],
    );
    assert_eq!(books.take_floor(Some(0), 3), 0);
    assert_eq!(books.take_floor(Some(1), 3), 3);
    assert_eq!(books.take_floor(Some(1), 3), 2);
    assert_eq!(books.take_floor(Some(1), 3), 0);
    let any = Books::new(
        Vec::new(),
        vec![Floor {
            node: None,
            left: 5,
        }],
    );
    assert_eq!(any.take_floor(Some(3), 9), 5);
}

#[test]
fn notices_are_told_once() {
    let books = Books::default();
    books.notice("a".to_owned());
    assert_eq!(books.take_notices(), ["a"]);
    assert!(books.take_notices().is_empty());
}

#[test]
fn threads_together_stay_within_a_budget() {
    let books = Arc::new(Books::new(vec![account("-m", Scope::All, 10)], Vec::new()));
    let barrier = std::sync::Barrier::new(8);
    let tickets: Vec<_> = std::thread::scope(|scope| {
        let ask = || {
            barrier.wait();
            books.charge("x", claim(3, None))
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(tickets.iter().filter(|ticket| ticket.is_ok()).count(), 3);
    drop(tickets);
    assert_eq!(books.left(claim(0, None)), Some(10));
}
