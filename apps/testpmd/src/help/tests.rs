//! Help is complete and fits.

use super::*;
use crate::getopt::specs;

const NAMES: NamesArgs<'static> = NamesArgs {
    engines: &["io", "mac"],
    macswap: &["auto"],
    copy: &["auto"],
};

#[test]
fn every_row_is_there_and_every_line_fits() {
    for (text, rows) in [
        (eal("testpmd"), specs(eal_args::GROUPS)),
        (app("dpdk-testpmd", NAMES), specs(app_args::GROUPS)),
    ] {
        for row in rows {
            assert!(text.contains(&row.name()), "{} is not in help", row.name());
            assert!(!row.help.is_empty());
            if let Treatment::NoEffect(why) | Treatment::Refused(why) = row.treatment {
                let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(flat.contains(why), "{why}");
            }
        }
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
    assert!(app("testpmd", NAMES).contains("Engines: io, mac\n"));
    assert!(eal("testpmd").starts_with("Usage: testpmd "));
}
