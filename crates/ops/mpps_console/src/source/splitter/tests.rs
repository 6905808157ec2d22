//! Where lines end.

use proptest::prelude::*;

use super::*;

fn cuts(mut splitter: Splitter, bytes: &[u8]) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let mut used = 0;
    while used < bytes.len() {
        let (taken, cut) = splitter.feed(&bytes[used..]);
        used += taken;
        cuts.extend(cut);
    }
    cuts.extend(splitter.rest());
    cuts
}

fn line(text: &str) -> Cut {
    Cut::Line(text.to_owned())
}

#[test]
fn ends_of_lines() {
    // A script with CR LF gets a prompt more a line, as from DPDK.
    assert_eq!(
        cuts(Splitter::default(), b"a\nb\r\n\nc"),
        [line("a"), line("b"), line(""), line(""), line("c")]
    );
    assert_eq!(
        cuts(Splitter::for_files(), b"a\r\nb\n"),
        [line("a"), line("b")]
    );
}

#[test]
fn control_characters() {
    let cut = cuts(Splitter::default(), b"abc\x03x\x7fy\x00\x1bz\t1\n\x04");
    assert_eq!(
        cut,
        [Cut::Dropped("abc".to_owned()), line("yz\t1"), Cut::End]
    );
    assert_eq!(
        cuts(Splitter::default(), "\u{e9}\u{8}a\n".as_bytes()),
        [line("a")]
    );
    // Not at the beginning of a line Ctrl-D means nothing.
    assert_eq!(cuts(Splitter::default(), b"a\x04b\n"), [line("ab")]);
}

#[test]
fn a_long_line_is_kept_within_bounds() {
    let mut bytes = vec![b'x'; 10 << 20];
    bytes.extend(b"\nshow\n");
    let cuts = cuts(Splitter::default(), &bytes);
    assert!(matches!(&cuts[0], Cut::TooLong(text) if text.len() == MAX_LINE));
    assert_eq!(cuts[1], line("show"));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for cut in cuts(Splitter::default(), &bytes) {
            if let Cut::Line(text) = cut {
                prop_assert!(!text.contains('\n'));
            }
        }
    }
}
