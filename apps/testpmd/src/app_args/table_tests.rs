//! Every row of testpmd's tables: well formed, complete, never silent, never a panic.

use proptest::prelude::*;

use super::*;
use crate::getopt::{Arity, Treatment};

const NAMES: NamesArgs<'static> = NamesArgs {
    engines: &["io"],
    macswap: &["auto"],
    copy: &["auto"],
};

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
    let listed = "interactive auto-start cmdline-file cmdline-file-noecho tx-first stats-period display-xstats \
        disable-link-check disable-device-start no-lsc-interrupt no-rmv-interrupt hot-plug print-event mask-event \
        mlockall no-mlockall num-procs proc-id latencystats bitrate-stats record-core-cycles record-burst-stats \
        nb-cores coremask nb-ports portmask portlist port-topology forward-mode eth-peers-configfile eth-peer \
        hairpinq hairpin-mode hairpin-map rxq txq rxd txd burst flowgen-clones flowgen-flows rxpt rxht rxwt txpt \
        txht txwt rxfreet txfreet txrst rxq-share no-flush-rx multi-rx-mempool rxoffs rxpkts rxhdrs numa no-numa \
        socket-num port-numa-config ring-numa-config mbuf-size total-num-mbufs mbcache max-pkt-len \
        max-lro-pkt-size mp-alloc mp-anon no-iova-contig disable-rss enable-rss rss-ip rss-udp rss-level-inner \
        rss-level-outer rx-mq-mode enable-rx-cksum enable-rx-timestamp enable-lro enable-scatter \
        disable-crc-strip enable-hw-vlan enable-hw-vlan-filter enable-hw-vlan-strip enable-hw-vlan-extend \
        enable-hw-qinq-strip enable-drop-en rx-offloads tx-offloads vxlan-gpe-port geneve-parsed-port \
        flow-isolate-all disable-flow-flush txpkts txonly-multi-flow txonly-flows tx-ip tx-udp eth-link-speed \
        noisy-tx-sw-buffer-size noisy-tx-sw-buffer-flushtime noisy-lkup-memory noisy-lkup-num-writes \
        noisy-lkup-num-reads noisy-lkup-num-reads-writes noisy-forward-mode pkt-filter-mode \
        pkt-filter-report-hash pkt-filter-size pkt-filter-drop-queue tx-queue-stats-mapping \
        rx-queue-stats-mapping disable-hw-vlan disable-hw-vlan-strip crc-strip txqflags help";
    for name in listed.split_whitespace() {
        assert!(rows.iter().any(|r| r.long == name), "{name}");
    }
}

#[test]
fn an_option_without_effect_or_without_hope_says_so() {
    for row in specs(GROUPS) {
        let value = if row.arity == Arity::Value { "=1" } else { "" };
        let line = format!("--{}{value}", row.long);
        match row.treatment {
            Treatment::NoEffect(why) => {
                let args = parse(std::slice::from_ref(&line), NAMES).unwrap();
                let said: Vec<String> = args.notices.iter().map(ToString::to_string).collect();
                assert_eq!(said, [format!("--{} has no effect here: {why}", row.long)]);
            }
            Treatment::Refused(why) => {
                let error = parse(std::slice::from_ref(&line), NAMES)
                    .unwrap_err()
                    .to_string();
                assert_eq!(error, format!("`{line}` can't be had here: {why}"));
            }
            _ => {}
        }
    }
}

proptest! {
    #[test]
    fn no_words_panic(words in proptest::collection::vec(
        prop_oneof![
            proptest::sample::select(specs(GROUPS)).prop_map(|s| s.name()),
            (proptest::sample::select(specs(GROUPS)), "\\PC{0,12}").prop_map(|(s, v)| format!("{}={v}", s.name())),
            (proptest::sample::select(specs(GROUPS)), "[0-9a-fx,:()\\-]{0,12}")
                .prop_map(|(s, v)| format!("{}={v}", s.name())),
            "-[a-z]{1,3}",
        ], 0..8))
    {
        if let Err(error) = parse(&words, NAMES) {
            prop_assert!(!error.to_string().contains('\n'));
        }
    }
}
