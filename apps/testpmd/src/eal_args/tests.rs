//! EAL options: what each means, what conflicts, what is said about those without effect.

use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::cores::CoreSelection;
use crate::getopt::{Arity, Treatment};

fn read_line(line: &str) -> Result<EalArgs, ArgError> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    parse(&words)
}

fn good(line: &str) -> EalArgs {
    read_line(line).unwrap_or_else(|e| panic!("{line}: {e}"))
}

fn error(line: &str) -> String {
    match read_line(line) {
        Ok(args) => panic!("{line} was read: {args:?}"),
        Err(e) => e.to_string(),
    }
}

fn notices(args: &EalArgs) -> Vec<String> {
    args.notices.iter().map(ToString::to_string).collect()
}

#[test]
fn nothing_said() {
    let args = good("");
    assert_eq!(args, EalArgs::default());
    assert_eq!(args.memory.file_prefix, "rte");
    assert_eq!(args.cores.selection, CoreSelection::Affinity);
    assert!(args.notices.is_empty());
}

#[test]
fn memory_options() {
    let m = good("-m 64 --no-huge --file-prefix=x --no-shconf").memory;
    assert_eq!((m.total_mb, m.no_huge, m.no_shconf), (Some(64), true, true));
    assert_eq!(m.file_prefix, "x");
    let m = good("--numa-mem=1024,0 --numa-limit 2048,0 --huge-dir /mnt/huge --in-memory").memory;
    assert_eq!(m.per_node_mb, [1024, 0]);
    assert_eq!(m.limit_per_node_mb, [2048, 0]);
    assert_eq!(m.huge_dir, Some(PathBuf::from("/mnt/huge")));
    assert!(m.in_memory);
    let m = good("--socket-mem=512 --socket-limit=1 --single-file-segments --iova-mode=va").memory;
    assert_eq!((m.per_node_mb, m.limit_per_node_mb), (vec![512], vec![1]));
    assert_eq!(m.iova_mode, Some(IovaMode::Va));
    for (text, when) in [
        ("--huge-unlink", HugeUnlink::Always),
        ("--huge-unlink=always", HugeUnlink::Always),
        ("--huge-unlink=existing", HugeUnlink::Existing),
        ("--huge-unlink=never", HugeUnlink::Never),
    ] {
        assert_eq!(good(text).memory.huge_unlink, when);
    }
    assert_eq!(
        good("--base-virtaddr=0x100000001").memory.base_virtaddr,
        Some(0x1_0100_0000)
    );
    let page = |page_bytes, limit_bytes| PageLimit {
        page_bytes,
        limit_bytes,
    };
    assert_eq!(
        good("--pagesz-mem=2M:64M --pagesz-mem 1G:0")
            .memory
            .page_limits,
        [page(2 << 20, 64 << 20), page(1 << 30, 0)]
    );
    let twice = good("--pagesz-mem=2M:64M --pagesz-mem=2048K:2M");
    assert_eq!(twice.memory.page_limits, [page(2 << 20, 2 << 20)]);
    assert_eq!(notices(&twice).len(), 1);
}

#[test]
fn memory_options_that_are_wrong() {
    for line in [
        "-m 0",
        "-m x",
        "-m -1",
        "--numa-mem=1,",
        "--numa-mem=a",
        "--file-prefix=",
        "--file-prefix=%d",
        "--huge-dir=",
        "--huge-unlink=sometimes",
        "--iova-mode=xa",
        "--pagesz-mem=2M",
        "--pagesz-mem=3M:6M",
        "--pagesz-mem=2M:3M",
        "--pagesz-mem=2M:x",
        "--pagesz-mem=:",
        "--pagesz-mem=99999999T:0",
        "--base-virtaddr=0xffffffffffffffff",
        "--base-virtaddr=800000000000",
        "--base-virtaddr=x",
    ] {
        assert!(read_line(line).is_err(), "{line}");
    }
}

#[test]
fn abbreviations_of_every_release() {
    let args = good(
        "--lcore 0-1 --single-file-segment --master-l 1 --pci-w 00:05.0 --socket-m 5 --file-p=x",
    );
    assert_eq!(args.cores.selection, CoreSelection::Same([0, 1].into()));
    assert!(args.memory.single_file_segments);
    assert_eq!(args.cores.main, Some(1));
    assert_eq!(args.devices.allow, ["00:05.0"]);
    assert_eq!(args.memory.per_node_mb, [5]);
    assert_eq!(args.memory.file_prefix, "x");
    // Names that DPDK gave only once it had stopped to abbreviate take no part.
    assert_eq!(good("--pagesz-mem=2M:2M --main=1").cores.main, Some(1));
    assert!(error("--coremas 3").contains("can't be shortened"));
}

