//! Command files read by the source alone; what a session makes of them is in its tests.

use super::*;
use crate::testing::Recorder;

#[test]
fn lines_places_and_echo() {
    let path = std::env::temp_dir().join(format!("mpps-console-file-{}", std::process::id()));
    std::fs::write(&path, "one\r\ntwo\n\nlast").expect("a file");
    let mut host = Recorder::default();
    let mut source = FileSource::open(&path, Echo::On).expect("it is there");
    let mut lines = Vec::new();
    while let Line::Text(text) = source.next_line("", &mut host).expect("it reads") {
        lines.push(text);
    }
    assert_eq!(lines, ["one", "two", "", "last"]);
    assert!(source.place().ends_with(":5"));
    let name = path.file_name().expect("a name").to_string_lossy();
    let echoed = format!("[{name}] one\r\n[{name}] two\r\n[{name}] \r\n[{name}] last\r\n[{name}] ");
    assert_eq!(host.text(), echoed);
    std::fs::remove_file(&path).expect("it was there");
}
