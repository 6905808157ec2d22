//! When the other side wants to be told: flags, and event indices (virtio 1.3, sections 2.7.7 and 2.7.10).

use std::sync::Arc;

use crate::Tally;

/// Tells the other side that there is something for it, by whatever the transport has (an eventfd); whether that could be
/// done. Must not block.
pub type Notifier = Arc<dyn Fn() -> bool + Send + Sync>;

/// Tells the other side and counts it.
#[inline]
pub(crate) fn notify(notifier: &Notifier, tally: &Tally) {
    if notifier() {
        tally.notified.add(1);
    } else {
        tally.unnotified.add(1);
    }
}

/// Whether an index that moved from `old` to `new` has passed the `event` that the peer asked for: 16-bit arithmetic that
/// wraps.
#[inline(always)]
pub(crate) const fn passed(event: u16, new: u16, old: u16) -> bool {
    new.wrapping_sub(event).wrapping_sub(1) < new.wrapping_sub(old)
}

#[cfg(test)]
mod tests {
    use super::{Notifier, notify, passed};
    use crate::Tally;
    use std::sync::Arc;

    #[test]
    fn what_was_told_and_what_could_not_be_told_are_counted_apart() {
        let tally = Tally::default();
        let (able, unable): (Notifier, Notifier) = (Arc::new(|| true), Arc::new(|| false));
        notify(&able, &tally);
        notify(&unable, &tally);
        notify(&unable, &tally);
        assert_eq!((tally.notified.get(), tally.unnotified.get()), (1, 2));
    }

    #[test]
    fn an_event_is_passed_once() {
        // The event asks for "tell me when index `event` has been used", i.e. when the new index is beyond it.
        assert!(passed(4, 5, 4));
        assert!(!passed(5, 5, 4));
        assert!(!passed(3, 5, 4));
        assert!(passed(4, 36, 4) && passed(35, 36, 4) && !passed(36, 36, 4));
    }

    #[test]
    fn indices_wrap() {
        assert!(passed(0xffff, 0, 0xffff));
        assert!(passed(0xfffe, 3, 0xfffe) && passed(2, 3, 0xfffe) && !passed(3, 3, 0xfffe));
        assert!(!passed(7, 7, 7), "nothing new, nothing to tell");
    }
}