#[test]
fn old_names_warn_once_with_the_new_one() {
    let args = good("-w 00:05.0 -w 00:06.0 --master-lcore=1 --pci-whitelist=00:07.0 -c 6");
    assert_eq!(args.devices.allow, ["00:05.0", "00:06.0", "00:07.0"]);
    assert_eq!(args.cores.main, Some(1));
    let said = notices(&args);
    for line in [
        "-w is deprecated; use -a",
        "--master-lcore is deprecated; use --main-lcore",
        "--pci-whitelist is deprecated; use -a",
        "-c 6 is deprecated; use -l 1-2",
    ] {
        assert_eq!(
            said.iter().filter(|n| *n == line).count(),
            1,
            "{line}: {said:?}"
        );
    }
    let args = good("--pci-blacklist=00:07.0 -b 00:08.0");
    assert_eq!(args.devices.block, ["00:07.0", "00:08.0"]);
}

#[test]
fn devices() {
    let args = good("--vdev net_null0 --vdev=net_pcap0,rx_pcap=a,rx_pcap=b --no-pci -A");
    assert_eq!(
        args.devices.vdevs,
        ["net_null0", "net_pcap0,rx_pcap=a,rx_pcap=b"]
    );
    assert!(args.devices.no_pci);
    assert_eq!(args.devices.autoprobe, Autoprobe::Off);
    assert!(args.notices.is_empty());
    for device in [
        "0000:3b:00.0",
        "3b:00.0",
        "d8:00.1,mprq_en=1",
        "0000:0a:00.01",
        "pci:0000:3b:00.0",
        "vdev:net_null0",
        "auxiliary:mlx5_core.sf.2",
        "vmbus:1b2c",
        "net_null0",
        "bus=pci,addr=3b:00.0",
        "05:02.0,representor=[1]",
    ] {
        assert_eq!(good(&format!("-a{device}")).devices.allow, [device]);
    }
    // Addresses that mean "no hardware" need no word.
    for nothing in ["0000:00:00.0", "0:0:0.0", "00:00.0"] {
        assert!(good(&format!("-a {nothing}")).notices.is_empty());
    }
    assert!(notices(&good("-a 3b:00.0"))[0].starts_with("no port is made for 3b:00.0: "));
    for device in ["xxx", "3b:00", "3b.0", ":", "3b:00.00.1", "zz:00.0", ""] {
        assert!(read_line(&format!("--allow={device}")).is_err(), "{device}");
    }
    assert!(error("--vdev=").contains("is empty"));
}

#[test]
fn log_levels() {
    let rule = |target, level| LogRule { target, level };
    let args = good(
        "--log-level=8 --log-level *:debug --log-level=a.b,err --log-level=c,d:x,1 --log-level=n",
    );
    assert_eq!(
        args.log.rules,
        [
            rule(LogTarget::Global, LogLevel::Debug),
            rule(LogTarget::Glob("*".into()), LogLevel::Debug),
            rule(LogTarget::Regex("a.b".into()), LogLevel::Error),
            rule(LogTarget::Regex("c,d:x".into()), LogLevel::Emergency),
            rule(LogTarget::Global, LogLevel::Notice),
        ]
    );
    let clamped = good("--log-level=10");
    assert_eq!(
        clamped.log.rules,
        [rule(LogTarget::Global, LogLevel::Debug)]
    );
    assert_eq!(
        notices(&clamped),
        ["--log-level=10: the highest level is 8, debug"]
    );
    assert!(good("--log-level=help").log.help);
    for line in [
        "--log-level=0",
        "--log-level=loud",
        "--log-level=",
        "--log-level=a:",
        "--log-level=a,",
    ] {
        assert!(read_line(line).is_err(), "{line}");
    }
}

#[test]
fn the_rest() {
    assert!(good("-h --nosuch").help);
    assert!(good("-v").version);
    assert_eq!(
        good("--force-max-simd-bitwidth=512").max_simd_bits,
        Some(512)
    );
    assert_eq!(good("--force-max-simd-bitwidth=0").max_simd_bits, None);
    assert!(error("--force-max-simd-bitwidth=100").contains("give 64, 128, 256, 512"));
    assert_eq!(good("--no-telemetry").telemetry, Telemetry::Off);
    assert!(error("--proc-type=secondary").contains("primary"));
    assert!(good("--proc-type=AUTO").notices.is_empty());
    assert_eq!(good("-R").cores.remap_from, Some(0));
    assert_eq!(good("-R10").cores.remap_from, Some(10));
    assert_eq!(good("--remap-lcore-ids=3").cores.remap_from, Some(3));
    let args = good("-l 0-2 -S 2");
    assert_eq!(args.cores.service, [2].into());
    assert_eq!(args.cores.written, "-l 0-2");
    assert_eq!(good("-s 0x4").cores.service, [2].into());
    assert!(error("--trace=.*").contains("no trace points"));
    assert_eq!(notices(&good("-n 4 -r 2")).len(), 1);
    for line in [
        "-n 0",
        "-r 17",
        "--vfio-intr=x",
        "--vfio-vf-token=1-2",
        "--syslog=nobody",
        "--trace-bufsz=1KK",
    ] {
        assert!(read_line(line).is_err(), "{line}");
    }
    good(
        "--vfio-intr=msix --vfio-vf-token=14d63f20-8445-11ea-8900-1f9ce7d5650d --syslog=local7 --trace-bufsz=1K",
    );
}

