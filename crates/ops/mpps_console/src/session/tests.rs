//! Nested readers, help, and what is told to whom.

use super::*;
use crate::testing::{Recorder, reply, session};

/// A folder of command files, removed at the end of the test.
struct Files(PathBuf);

impl Files {
    fn new(name: &str, files: &[(&str, &str)]) -> Files {
        let folder =
            std::env::temp_dir().join(format!("mpps-console-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for (file, text) in files {
            let text = text.replace("{dir}", &folder.to_string_lossy());
            std::fs::write(folder.join(file), text).expect("a file");
        }
        Files(folder)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_file_without_echo_shows_replies_alone() {
    let files = Files::new(
        "noecho",
        &[(
            "a",
            "# x\nset burst 1\nfoo\nset burst 2\nquit\nset burst 3\n",
        )],
    );
    let mut host = Recorder::default();
    let ending = session()
        .load(&mut host, &files.path("a"), Echo::Off)
        .expect("it loads");
    assert_eq!(ending, Ending::Quit);
    let path = files.path("a").display().to_string();
    assert_eq!(
        host.text(),
        format!("burst 1\nburst 2\nFinished reading CLI commands from {path}\n")
    );
    assert_eq!(
        host.complaints,
        [format!("mpps: {path}:3: Command not found: 'foo'")]
    );
}

#[test]
fn a_file_with_echo_shows_all() {
    let files = Files::new("echo", &[("a", "set burst 1\nfoo\nset burst 2")]);
    let mut host = Recorder::default();
    session()
        .load(&mut host, &files.path("a"), Echo::On)
        .expect("it loads");
    let wanted = "[a] set burst 1\r\nburst 1\n[a] foo\r\nCommand not found\n[a] set burst 2\r\nburst 2\n[a] <End-Of-File>\n";
    assert_eq!(host.text(), wanted);
    assert!(host.complaints.is_empty());
}

#[test]
fn quit_in_a_file_ends_the_file_alone() {
    let files = Files::new(
        "nested",
        &[
            ("a", "load {dir}/b\nset burst 3\n"),
            ("b", "set burst 1\nquit\nset burst 2\n"),
        ],
    );
    let mut host = Recorder::default();
    let line = format!("load_echo {}", files.path("a").display());
    assert_eq!(session().execute(&mut host, &line).expect("it runs"), None);
    let inner = format!(
        "Finished reading CLI commands from {}\n",
        files.path("b").display()
    );
    let outer = format!("[a] load {}\r\n", files.path("b").display());
    assert_eq!(
        host.text(),
        format!("{outer}burst 1\n{inner}[a] set burst 3\r\nburst 3\n[a] <End-Of-File>\n")
    );
}

#[test]
fn files_that_load_themselves_end() {
    let files = Files::new("circle", &[("a", "load {dir}/a\nset burst 1\n")]);
    let mut host = Recorder::default();
    session()
        .load(&mut host, &files.path("a"), Echo::Off)
        .expect("it loads");
    assert_eq!(host.text().matches("burst 1\n").count(), MAX_LOAD_DEPTH);
    assert_eq!(host.complaints.len(), 1);
    assert!(
        host.complaints[0].contains("loaded 16 deep"),
        "{:?}",
        host.complaints
    );
}

#[test]
fn a_missing_file_is_an_error() {
    let mut host = Recorder::default();
    let error = session()
        .load(&mut host, Path::new("/nosuch/file"), Echo::On)
        .expect_err("it isn't there");
    assert!(
        error
            .to_string()
            .starts_with("command file '/nosuch/file': "),
        "{error}"
    );
    assert_eq!(
        session()
            .execute(&mut host, "load /nosuch/file")
            .expect("it goes on"),
        None
    );
    assert_eq!(
        host.complaints,
        ["Failed to create file based cmdline context: /nosuch/file"]
    );
    assert!(matches!(
        session().load(&mut host, Path::new("/"), Echo::Off),
        Err(LoadError::Io { .. })
    ));
}

#[test]
fn an_interrupt_ends_all_readers() {
    let files = Files::new("stop", &[("a", "set burst 1\n")]);
    let mut host = Recorder {
        interrupted: true,
        ..Recorder::default()
    };
    let line = format!("load {}", files.path("a").display());
    assert_eq!(
        session().execute(&mut host, &line).expect("it runs"),
        Some(Ending::Interrupted)
    );
    assert!(!host.text().contains("burst 1"));
}

#[test]
fn help_comes_from_the_table() {
    let overview = reply("help");
    assert!(
        overview.contains("    help control                    : Running\n"),
        "{overview}"
    );
    assert!(
        overview.contains("    help all                        : Everything\n"),
        "{overview}"
    );
    let control = reply("help control");
    assert!(
        control.contains("set fwd (io|mac|macswap)\n    Chooses a mode\n"),
        "{control}"
    );
    assert!(!control.contains("show port"), "{control}");
    let all = reply("help all");
    assert!(
        all.contains("show port (info|stats|xstats) (all|<port>)\n    Shows ports\n"),
        "{all}"
    );
    assert!(all.contains("set promisc <port> (on|off)\n"), "{all}");
}

/// A source of given lines that claims to be a terminal.
struct Person(Vec<&'static str>);

impl LineSource for Person {
    fn next_line(&mut self, _: &str, _: &mut dyn Host) -> io::Result<Line> {
        Ok(self
            .0
            .pop()
            .map_or(Line::Eof, |text| Line::Text(text.to_owned())))
    }

    fn is_terminal(&self) -> bool {
        true
    }
}

#[test]
fn hints_are_for_people() {
    let mut host = Recorder::default();
    session()
        .run(&mut host, &mut Person(vec!["quti"]))
        .expect("it runs");
    assert_eq!(host.text(), "Command not found\n");
    assert_eq!(
        host.complaints,
        ["mpps: no command begins with 'quti'; did you mean 'quit'?"]
    );
}
