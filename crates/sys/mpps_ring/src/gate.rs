//! A gate: state that a polling thread uses burst by burst, and that another thread can take back between two bursts.
//!
//! What: the control thread holds the [`Keeper`], the thread that polls the [`Poller`]. State is published by
//! [`Keeper::open`]; each burst goes [`enter`](Poller::enter) and leaves when its [`Inside`] is dropped.
//! [`Keeper::close`] comes back when no burst on the state is running, so that memory may be unmapped, or a ring's
//! position reported, right after it.
//!
//! Why: a queue whose peer lives loses its rings at any moment, and neither a lock nor an atomic read-modify-write
//! should be paid for that at every burst. The poller counts its turns in a line of its own (odd: inside a burst) with
//! plain stores; the keeper withdraws the state, has every CPU pass a barrier, and waits for the turn to change. It
//! waits asleep, so that a poller that was preempted on the same CPU can go on, and not at all when nobody polls.
//!
//! Life: made by [`gate`], one keeper and at most one poller at a time. The state belongs to the keeper: whatever is
//! open goes when the keeper is dropped, and the poller then finds the gate closed for good.
//!
//! ```
//! let mut keeper = mpps_ring::gate::<Vec<u32>>();
//! let mut poller = keeper.poller().expect("the first one");
//! assert!(poller.enter().is_none());
//! keeper.open(Box::new(vec![1]));
//! if let Some(mut ring) = poller.enter() {
//!     ring.push(2);
//! }
//! assert_eq!(keeper.with(|ring| ring.len()), Some(2));
//! assert_eq!(*keeper.close().expect("it was open"), [1, 2]);
//! ```

use crate::barrier::Asymmetry;
use crate::sync::{Arc, AtomicBool, AtomicPtr, AtomicUsize, Nap, Ordering};
use crossbeam_utils::CachePadded;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};

/// What both ends see. The lines are apart: the poller writes one at each burst, the keeper the other now and then.
struct Shared<T> {
    /// The state that is published, from `Box::into_raw`; null while closed. Written by the keeper only.
    published: CachePadded<AtomicPtr<T>>,
    /// Counts the poller's steps in and out; odd while a burst runs. Written by the poller only.
    turn: CachePadded<AtomicUsize>,
    /// A poller exists.
    polled: AtomicBool,
}

/// Makes a gate, closed at first.
pub fn gate<T: Send>() -> Keeper<T> {
    Keeper {
        shared: Arc::new(Shared {
            published: CachePadded::new(AtomicPtr::new(ptr::null_mut())),
            turn: CachePadded::new(AtomicUsize::new(0)),
            polled: AtomicBool::new(false),
        }),
        asymmetry: Asymmetry::of_process(),
        owns: PhantomData,
    }
}

/// The control thread's end: owns the state.
pub struct Keeper<T: Send> {
    shared: Arc<Shared<T>>,
    asymmetry: Asymmetry,
    owns: PhantomData<Box<T>>,
}

impl<T: Send> Keeper<T> {
    /// Makes the end for the thread that polls; `None` while the last one made is alive.
    pub fn poller(&mut self) -> Option<Poller<T>> {
        // Acquire: partner is the release in Poller::drop; the new poller goes on counting where the old one stopped.
        if self.shared.polled.load(Ordering::Acquire) {
            return None;
        }
        // Relaxed: only this thread sets it, and who gets the poller from us gets this with it.
        self.shared.polled.store(true, Ordering::Relaxed);
        Some(Poller {
            // Relaxed: ordered by the acquire above.
            turn: self.shared.turn.load(Ordering::Relaxed),
            shared: Arc::clone(&self.shared),
            asymmetry: self.asymmetry,
            uses: PhantomData,
        })
    }

    /// Publishes `state`: bursts that begin from now on may run on it. What was open is closed first, and dropped.
    pub fn open(&mut self, state: Box<T>) {
        drop(self.close());
        self.publish(Box::into_raw(state));
    }

    /// Takes the state back, once no burst runs on it; `None` when the gate was closed. Waits asleep for a burst that
    /// has begun, however long its thread is kept from the CPU.
    pub fn close(&mut self) -> Option<Box<T>> {
        let state = self.withdraw()?;
        // SAFETY: it came from Box::into_raw, is no longer published, and no burst runs on it.
        Some(unsafe { Box::from_raw(state.as_ptr()) })
    }

    /// Calls `f` with exclusive access between two bursts; `None` when the gate is closed. Bursts find the gate closed
    /// meanwhile. When `f` panics, it stays closed and the state is dropped.
    pub fn with<R>(&mut self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut state = self.close()?;
        let result = f(&mut state);
        self.publish(Box::into_raw(state));
        Some(result)
    }

