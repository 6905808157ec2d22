//! Command lines that people published, read as the program reads them.
//!
//! The corpus is `tests/corpus/commands.tsv`: lines that run here (L) or name devices that may be absent (P) have to
//! be read; lines that are wrong (B) have to be refused with a word on what is wrong.

use testpmd::app_args::{AppArgs, Burst, NamesArgs, PortSelection, Topology};
use testpmd::command_line::{CommandLine, parse};
use testpmd::cores::{CoreSelection, Cpus, Numbers, resolve};
use testpmd::eal_args::EalArgs;
use testpmd::getopt::ArgError;

const CORPUS: &str = include_str!("../../../tests/corpus/commands.tsv");

const NAMES: NamesArgs<'static> = NamesArgs {
    engines: &[
        "io", "mac", "macswap", "flowgen", "rxonly", "txonly", "csum", "icmpecho", "noisy",
        "5tswap",
    ],
    macswap: &["auto", "scalar"],
    copy: &["auto", "libc"],
};

/// Lines that are read and then refused, because they ask for what this program doesn't do; the error names it.
const UNSUPPORTED: &[(&str, &str)] = &[("C041", "--num-procs=2"), ("C063", "--trace=.*")];

/// What the error of a wrong line has to point at, and what it has to offer.
const WRONG: &[(&str, &[&str])] = &[
    ("C034", &["`i`", "did you mean `-i`"]),
    ("C053", &["`nb-cores=2`", "did you mean `--nb-cores=2`"]),
    (
        "C096",
        &["`--forward-mode` is a testpmd option", "after `--`"],
    ),
    (
        "C103",
        &["`--enable-hw-vlan-strip` and `--nb-cores=2`", "blank"],
    ),
];

struct Row {
    id: &'static str,
    class: &'static str,
    words: Vec<String>,
}

fn rows() -> Vec<Row> {
    let lines = CORPUS.lines().filter(|l| !l.starts_with('#'));
    lines
        .map(|line| {
            let fields: Vec<&'static str> = line.split('\t').collect();
            assert_eq!(fields.len(), 6, "{line}");
            Row {
                id: fields[0],
                class: fields[1],
                words: shell_words(fields[5]),
            }
        })
        .collect()
}

/// Splits as a shell does, as far as the corpus needs: blanks, single and double quotes.
fn shell_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    assert_eq!(quote, None, "{text}");
    words.extend(word);
    words
}

fn line(id: &str) -> CommandLine {
    let rows = rows();
    let row = rows.iter().find(|r| r.id == id).unwrap();
    parse(&row.words, NAMES).unwrap()
}

#[test]
fn every_published_line_is_read_or_refused_as_its_class_says() {
    let rows = rows();
    assert!(rows.len() > 110, "{}", rows.len());
    for row in &rows {
        let unsupported = UNSUPPORTED.iter().find(|(id, _)| *id == row.id);
        match (row.class, parse(&row.words, NAMES)) {
            ("L", Ok(_)) => {}
            ("P", Ok(_)) => assert!(unsupported.is_none(), "{} was read", row.id),
            ("P", Err(ArgError::Unsupported { option, .. })) => {
                let (_, named) = unsupported.unwrap_or_else(|| panic!("{}: {option}", row.id));
                assert_eq!(option, format!("`{named}`"), "{}", row.id);
            }
            ("B", Err(error)) => {
                let (_, needles) = WRONG.iter().find(|(id, _)| *id == row.id).unwrap();
                let text = error.to_string();
                assert!(!text.contains('\n'), "{text}");
                for needle in *needles {
                    assert!(text.contains(needle), "{}: {text}", row.id);
                }
            }
            (class, result) => panic!("{} ({class}): {result:?}", row.id),
        }
    }
}

#[test]
fn both_names_of_the_program_are_known() {
    for (id, name) in [("C001", "dpdk-testpmd"), ("C003", "testpmd")] {
        assert_eq!(line(id).program, name);
    }
    let argv = ["./build/app/test-pmd/testpmd", "--", "-i"].map(str::to_owned);
    assert_eq!(parse(&argv, NAMES).unwrap().program, "testpmd");
}

fn same(cores: impl IntoIterator<Item = u32>) -> CoreSelection {
    CoreSelection::Same(cores.into_iter().collect())
}

fn notices(line: &CommandLine) -> Vec<String> {
    line.notices().map(ToString::to_string).collect()
}

