//! Rows: which devices become ports.

use std::path::PathBuf;

use super::{Autoprobe, EalArgs};
use crate::getopt::{ArgError, Given, Opt, flag, opt, value};

/// Drivers are part of the program.
const BUILT_IN: &str = "drivers are built in, no library is loaded";
/// There is no PCI port kind.
const NO_PCI_PORTS: &str = "there are no PCI ports here, so no device is bound to VFIO or UIO";

/// Buses that a device string may name in front.
const BUSES: [&str; 11] = [
    "pci",
    "vdev",
    "auxiliary",
    "vmbus",
    "platform",
    "cdx",
    "uacce",
    "ifpga",
    "fslmc",
    "dpaa",
    "dpaa_bus",
];
/// How the names of virtual devices begin.
const VDEVS: [&str; 4] = ["net_", "eth_", "virtio_user", "crypto_"];

pub(super) const ROWS: &[Opt<EalArgs>] = &[
    opt(
        value(
            "vdev",
            "DRIVER[,KEY=VALUE...]",
            "Add a virtual device, such as net_null0",
        )
        .repeats(),
        |args, given| {
            let text = given.non_empty("a device such as net_null0")?;
            args.devices.vdevs.push(text.to_owned());
            Ok(())
        },
    ),
    opt(
        value(
            "allow",
            "DEVICE",
            "Take this device only; no PCI port kind exists yet",
        )
        .short('a')
        .repeats(),
        allow,
    ),
    opt(
        value("pci-whitelist", "DEVICE", "Old name of --allow")
            .short('w')
            .means("allow")
            .repeats()
            .past()
            .deprecated("-a"),
        allow,
    ),
    opt(
        value(
            "block",
            "DEVICE",
            "Don't take this device; no PCI port kind exists yet",
        )
        .short('b')
        .repeats(),
        block,
    ),
    opt(
        value("pci-blacklist", "DEVICE", "Old name of --block")
            .means("block")
            .repeats()
            .past()
            .deprecated("-b"),
        block,
    ),
    opt(flag("no-pci", "Take no PCI device"), |args, _| {
        args.devices.no_pci = true;
        Ok(())
    }),
    opt(
        flag("no-auto-probing", "Take only devices that are named")
            .short('A')
            .exact(),
        |args, _| {
            args.devices.autoprobe = Autoprobe::Off;
            Ok(())
        },
    ),
    opt(
        flag(
            "auto-probing",
            "Take the devices there are (as without this)",
        )
        .exact(),
        |args, _| {
            args.devices.autoprobe = Autoprobe::On;
            Ok(())
        },
    ),
    opt(
        value("driver-path", "FILE|DIR", "Driver library to load")
            .short('d')
            .repeats()
            .exact()
            .no_effect(BUILT_IN),
        |args, given| {
            let path = given.non_empty("a file or folder")?;
            args.driver_paths.push(PathBuf::from(path));
            Ok(())
        },
    ),
    opt(
        flag("create-uio-dev", "Create /dev/uioX").no_effect(NO_PCI_PORTS),
        |_, _| Ok(()),
    ),
    opt(
        value("vfio-intr", "MODE", "Interrupt mode: legacy, msi, msix").no_effect(NO_PCI_PORTS),
        |_, given| given.choice(&[("legacy", ()), ("msi", ()), ("msix", ())]),
    ),
    opt(
        value("vfio-vf-token", "UUID", "Token that a PF and its VFs share").no_effect(NO_PCI_PORTS),
        |_, given| uuid(given),
    ),
];

fn allow(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    args.devices.allow.push(device(given)?);
    Ok(())
}

fn block(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    args.devices.block.push(device(given)?);
    Ok(())
}

/// `[bus:]name[,key=value...]`; a name without a bus has to be a PCI address or a virtual device.
fn device(given: &Given<'_>) -> Result<String, ArgError> {
    let text = given.non_empty("a device such as 0000:3b:00.0")?;
    let name = text.split(',').next().unwrap_or_default();
    let has_bus = BUSES.iter().any(|bus| {
        let rest = name.strip_prefix(bus).and_then(|r| r.strip_prefix(':'));
        rest.is_some_and(|r| !r.is_empty())
    });
    let vdev = VDEVS.iter().any(|v| name.starts_with(v));
    if is_pci(name) || has_bus || vdev || name.starts_with("bus=") {
        return Ok(text.to_owned());
    }
    Err(given.bad_part(
        name,
        "is not a device name",
        "give a PCI address such as 0000:3b:00.0, or add a virtual device with --vdev",
    ))
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.len() <= 8 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// `[DDDD:]BB:DD.F`, hexadecimal.
fn is_pci(name: &str) -> bool {
    let Some((slot, function)) = name.rsplit_once('.') else {
        return false;
    };
    let fields: Vec<&str> = slot.split(':').collect();
    matches!(fields.len(), 2 | 3)
        && fields.iter().all(|f| is_hex(f))
        && function.trim_start_matches('0').len() <= 1
        && is_hex(function)
}

/// True for an address that people give to mean "no hardware": domain, bus, device and function 0.
fn means_nothing(device: &str) -> bool {
    let name = device.split(',').next().unwrap_or_default();
    is_pci(name) && name.bytes().all(|b| matches!(b, b'0' | b':' | b'.'))
}

fn uuid(given: &Given<'_>) -> Result<(), ArgError> {
    let lengths = [8, 4, 4, 4, 12];
    let fields: Vec<&str> = given.text().split('-').collect();
    let well = fields.len() == lengths.len()
        && fields
            .iter()
            .zip(lengths)
            .all(|(f, n)| f.len() == n && f.bytes().all(|b| b.is_ascii_hexdigit()));
    if well {
        return Ok(());
    }
    Err(given.bad("is not a UUID", "give 8-4-4-4-12 hex digits"))
}

/// Says once that named devices are of a kind that doesn't exist.
pub(super) fn finish(args: &mut EalArgs) {
    let asked: Vec<&str> = args
        .devices
        .allow
        .iter()
        .filter(|d| !means_nothing(d) && !args.devices.vdevs.contains(d))
        .map(|d| d.split(',').next().unwrap_or_default())
        .filter(|d| !d.starts_with("vdev:") && !crate::plan::virtual_name(d))
        .collect();
    if !asked.is_empty() {
        args.notices.note(format!(
            "no port is made for {}: no PCI port kind exists here; ports come from --vdev, such as --vdev net_null0",
            asked.join(", ")
        ));
    }
}
