use super::mapped;
use crate::peer::{before_copy, descriptor, full_fence, index, load, publish, store};

#[test]
fn what_is_stored_is_loaded() {
    let (mapping, _fd) = mapped(4096);
    let at = mapping.region().as_ptr();
    // SAFETY: all inside the mapping, whose start is aligned to pages.
    unsafe {
        store(at.cast::<u64>().as_ptr(), 0x0123_4567_89ab_cdef);
        store(at.add(8).cast::<u64>().as_ptr(), 0xfedc_ba98_7654_3210);
        assert_eq!(
            descriptor(at.cast().as_ptr()),
            [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210]
        );
        publish(at.add(2).cast().as_ptr(), 0xbeef);
        full_fence();
        assert_eq!(index(at.add(2).cast().as_ptr()), 0xbeef);
        assert_eq!(load(at.cast::<u32>().as_ptr()), 0xbeef_cdef);
        before_copy(at.as_ptr(), 4096);
    }
}

/// Run by `RUSTFLAGS="--cfg mpps_double_fetch" cargo test -p mpps_shm peer`.
#[cfg(mpps_double_fetch)]
mod double_fetch {
    use super::mapped;
    use crate::peer::{before_copy, descriptor, index, load, set_double_fetch_hook};
    use std::cell::RefCell;
    use std::rc::Rc;

    #[test]
    fn each_load_lets_the_hook_change_its_bytes() {
        let (mapping, _fd) = mapped(4096);
        let at = mapping.region().as_ptr();
        let seen = Rc::new(RefCell::new(Vec::new()));
        let log = Rc::clone(&seen);
        let hook = move |p: *mut u8, len: usize| {
            log.borrow_mut().push((p.addr(), len));
            // SAFETY: the test only loads from the mapping.
            unsafe { p.write_volatile(p.read_volatile().wrapping_add(1)) };
        };
        assert!(set_double_fetch_hook(Some(Box::new(hook))).is_none());
        // SAFETY: all inside the mapping, whose start is aligned to pages.
        unsafe {
            assert_eq!(index(at.cast().as_ptr()), 1);
            assert_eq!(index(at.cast().as_ptr()), 2);
            assert_eq!(descriptor(at.cast().as_ptr()), [3, 0]);
            assert_eq!(load(at.cast::<u8>().as_ptr()), 4);
            before_copy(at.add(64).as_ptr(), 100);
        }
        assert!(set_double_fetch_hook(None).is_some());
        // SAFETY: as above.
        assert_eq!(unsafe { load(at.cast::<u8>().as_ptr()) }, 4);
        let lens: Vec<_> = seen
            .borrow()
            .iter()
            .map(|(p, len)| (p - at.addr().get(), *len))
            .collect();
        assert_eq!(lens, [(0, 2), (0, 2), (0, 16), (0, 1), (64, 100)]);
    }

    #[test]
    fn a_hook_that_loads_is_not_asked_again() {
        let (mapping, _fd) = mapped(4096);
        let at = mapping.region().as_ptr();
        // SAFETY: the hook is given what is loaded below.
        let hook = |p: *mut u8, _| unsafe {
            load(p);
        };
        set_double_fetch_hook(Some(Box::new(hook)));
        // SAFETY: inside the mapping.
        assert_eq!(unsafe { load(at.as_ptr()) }, 0);
        set_double_fetch_hook(None);
    }
}
