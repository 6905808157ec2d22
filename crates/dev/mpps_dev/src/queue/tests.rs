//! Mailboxes and the queues that are handed out.

use mpps_mbuf::Burst;

use super::{Mailbox, Queues, RxQueue, TxQueue};
use crate::Lcore;

struct Idle;

impl RxQueue for Idle {
    fn rx_burst(&mut self, _: &mut Lcore, _: &mut Burst) -> usize {
        0
    }
}

impl TxQueue for Idle {
    fn tx_burst(&mut self, _: &mut Lcore, _: &mut Burst) -> usize {
        0
    }
}

#[test]
fn a_mailbox_keeps_what_it_was_told_last() {
    let mailbox = Mailbox::new(1500);
    assert_eq!((mailbox.stopped(), mailbox.mtu()), (false, 1500));
    mailbox.set_stopped(true);
    mailbox.set_mtu(9000);
    assert_eq!((mailbox.stopped(), mailbox.mtu()), (true, 9000));
    mailbox.set_stopped(false);
    assert_eq!((mailbox.stopped(), mailbox.mtu()), (false, 9000));
}

#[test]
fn a_mailbox_shares_no_line_with_what_lies_beside_it() {
    assert_eq!(align_of::<Mailbox>(), 128);
    assert_eq!(size_of::<Mailbox>(), 128);
}

#[test]
fn queues_are_complete_when_none_is_lent() {
    let mut queues = Queues::new(vec![Box::new(Idle)], vec![Box::new(Idle), Box::new(Idle)]);
    assert!(queues.complete());
    let lent = queues.tx[1].take();
    assert!(!queues.complete());
    queues.tx[1] = lent;
    assert!(queues.complete());
    queues.rx[0] = None;
    assert!(!queues.complete());
    assert!(Queues::default().complete());
}
