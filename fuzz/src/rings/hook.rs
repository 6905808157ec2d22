//! The other side's hand between two loads: changes memory as the input says, sees that nothing else is read, and counts.
//!
//! Under `cfg(mpps_double_fetch)`, which `cargo xtask fuzz` sets, this is the hook of `mpps_shm::peer`; without it the same
//! inputs run with memory that changes between bursts only.

use crate::input::Input;

/// What is done to memory before a load.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(mpps_double_fetch),
    expect(dead_code, reason = "the hook reads it, and there is none")
)]
pub(crate) struct Change {
    /// Loads that pass by untouched before it.
    pub(crate) skip: u8,
    pub(crate) kind: u8,
    pub(crate) value: u64,
}

impl Change {
    /// The changes that the input asks for.
    pub(crate) fn read(input: &mut Input<'_>) -> Vec<Self> {
        let count = input.below(9);
        (0..count)
            .map(|_| Self {
                skip: input.u8(),
                kind: input.u8(),
                value: input.u64(),
            })
            .collect()
    }
}

/// The most loads of a burst: a few thousand descriptors at most, of a load or two each, and then as many copies, and
/// those of the pieces that packets of 64 KiB take.
#[cfg(mpps_double_fetch)]
const MOST_LOADS: u64 = 30_000;

#[cfg(mpps_double_fetch)]
mod set {
    use std::cell::Cell;
    use std::rc::Rc;

    use mpps_shm::peer::set_double_fetch_hook;

    use super::{Change, MOST_LOADS};

    /// The hook, as long as this lives.
    pub(crate) struct Hook {
        loads: Rc<Cell<u64>>,
    }

    impl Hook {
        /// `write` gets an address and bytes; `inside` says whether the code under test may read there.
        pub(crate) fn set(
            changes: &[Change],
            inside: impl Fn(usize, usize) -> bool + 'static,
            write: impl Fn(usize, &[u8]) + 'static,
        ) -> Self {
            let loads = Rc::new(Cell::new(0));
            let count = Rc::clone(&loads);
            let mut script = Script::new(changes.to_vec());
            let hook = move |p: *mut u8, len: usize| {
                let at = p.addr();
                assert!(inside(at, len), "{len} bytes at {at:#x} are read");
                count.set(count.get() + 1);
                assert!(count.get() < MOST_LOADS, "a burst without end");
                script.before(at, len, &write);
            };
            set_double_fetch_hook(Some(Box::new(hook)));
            Self { loads }
        }

        /// A new burst begins.
        pub(crate) fn restart(&self) {
            self.loads.set(0);
        }

        /// The bursts are over; memory stays as it is.
        pub(crate) fn lift(self) {}
    }

    impl Drop for Hook {
        fn drop(&mut self) {
            set_double_fetch_hook(None);
        }
    }

    /// The changes, one after another, round and round.
    struct Script {
        changes: Vec<Change>,
        next: usize,
        passed: u8,
        /// Of the place that is chased: what it holds.
        chased: u16,
    }

    impl Script {
        fn new(changes: Vec<Change>) -> Self {
            Self {
                changes,
                next: 0,
                passed: 0,
                chased: 0,
            }
        }

        fn before(&mut self, at: usize, len: usize, write: &impl Fn(usize, &[u8])) {
            let Some(change) = self.changes.get(self.next).copied() else {
                return;
            };
            if self.passed < change.skip & 0x3f {
                self.passed += 1;
                return;
            }
            self.passed = 0;
            let value = change.value.to_le_bytes();
            let within = change.value as usize % len.max(1);
            match change.kind % 6 {
                // The bytes that are about to be read.
                0 => write(at, &value[..len.min(8)]),
                1 => write(at + within, &value[7..]),
                // Flags and length of a descriptor.
                2 if len == 16 => write(at + 8, &value),
                3 if len == 16 => write(at + 12, &value[..4]),
                // An index that runs away.
                4 if len == 2 => {
                    self.chased = self.chased.wrapping_add(change.value as u16 & 0x1f);
                    write(at, &self.chased.to_le_bytes());
                }
                _ => {}
            }
            // The last one stays, so that something can run away for as long as a burst goes on.
            if self.next + 1 < self.changes.len() {
                self.next += 1;
            }
        }
    }
}

#[cfg(not(mpps_double_fetch))]
mod set {
    use super::Change;

    /// Nothing: there is no hook.
    pub(crate) struct Hook;

    impl Hook {
        pub(crate) fn set(
            _: &[Change],
            _: impl Fn(usize, usize) -> bool + 'static,
            _: impl Fn(usize, &[u8]) + 'static,
        ) -> Self {
            Self
        }

        pub(crate) fn restart(&self) {}

        /// The bursts are over; memory stays as it is.
        pub(crate) fn lift(self) {}
    }
}

pub(crate) use set::Hook;