/// `args` with what was checked one by one set back, so that everything else has to be the default.
fn rest_is_default(line: &CommandLine) {
    let eal = EalArgs {
        cores: line.eal.cores.clone(),
        devices: line.eal.devices.clone(),
        memory: line.eal.memory.clone(),
        channels: line.eal.channels,
        notices: line.eal.notices.clone(),
        ..EalArgs::default()
    };
    assert_eq!(line.eal, eal);
    let app = AppArgs {
        run: line.app.run.clone(),
        ports: line.app.ports.clone(),
        queues: line.app.queues.clone(),
        pools: line.app.pools.clone(),
        offloads: line.app.offloads.clone(),
        echo: line.app.echo.clone(),
        notices: line.app.notices.clone(),
        ..AppArgs::default()
    };
    assert_eq!(line.app, app);
}

#[test]
fn founding_vhost_loop() {
    let front = line("C001");
    assert_eq!(front.eal.cores.selection, same(4..=6));
    assert_eq!(
        front.eal.devices.vdevs,
        ["net_virtio_user0,mac=00:01:02:03:04:05,path=./vhost-net,server=1,mrg_rxbuf=1,in_order=1"]
    );
    assert!(front.eal.devices.no_pci && front.eal.memory.single_file_segments);
    assert_eq!(front.eal.memory.file_prefix, "virtio1");
    assert!(front.app.run.interactive && !front.app.run.auto_start);
    assert_eq!(front.app.echo, ["Interactive-mode selected"]);
    assert_eq!(notices(&front), Vec::<String>::new());
    rest_is_default(&front);

    let back = line("C002");
    assert_eq!(back.eal.cores.selection, same(8..=10));
    assert_eq!(
        back.eal.devices.vdevs,
        ["net_vhost0,iface=vhost-net,client=1"]
    );
    assert_eq!(back.eal.memory.file_prefix, "vhost1");
    rest_is_default(&back);
}

#[test]
fn founding_pic_lines() {
    let c3 = line("C003");
    assert_eq!(c3.eal.cores.selection, same(18..=30));
    assert_eq!(c3.eal.channels, Some(4));
    assert_eq!(c3.eal.devices.allow, ["d8:00.1", "d8:00.0"]);
    assert_eq!(c3.eal.memory.per_node_mb, [2048, 2048]);
    assert_eq!(c3.app.pools.port_numa, []);
    assert_eq!(c3.app.pools.socket, Some(1));
    assert_eq!(c3.app.queues.burst, Burst::Packets(64));
    assert_eq!(
        (c3.app.queues.rxd, c3.app.queues.txd),
        (Some(512), Some(512))
    );
    assert_eq!((c3.app.queues.rxq, c3.app.queues.txq), (Some(2), Some(2)));
    assert_eq!(c3.app.pools.mbcache, 512);
    assert_eq!(c3.app.ports.nb_cores, Some(1));
    assert!(!c3.app.run.link_events && c3.app.run.interactive && c3.app.run.auto_start);
    assert_eq!(c3.app.offloads.rss, 0x2_abac);
    assert_eq!(
        c3.app.echo,
        ["Interactive-mode selected", "Auto-start selected"]
    );
    assert_eq!(
        notices(&c3),
        [
            "-c 0x7ffc0000 is deprecated; use -l 18-30",
            "-n has no effect here: buffers are laid out in cache lines, whatever the memory modules are",
            "-w is deprecated; use -a",
            "no port is made for d8:00.1, d8:00.0: no PCI port kind exists here; ports come from --vdev, \
             such as --vdev net_null0",
            "--port-numa-config=0,1,1,1 changes nothing without parentheses; \
             write --port-numa-config=(0,0),(1,0)",
            "--socket-num has no effect here: it only counts with --no-numa",
        ]
    );
    rest_is_default(&c3);
}

#[test]
fn founding_pic_lines_with_more_cores() {
    let c4 = line("C004");
    assert_eq!(c4.eal.cores.selection, same(0..=16));
    assert_eq!(c4.eal.cores.main, Some(0));
    assert_eq!(
        c4.eal.devices.allow,
        ["00:05.0,mprq_en=1,mprq_log_stride_num=6"]
    );
    assert_eq!(c4.eal.memory.per_node_mb, [2048, 0]);
    assert_eq!((c4.app.queues.rxq, c4.app.queues.txq), (Some(16), Some(16)));
    assert_eq!(c4.app.ports.topology, Topology::Chained);
    assert_eq!(c4.app.ports.forward_mode.as_deref(), Some("macswap"));
    assert_eq!(
        c4.app.echo,
        [
            "Set macswap packet forwarding mode",
            "Interactive-mode selected",
            "Auto-start selected"
        ]
    );
    rest_is_default(&c4);

    let c5 = line("C005");
    assert_eq!(c5.eal.cores.selection, same(7..=15));
    assert_eq!(c5.eal.devices.allow.len(), 2);
    assert_eq!(c5.app.ports.nb_cores, Some(8));
    assert!(c5.app.run.auto_start && c5.app.run.link_events);
    rest_is_default(&c5);
}

