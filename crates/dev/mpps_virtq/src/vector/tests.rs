//! Groups against words looked at one by one.

use mpps_cpu::{Avx2, Avx512, Isa};

use super::{Choice, Lanes, Pass, Vector, halves};
use crate::Features;

fn passes(word: u64, pass: &Pass) -> bool {
    let half = |word: u64, high: bool| (word >> if high { 32 } else { 0 }) as u32;
    [false, true].into_iter().all(|high| {
        let [and, xor, minus, below] =
            [pass.and, pass.xor, pass.minus, pass.below].map(|word| half(word, high));
        (half(word, high) & and ^ xor).wrapping_sub(minus) < below
    })
}

/// Numbers that look arbitrary.
fn numbers() -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
}

/// Each place of a group with each kind of word in it, at each alignment of four bytes, and in descriptors.
fn agrees<L: Lanes>() {
    let pass = Pass {
        and: halves(u32::MAX, 0x8080_ffff),
        xor: halves(0, 0x8000_0000),
        minus: halves(13, 0),
        below: halves(0x800, 256),
    };
    let good = halves(100, 0x8000_0007);
    let mut numbers = numbers();
    let edges = [
        halves(13, 0x8000_0000),
        halves(12, 0x8000_0000),
        halves(13 + 0x7ff, 0x8000_00ff),
        halves(13 + 0x800, 0x8000_00ff),
        halves(100, 0x8000_0100),
        halves(100, 7),
        halves(100, 0x8080_0007),
        halves(100, 0xff7f_0007),
        halves(u32::MAX, 0x8000_0007),
        0,
        u64::MAX,
    ];
    for place in 0..L::GROUP {
        for word in edges.into_iter().chain(numbers.by_ref().take(1000)) {
            let mut words = vec![good; L::GROUP];
            words[place] = word;
            let all = words.iter().all(|word| passes(*word, &pass));
            assert_eq!(all, passes(word, &pass));
            let mut bytes = vec![0_u32; 2 * L::GROUP + 1];
            for (k, word) in words.iter().enumerate() {
                bytes[1 + 2 * k] = *word as u32;
                bytes[2 + 2 * k] = (*word >> 32) as u32;
            }
            let mut got = vec![0_u64; L::GROUP];
            // SAFETY: there are that many words on both sides, and the caller has the instructions.
            let said = unsafe { L::words(bytes[1..].as_ptr().cast(), got.as_mut_ptr(), &pass) };
            assert_eq!((said, &got), (all, &words), "{place}: {word:#x}");
            let descriptors: Vec<[u64; 2]> = words.iter().map(|word| [!good, *word]).collect();
            got.fill(0);
            // SAFETY: as above.
            let said = unsafe { L::second_words(descriptors.as_ptr(), got.as_mut_ptr(), &pass) };
            assert_eq!((said, &got), (all, &words), "{place}: {word:#x}");
        }
    }
    let mut table = [[0_u64; 2]; 6];
    let four = [[1, 2], [3, 4], [5, 6], [7, 8]];
    // SAFETY: four of six.
    unsafe { L::write(table[1..].as_mut_ptr(), four) };
    assert_eq!(table, [[0, 0], [1, 2], [3, 4], [5, 6], [7, 8], [0, 0]]);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn groups_agree_with_words_one_by_one() {
    if Avx2::detect().is_some() {
        agrees::<super::By256>();
    }
    if Avx512::detect().is_some() {
        agrees::<super::By512>();
    }
}

#[test]
fn a_limit_of_none_lets_nothing_pass() {
    let pass = Pass {
        and: u64::MAX,
        xor: 0,
        minus: 0,
        below: halves(0, 1),
    };
    let (mut to, from) = ([0_u64; 8], [0_u64; 8]);
    #[cfg(target_arch = "x86_64")]
    if Avx2::detect().is_some() {
        // SAFETY: eight words on both sides.
        assert!(!unsafe { super::By256::words(from.as_ptr(), to.as_mut_ptr(), &pass) });
    }
    #[cfg(target_arch = "x86_64")]
    if Avx512::detect().is_some() {
        // SAFETY: as above.
        assert!(!unsafe { super::By512::words(from.as_ptr(), to.as_mut_ptr(), &pass) });
    }
    // SAFETY: nothing is read.
    assert!(!unsafe { super::OneByOne::words(from.as_ptr(), to.as_mut_ptr(), &pass) });
}

#[test]
fn what_is_missing_is_said_only_where_it_was_asked_for() {
    let none = Features::VERSION_1;
    let choice = Choice::to_receive(None, 256, Features::GUEST_CSUM);
    assert_eq!((choice.vector, choice.lacks), (Vector::Scalar, None));
    let choice = Choice::to_receive(Some(Isa::Scalar), 256, none);
    assert!(choice.lacks.is_some_and(|lacks| lacks.contains("AVX2")));
    let Some(avx2) = Avx2::detect() else {
        return;
    };
    let isa = Some(Isa::Avx2(avx2));
    for (features, word) in [
        (Features::GUEST_CSUM, "checksum offload"),
        (Features::GUEST_TSO4, "large receive offload"),
    ] {
        let choice = Choice::to_receive(isa, 256, none | features);
        assert_eq!(choice.vector, Vector::Scalar);
        assert!(choice.lacks.is_some_and(|lacks| lacks.starts_with(word)));
        assert_eq!(choice.name(), None);
    }
    let choice = Choice::to_transmit(isa, 4);
    assert!(
        choice
            .lacks
            .is_some_and(|lacks| lacks.contains("fewer than 8"))
    );
    let choice = Choice::to_transmit(isa, 255);
    assert_eq!((choice.name(), choice.lacks), (Some("avx2"), None));
}
