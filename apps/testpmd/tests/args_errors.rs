//! Mistakes that DPDK's testpmd answers with pages of usage, with an exit status alone, or not at all.
//!
//! Each has to be refused in one line that names the culprit and says what would be right.

use testpmd::app_args::NamesArgs;
use testpmd::command_line::{parse, split, words};
use testpmd::cores::{Cpus, Numbers, resolve};

const NAMES: NamesArgs<'static> = NamesArgs {
    engines: &["io", "mac", "macswap"],
    macswap: &["auto"],
    copy: &["auto"],
};

/// The rest of a command line, and what is said about it.
const MISTAKES: &[(&str, &str)] = &[
    (
        "--nosuch",
        "unknown EAL option `--nosuch`; `--help` lists what there is",
    ),
    (
        "-x",
        "unknown EAL option `-x`; `--help` lists what there is",
    ),
    ("-l 0,1 -i", "`-i` is a testpmd option; put it after `--`"),
    (
        "--vdev net_null0 --nb-cores=2",
        "`--nb-cores` is a testpmd option; put it after `--`",
    ),
    (
        "-- -i --vdev net_null0",
        "`--vdev` is an EAL option; put it before `--`",
    ),
    (
        "-m 512 --socket-mem 512 -- -i",
        "`-m` and `--socket-mem` can't be used at the same time: -m is the total, the other an amount for each node; keep one",
    ),
    (
        "-c 3 -l 0-1",
        "`-c` and `-l` can't be used at the same time: both select cores; keep -l",
    ),
    (
        "-c 0",
        "-c: `0` can't be read: the mask has no bit set; give a mask such as 0x3f, a bit for each CPU",
    ),
    (
        "-l 0-",
        "-l: `0-` can't be read: the list ends where a number should stand; write cores as 0,2-5 or (0-3)@1,4@(5,6)",
    ),
    (
        "--proc-type=secondary",
        "`--proc-type=secondary` can't be had here: no process can attach to another one's ports; run it as a primary with its own --file-prefix",
    ),
    (
        "-- -i --nosuch",
        "unknown testpmd option `--nosuch`; `-- --help` lists what there is",
    ),
    (
        "-- i --rxq=1",
        "stray word `i` among the testpmd options; did you mean `-i`?",
    ),
    (
        "-- -i --burst=1000",
        "--burst: `1000` is out of range; give 0 to 512",
    ),
    (
        "-- -i --burst=abc",
        "--burst: `abc` is not a decimal number; give 0 to 512",
    ),
    (
        "-- -i --burst=-1",
        "--burst: `-1` is out of range; give 0 to 512",
    ),
    (
        "-- -i --rxq=2000",
        "--rxq: `2000` is out of range; give 0 to 1024",
    ),
    (
        "-- -i --nb-cores=0",
        "--nb-cores: `0` is out of range; give 1 to 1023",
    ),
    (
        "-- -i --forward-mode=nosuch",
        "--forward-mode: `nosuch` is unknown; give one of io, mac, macswap",
    ),
    (
        "-- -i --forward-mode=macsawp",
        "--forward-mode: `macsawp` is unknown; did you mean `macswap`? There are io, mac, macswap",
    ),
    (
        "-- -i --port-topology=nosuch",
        "--port-topology: `nosuch` is unknown; give one of paired, chained, loop",
    ),
    (
        "-- -i --portmask=0",
        "--portmask: `0` selects no port; set the bit of at least one port, such as 0x1",
    ),
    (
        "-- -i --mbcache=999",
        "--mbcache: `999` is out of range; give 0 to 512",
    ),
    (
        "-- -i --total-num-mbufs=10",
        "--total-num-mbufs: `10` is out of range; give 1025 to 4294967295",
    ),
    (
        "-- -i --stats-period=abc",
        "--stats-period: `abc` is not a decimal number; give 1 to 65534",
    ),
    (
        "-- -i --txpkts=20",
        "--txpkts: `20` is 20 bytes; give at least 42, for the Ethernet, IPv4 and UDP headers",
    ),
    (
        "-- -i --eth-link-speed=7",
        "--eth-link-speed: `7` is no fixed speed; give one of 1000, 2500, 5000, 10000, 25000, 40000, 50000, 100000, 200000, 400000, 800000",
    ),
    (
        "-- --proc-id=1",
        "--proc-id: `1` is not below --num-procs; give 0 to 0",
    ),
];

fn argv(line: &str) -> Vec<String> {
    let line = format!("testpmd {line}");
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn each_mistake_gets_one_line_that_names_it() {
    for (line, text) in MISTAKES {
        let said = parse(&argv(line), NAMES).map(|read| panic!("{line}: {read:?}"));
        assert_eq!(said.unwrap_err().to_string(), *text, "{line}");
    }
}

#[test]
fn a_missing_cpu_is_named() {
    let line = parse(&argv("-l 0,9 --no-pci"), NAMES).unwrap();
    let two: Numbers = [0, 1].into();
    let cpus = Cpus {
        online: two.clone(),
        permitted: two.clone(),
        affinity: two,
    };
    assert_eq!(
        resolve(&line.eal.cores, &cpus).unwrap_err().to_string(),
        "-l 0,9: CPU 9 doesn't exist here (there are 0-1); to run on those: --lcores 0@0,9@1"
    );
}

#[test]
fn the_line_is_cut_at_the_first_separator() {
    let cut = split(&argv("-l 0 -- -i -- x"));
    assert_eq!(cut.eal, ["-l", "0"]);
    assert_eq!(cut.app, ["-i", "--", "x"]);
    assert_eq!(split(&argv("")).app, [""; 0]);
    assert_eq!(split(&[]).program, "testpmd");
    assert!(parse(&argv("-l 0 -- -i -- x"), NAMES).is_err());
    assert!(parse(&argv("-l 0 --"), NAMES).is_ok());
    // An option that both halves have stays where it is.
    let cut = split(&argv("--coremask=6 --no-mlockall -- --coremask=4"));
    assert_eq!(cut.eal, ["--coremask=6"]);
    assert_eq!(cut.moved, ["--no-mlockall"]);
    // One whose value would be the next word isn't moved; it is refused instead.
    assert!(parse(&argv("--burst 64 -- -i"), NAMES).is_err());
}

#[test]
fn help_ends_reading() {
    assert!(
        parse(&argv("-h --nosuch -- --nosuch"), NAMES)
            .unwrap()
            .eal
            .help
    );
    assert!(parse(&argv("-- -h --nosuch"), NAMES).unwrap().app.help);
}

#[cfg(unix)]
#[test]
fn words_have_to_be_text() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    let good = ["testpmd", "-i"].map(OsString::from);
    assert_eq!(words(good).unwrap(), ["testpmd", "-i"]);
    let bad = [
        OsString::from("testpmd"),
        OsString::from_vec(vec![b'-', 0xff]),
    ];
    assert_eq!(words(bad).unwrap_err().at, 1);
}
