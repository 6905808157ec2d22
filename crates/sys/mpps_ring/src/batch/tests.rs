use super::{One, Sink, SliceSink, SliceSource, Source};
use std::mem::MaybeUninit;
use std::rc::Rc;

/// Moves `n` values over an array, as a ring does over its slots.
fn carry<T>(n: usize, src: &mut impl Source<T>, dst: &mut impl Sink<T>) {
    let mut between: Vec<MaybeUninit<T>> = (0..n).map(|_| MaybeUninit::uninit()).collect();
    src.take(&mut between);
    // SAFETY: `take` has initialised all of it, and nobody uses it again; the callers keep to the room.
    unsafe { dst.put(&between) };
}

#[test]
fn a_vector_gives_its_front_and_keeps_its_spare_capacity() {
    let values: Vec<Rc<u8>> = (0..5).map(Rc::new).collect();
    let (mut src, mut dst) = (values.clone(), Vec::with_capacity(4));
    assert_eq!((src.available(), dst.room()), (5, 4));
    carry(0, &mut src, &mut dst);
    carry(2, &mut src, &mut dst);
    carry(2, &mut src, &mut dst);
    assert_eq!((&src[..], &dst[..]), (&values[4..], &values[..4]));
    assert_eq!((src.available(), dst.room()), (1, 0));
    drop((src, dst));
    assert!(
        values.iter().all(|value| Rc::strong_count(value) == 1),
        "owned once"
    );
}

#[test]
fn slices_remember_how_far_they_are() {
    let mut src = SliceSource::new(&[1, 2, 3, 4]);
    let mut slots = [MaybeUninit::uninit(); 5];
    let mut dst = SliceSink::new(&mut slots);
    carry(1, &mut src, &mut dst);
    carry(2, &mut src, &mut dst);
    assert_eq!((src.rest(), src.available(), dst.room()), (&[4][..], 1, 2));
    assert_eq!(dst.into_filled(), [1, 2, 3]);
}

#[test]
fn one_value_goes_in_and_out() {
    let (mut src, mut dst) = (One(Some("x".to_owned())), One(None));
    assert_eq!((src.available(), Sink::room(&dst)), (1, 1));
    carry(1, &mut src, &mut dst);
    assert_eq!((src.0, dst.0.as_deref()), (None, Some("x")));
}

#[test]
#[should_panic(expected = "no more values")]
fn a_vector_refuses_to_give_more_than_it_has() {
    vec![1, 2].take(&mut [MaybeUninit::uninit(); 3]);
}

#[test]
#[should_panic(expected = "mid > len")]
fn a_slice_refuses_to_give_more_than_it_has() {
    SliceSource::new(&[1, 2]).take(&mut [MaybeUninit::uninit(); 3]);
}
