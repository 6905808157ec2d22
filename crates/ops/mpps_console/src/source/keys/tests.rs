//! Keys of the usual terminals.

use super::*;

fn keys(bytes: &[u8]) -> Vec<Key> {
    let mut decoder = Decoder::default();
    bytes
        .iter()
        .filter_map(|&byte| decoder.feed(byte))
        .collect()
}

#[test]
fn sequences() {
    assert_eq!(
        keys(b"\x1b[A\x1bOA\x1b[B"),
        [Key::Previous, Key::Previous, Key::Next]
    );
    assert_eq!(
        keys(b"\x1b[3~\x1b[H\x1b[4~"),
        [Key::Delete, Key::LineStart, Key::LineEnd]
    );
    assert_eq!(keys(b"\x1bbx"), [Key::WordLeft, Key::Char('x')]);
    // Ctrl-Right and an unknown key are swallowed whole.
    assert_eq!(
        keys(b"\x1b[1;5Cx\x1b[200~y"),
        [Key::Char('x'), Key::Char('y')]
    );
    assert_eq!(
        keys("\u{e9}\u{20ac}\u{1f600}".as_bytes()),
        [
            Key::Char('\u{e9}'),
            Key::Char('\u{20ac}'),
            Key::Char('\u{1f600}')
        ]
    );
    assert_eq!(keys(b"\xe2\x82a\xff\xc3\n"), [Key::Char('a'), Key::Enter]);
}
