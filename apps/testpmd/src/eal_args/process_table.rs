//! Rows: the process itself.

use super::{EalArgs, Telemetry};
use crate::getopt::{ArgError, Given, Opt, flag, opt, value};

pub(super) const ROWS: &[Opt<EalArgs>] = &[
    opt(
        value(
            "proc-type",
            "TYPE",
            "primary, or auto, which is the same here",
        )
        .limited("there are no secondary processes"),
        proc_type,
    ),
    opt(
        value(
            "force-max-simd-bitwidth",
            "BITS",
            "Widest vectors to use: 64, 128, 256, 512; 0: any",
        ),
        simd,
    ),
    opt(
        flag("telemetry", "Offer the telemetry socket")
            .no_effect("there is no telemetry socket yet"),
        |args, _| {
            args.telemetry = Telemetry::On;
            Ok(())
        },
    ),
    opt(
        flag("no-telemetry", "Offer no telemetry socket"),
        |args, _| {
            args.telemetry = Telemetry::Off;
            Ok(())
        },
    ),
    opt(
        flag("no-hpet", "Don't use the HPET").no_effect("the HPET is never used"),
        |_, _| Ok(()),
    ),
    opt(
        flag("vmware-tsc-map", "Use VMware's TSC map").no_effect("the clock is the system's own"),
        |_, _| Ok(()),
    ),
    opt(
        flag("version", "Name the version and go on").short('v'),
        |args, _| {
            args.version = true;
            Ok(())
        },
    ),
    opt(
        flag("help", "Print this text and end").short('h'),
        |args, _| {
            args.help = true;
            Ok(())
        },
    ),
];

fn proc_type(_: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    match given.text().to_ascii_lowercase().as_str() {
        "primary" | "auto" => Ok(()),
        "secondary" => Err(given.unsupported(
            "no process can attach to another one's ports; run it as a primary with its own --file-prefix",
        )),
        _ => Err(given.not_among(&["primary", "auto"])),
    }
}

fn simd(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let right = "give 64, 128, 256, 512, or 0 for no bound";
    let bits = given.any_base(given.text(), 0..=u64::from(u16::MAX))?;
    args.max_simd_bits = match u16::try_from(bits) {
        Ok(0) => None,
        Ok(n @ (64 | 128 | 256 | 512)) => Some(n),
        _ => return Err(given.bad("is no vector width", right)),
    };
    Ok(())
}