#[test]
fn founding_macswap_lines() {
    let c6 = line("C006");
    assert_eq!(c6.eal.cores.selection, same(0..=2));
    assert_eq!(c6.eal.devices.vdevs, ["net_vdev_netvsc,ignore=1"]);
    assert_eq!(c6.eal.devices.allow, ["0002:00:02.0"]);
    assert_eq!(c6.eal.memory.per_node_mb, [2048]);
    assert_eq!(
        (c6.app.queues.rxd, c6.app.queues.txd),
        (Some(256), Some(256))
    );
    assert_eq!(c6.app.ports.nb_cores, Some(2));
    assert_eq!(c6.app.offloads.rss, 0xa38c);
    rest_is_default(&c6);

    let c7 = line("C007");
    assert_eq!(
        (c7.app.queues.rxd, c7.app.queues.txd),
        (Some(256), Some(1024))
    );
    assert_eq!(c7.app.ports.topology, Topology::Chained);
    assert_eq!(c7.app.offloads.rss, 0x2_abac);
    rest_is_default(&c7);

    let c8 = line("C008");
    assert_eq!(c8.eal.cores.selection, same(20..=23));
    assert_eq!(c8.eal.devices.allow, ["af:00.0", "b1:00.0", "da:00.0"]);
    assert!(!c8.app.run.interactive);
    assert_eq!(
        (c8.app.queues.rxd, c8.app.queues.txd),
        (Some(2048), Some(512))
    );
    rest_is_default(&c8);

    let c9 = line("C009");
    assert_eq!(c9.eal.cores.main, Some(0));
    assert_eq!((c9.app.queues.rxq, c9.app.queues.txq), (Some(8), Some(8)));
    assert_eq!(c9.app.ports.nb_cores, Some(4));
    rest_is_default(&c9);
}

#[test]
fn cores_of_another_machine_come_with_a_map_for_this_one() {
    let two: Numbers = [0, 1].into();
    let cpus = Cpus {
        online: two.clone(),
        permitted: two.clone(),
        affinity: two,
    };
    let error = resolve(&line("C001").eal.cores, &cpus).unwrap_err();
    assert_eq!(
        error.to_string(),
        "-l 4-6: CPUs 4-6 don't exist here (there are 0-1); to run on those: --lcores 4@0,5@1,6@0"
    );
    let error = resolve(&line("C008").eal.cores, &cpus).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("-c F00000: CPUs 20-23 don't exist here")
    );
}

#[test]
fn odd_spellings() {
    let c28 = line("C028");
    assert_eq!(c28.app.ports.selection, PortSelection::Mask(vec![0, 1]));
    let c40 = line("C040");
    assert!(!c40.app.run.mlockall && c40.app.run.auto_start && c40.eal.memory.in_memory);
    assert!(
        notices(&c40)
            .iter()
            .any(|n| n.starts_with("--no-mlockall is a testpmd option"))
    );
    let c51 = line("C051");
    assert_eq!(c51.eal.cores.selection, same([0, 2]));
    assert!(c51.eal.memory.single_file_segments);
    assert_eq!(notices(&c51), Vec::<String>::new());
    assert!(line("C046").app.run.interactive);
    assert_eq!(line("C059").eal.channels, Some(4));
    assert_eq!(line("C060").eal.devices.allow, ["05:02.0,representor=[1]"]);
    assert_eq!(line("C098").eal.cores.selection, same(0..=23));
    let c118 = line("C118");
    assert!(c118.eal.version);
    assert_eq!(c118.app.ports.nb_ports, None);
    assert_eq!(c118.app.pools.max_pkt_len, Some(1518));
    let c119 = line("C119");
    assert!(c119.app.run.interactive && c119.app.run.auto_start && !c119.app.run.mlockall);
    assert_eq!(line("C127").eal.memory.total_mb, Some(2048));
}
