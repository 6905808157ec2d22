//! What the editor draws: byte for byte as DPDK's where scripts look, and the line that comes out.

use proptest::prelude::*;

use super::*;
use crate::complete::Candidate;

fn typed(editor: &mut Editor, bytes: &[u8]) -> (String, Vec<Step>) {
    let mut drawn = String::new();
    let steps = bytes
        .iter()
        .map(|&byte| editor.feed(byte, "> ", &mut drawn));
    let steps = steps.filter(|step| *step != Step::Continue).collect();
    (drawn, steps)
}

fn line_of(bytes: &[u8]) -> String {
    match typed(&mut Editor::default(), bytes).1.pop() {
        Some(Step::Line(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_typed_is_echoed_and_nothing_else() {
    let (drawn, steps) = typed(&mut Editor::default(), b"set burst 5\x7f6\n");
    assert_eq!(drawn, "set burst 5\x08\x1b[0K6\r\n");
    assert_eq!(steps, [Step::Line("set burst 6".to_owned())]);
    let (drawn, steps) = typed(&mut Editor::default(), b"abc\x03");
    assert_eq!(
        (drawn.as_str(), steps.as_slice()),
        ("abc\r\n", &[Step::Dropped][..])
    );
    assert_eq!(typed(&mut Editor::default(), b"\x04").1, [Step::End]);
}

#[test]
fn editing() {
    assert_eq!(line_of(b"fwd io\x01set \x05!\n"), "set fwd io!");
    assert_eq!(line_of(b"abc\x1b[D\x1b[DX\n"), "aXbc");
    assert_eq!(line_of(b"abc\x02\x04d\n"), "abd");
    assert_eq!(line_of(b"one two three\x17\x17x\n"), "one x");
    assert_eq!(line_of(b"one two\x1bb\x0b\x01\x19 \n"), "two one ");
    assert_eq!(line_of(b"one two\x15\x19\x19\n"), "one twoone two");
    assert_eq!(line_of("\u{e9}\u{e9}\x7fa\n".as_bytes()), "\u{e9}a");
    assert_eq!(line_of(b"ab\x01\x1b[C\x1bf!\n"), "ab!");
}

#[test]
fn history() {
    let mut editor = Editor::default();
    typed(&mut editor, b"one\ntwo\ntwo\n");
    assert_eq!(
        typed(&mut editor, b"\x10\x10\n").1,
        [Step::Line("one".to_owned())]
    );
    assert_eq!(
        typed(&mut editor, b"\x10\x10\x10\x10\x0e\n").1,
        [Step::Line("two".to_owned())]
    );
    let (drawn, steps) = typed(&mut editor, b"\x1b[A\x1b[B\x0e\n");
    assert_eq!(drawn, "\r> two\x1b[0K\r> \x1b[0K\r\n");
    assert_eq!(steps, [Step::Line(String::new())]);
}

fn candidates(start: usize, words: &[&str]) -> Completion {
    let candidate = |&text: &&str| Candidate {
        text: text.to_owned(),
        kind: if text.starts_with('<') {
            CandidateKind::Placeholder
        } else {
            CandidateKind::Word
        },
        help: "help",
    };
    Completion {
        start,
        candidates: words.iter().map(candidate).collect(),
    }
}

#[test]
fn completion() {
    let mut editor = Editor::default();
    let mut drawn = String::new();
    typed(&mut editor, b"set fw");
    editor.complete(&candidates(4, &["fwd"]), "> ", &mut drawn);
    assert_eq!(
        (drawn.as_str(), editor.before().as_str()),
        ("d ", "set fwd ")
    );
    typed(&mut editor, b"m");
    editor.complete(&candidates(8, &["mac", "macswap"]), "> ", &mut drawn);
    assert_eq!(editor.before(), "set fwd mac");
    drawn.clear();
    editor.complete(&candidates(8, &["mac", "macswap"]), "> ", &mut drawn);
    assert_eq!(
        drawn,
        "\r\n mac [help]\r\n macswap [help]\r\n> set fwd mac\x1b[0K"
    );
    drawn.clear();
    editor.complete(&candidates(11, &[]), "> ", &mut drawn);
    assert_eq!(drawn, "");
}

#[test]
fn a_line_without_end_is_bounded() {
    let mut editor = Editor::default();
    typed(&mut editor, &vec![b'x'; MAX_LINE + 10]);
    assert_eq!(editor.before().len(), MAX_LINE);
}

proptest! {
    #[test]
    fn no_keys_panic(bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..32, Just(0x1b), Just(b'[')], 0..300)) {
        let mut editor = Editor::default();
        for byte in bytes {
            let mut drawn = String::new();
            if editor.feed(byte, "> ", &mut drawn) == Step::Complete {
                editor.complete(&candidates(editor.before().len(), &["aa", "ab"]), "> ", &mut drawn);
            }
        }
    }
}