    /// Whether there is a state that bursts may run on.
    pub fn is_open(&self) -> bool {
        // Relaxed: only this end changes it.
        !self.shared.published.load(Ordering::Relaxed).is_null()
    }

    fn publish(&mut self, state: *mut T) {
        // Release: partner is the acquire in Poller::enter, which must find the state as we left it.
        self.shared.published.store(state, Ordering::Release);
    }

    /// Closes the gate and waits until no burst can be running on what was published.
    fn withdraw(&mut self) -> Option<NonNull<T>> {
        // Relaxed: only this end changes it.
        let state = NonNull::new(self.shared.published.load(Ordering::Relaxed))?;
        // Relaxed: the barrier below orders it; nothing is handed over by the null.
        self.shared
            .published
            .store(ptr::null_mut(), Ordering::Relaxed);
        // Partner: the light barrier in Poller::enter. Either the turn read below is that of a burst that may have seen
        // the state, or the poller's next look finds the null.
        self.asymmetry.heavy();
        // Acquire, here and below: partner is the release of the turn in Poller::enter and Inside::drop; what the burst
        // wrote is ours to read.
        let seen = self.shared.turn.load(Ordering::Acquire);
        if seen % 2 == 1 {
            let mut nap = Nap::new();
            // Any other turn will do, also that of a later burst: it found the gate closed.
            while self.shared.turn.load(Ordering::Acquire) == seen {
                nap.sleep();
            }
        }
        Some(state)
    }
}

impl<T: Send> Drop for Keeper<T> {
    fn drop(&mut self) {
        drop(self.close());
    }
}

impl<T: Send> fmt::Debug for Keeper<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Keeper")
            .field("open", &self.is_open())
            .finish_non_exhaustive()
    }
}

/// The polling thread's end.
pub struct Poller<T: Send> {
    shared: Arc<Shared<T>>,
    /// What `Shared::turn` holds, so that it needn't be read.
    turn: usize,
    asymmetry: Asymmetry,
    uses: PhantomData<Box<T>>,
}

impl<T: Send> Poller<T> {
    /// Begins a burst; `None` while the gate is closed. Costs a store and loads, of two lines of which this thread
    /// keeps one and the keeper rarely writes the other; loads alone while closed.
    #[inline(always)]
    pub fn enter(&mut self) -> Option<Inside<'_, T>> {
        // A closed gate costs no store. After an `Inside` that was forgotten the turn is odd, and a keeper may wait for it
        // to change. Relaxed: nothing is used of what is seen here; an old null only means one burst less.
        if self.turn.is_multiple_of(2) && self.shared.published.load(Ordering::Relaxed).is_null() {
            return None;
        }
        // Odd also after an `Inside` that was forgotten instead of dropped.
        self.turn = self.turn.wrapping_add(1) | 1;
        // Release: partner is the acquire in Keeper::withdraw, which may see this turn in place of the last one's end.
        self.shared.turn.store(self.turn, Ordering::Release);
        // Partner: the heavy barrier in Keeper::withdraw.
        self.asymmetry.light();
        // Acquire: partner is the release in Keeper::publish.
        let state = NonNull::new(self.shared.published.load(Ordering::Acquire));
        match state {
            Some(state) => Some(Inside {
                poller: self,
                state,
            }),
            None => {
                self.leave();
                None
            }
        }
    }

    #[inline(always)]
    fn leave(&mut self) {
        self.turn = self.turn.wrapping_add(1);
        // Release: partner is the acquire in Keeper::withdraw, which hands on what the burst wrote.
        self.shared.turn.store(self.turn, Ordering::Release);
    }
}

/// A burst that runs: exclusive access to the state until dropped.
pub struct Inside<'a, T: Send> {
    poller: &'a mut Poller<T>,
    state: NonNull<T>,
}

impl<T: Send> Deref for Inside<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the keeper, who published it, sees this turn, so the keeper gives no access and frees nothing before the turn
        // ends, which is when `self` is dropped.
        unsafe { self.state.as_ref() }
    }
}

impl<T: Send> DerefMut for Inside<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above; there is one poller, which is borrowed, so this is the only burst.
        unsafe { self.state.as_mut() }
    }
}

impl<T: Send> Drop for Inside<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.poller.leave();
    }
}

impl<T: Send + fmt::Debug> fmt::Debug for Inside<'_, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Inside").field(&**self).finish()
    }
}

impl<T: Send> Drop for Poller<T> {
    fn drop(&mut self) {
        // Only odd when an `Inside` was forgotten; the keeper must not wait for it.
        let even = self.turn.wrapping_add(self.turn % 2);
        // Release: partner is the acquire in Keeper::withdraw.
        self.shared.turn.store(even, Ordering::Release);
        // Release: partner is the acquire in Keeper::poller.
        self.shared.polled.store(false, Ordering::Release);
    }
}

impl<T: Send> fmt::Debug for Poller<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Poller").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
