use super::*;

/// The archive byte by byte, as the kernel's format description has it.
#[test]
fn an_entry_is_laid_out_as_newc() {
    let mut root = Initrd::default();
    root.entry(Path::new("a/b"), FILE, b"hello");
    let text = concat!(
        "070701", "00000001", "000081a4", "00000000", "00000000", "00000001", "00000000",
        "00000005", "00000000", "00000000", "00000000", "00000000", "00000004", "00000000",
        "a/b\0", "\0\0", "hello", "\0\0\0"
    );
    assert_eq!(String::from_utf8_lossy(&root.bytes), text);
}

#[test]
fn a_path_is_there_once_and_behind_its_folders() {
    let mut root = Initrd::default();
    root.folder(Path::new("usr/lib/x"));
    root.folder(Path::new("usr/lib/y"));
    let text = String::from_utf8_lossy(&root.bytes).into_owned();
    let at = |name: &str| text.find(name).expect("it is there");
    assert!(at("usr\0") < at("usr/lib\0") && at("usr/lib\0") < at("usr/lib/x\0"));
    assert_eq!(text.matches("usr/lib\0").count(), 1);
}