#[test]
fn a_later_value_replaces_an_earlier_one_with_a_notice() {
    let args = good("-l 0-1 -l 0-2 -m 3 -m 3");
    assert_eq!(args.cores.selection, CoreSelection::Same([0, 1, 2].into()));
    assert_eq!(
        notices(&args),
        ["-l was given more than once; `0-2` replaces `0-1`"]
    );
    let args = good("--numa-mem=1 --socket-mem=2");
    assert_eq!(args.memory.per_node_mb, [2]);
    assert_eq!(notices(&args).len(), 1);
}

#[test]
fn every_conflict_is_refused_both_ways() {
    let sample = |key: &str| {
        let rows = specs(GROUPS);
        let row = rows.iter().find(|s| s.long == key).expect(key);
        let value = match key {
            "allow" | "block" => "00:05.0",
            "pagesz-mem" => "2M:2M",
            "coremask" | "service-coremask" => "2",
            _ => "1",
        };
        match row.arity {
            Arity::Value => format!("--{key}={value}"),
            _ => format!("--{key}"),
        }
    };
    for c in CONFLICTS {
        for (first, second) in [(c.one, c.other), (c.other, c.one)] {
            let text = error(&format!("{} {}", sample(first), sample(second)));
            let begins = format!("`--{first}` and `--{second}` can't be used at the same time: ");
            assert!(text.starts_with(&begins), "{text}");
        }
    }
    assert!(
        error("-w 00:05.0 --pci-blacklist=00:06.0").starts_with("`-w` and `--pci-blacklist` can't")
    );
}

#[test]
fn rows_are_well_formed() {
    let rows = specs(GROUPS);
    for (i, row) in rows.iter().enumerate() {
        assert!(
            rows.iter().any(|r| r.long == row.key),
            "{}: key {}",
            row.name(),
            row.key
        );
        for other in &rows[i + 1..] {
            assert_ne!(row.long, other.long);
            assert!(
                row.short.is_none() || row.short != other.short,
                "{}",
                row.name()
            );
        }
        assert_eq!(
            row.arity == Arity::Flag,
            row.metavar.is_empty(),
            "{}",
            row.name()
        );
    }
    let listed = "lcores coremask main-lcore service-corelist service-coremask remap-lcore-ids allow block \
        no-auto-probing auto-probing vdev no-pci driver-path memory-channels memory-ranks memory-size numa-mem \
        socket-mem numa-limit socket-limit pagesz-mem no-huge in-memory legacy-mem match-allocations \
        single-file-segments huge-dir huge-unlink file-prefix no-shconf proc-type base-virtaddr iova-mode \
        huge-worker-stack force-max-simd-bitwidth mbuf-pool-ops-name log-level log-color log-timestamp syslog \
        trace trace-dir trace-bufsz trace-mode telemetry no-telemetry no-hpet vmware-tsc-map create-uio-dev \
        vfio-intr vfio-vf-token version help master-lcore pci-whitelist pci-blacklist";
    for name in listed.split_whitespace() {
        assert!(rows.iter().any(|r| r.long == name), "{name}");
    }
}

#[test]
fn an_option_without_effect_says_so() {
    for row in specs(GROUPS) {
        let Treatment::NoEffect(why) = row.treatment else {
            continue;
        };
        let value = match (row.arity, row.long) {
            (Arity::Value, "vfio-intr") => " msi",
            (Arity::Value, "vfio-vf-token") => " 14d63f20-8445-11ea-8900-1f9ce7d5650d",
            (Arity::Value, "trace-mode") => " discard",
            (Arity::Value, _) => " 4",
            _ => "",
        };
        let args = good(&format!("--{}{value}", row.long));
        assert_eq!(
            notices(&args),
            [format!("--{} has no effect here: {why}", row.long)]
        );
    }
}

proptest! {
    #[test]
    fn no_words_panic(words in proptest::collection::vec(
        prop_oneof![
            proptest::sample::select(specs(GROUPS)).prop_map(|s| s.name()),
            (proptest::sample::select(specs(GROUPS)), "\\PC{0,12}").prop_map(|(s, v)| format!("{}={v}", s.name())),
            (proptest::sample::select(specs(GROUPS)), "[0-9a-fx,:@()MK.\\-]{0,12}")
                .prop_map(|(s, v)| format!("{}={v}", s.name())),
            "-[a-zA-Z][0-9a-fx,]{0,4}",
        ], 0..8))
    {
        if let Err(error) = parse(&words) {
            prop_assert!(!error.to_string().contains('\n'));
        }
    }
}
