//! The devices that were asked for, and which of them can be ports.

use mpps_dev::{DevArgError, DevArgs};
use mpps_drivers::{DRIVERS, find};

use super::PlannedDevice;
use crate::eal_args::DeviceArgs;
use crate::getopt::nearest;

/// Why a device can't be a port. `Display` is one line.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// Its text or its arguments.
    #[error(transparent)]
    Args(#[from] DevArgError),
    /// A kind of port that DPDK has and this program doesn't.
    #[error("{device}: there is no {kind} port here yet; the kinds there are: {known}")]
    NotHere {
        /// The device.
        device: String,
        /// Its kind.
        kind: &'static str,
        /// The kinds there are.
        known: String,
    },
    /// No such kind.
    #[error("{device}: no kind of port has this name{hint}; the kinds there are: {known}")]
    Unknown {
        /// The device.
        device: String,
        /// The nearest name, in words.
        hint: String,
        /// The kinds there are.
        known: String,
    },
    /// Two of the same name.
    #[error("{device}: given twice; each device needs a name of its own")]
    Twice {
        /// The device.
        device: String,
    },
}

/// Kinds of DPDK's that are refused by name: the driver's name, then other names that its devices go by.
const ABSENT: &[&[&str]] = &[
    &["net_memif", "eth_memif"],
    &["net_af_packet", "eth_af_packet"],
    &["net_af_xdp", "eth_af_xdp"],
    &["net_tap", "eth_tap"],
    &["net_tun"],
    &["net_bonding", "eth_bond", "net_bond"],
    &["net_failsafe"],
    &["net_softnic"],
    &["net_mvpp2", "eth_mvpp2"],
    &["net_kni"],
    &["net_mvneta"],
];

/// A device of Hyper-V that asks for nothing when told to ignore its interfaces.
const NETVSC: &str = "net_vdev_netvsc";

/// The ports of a command line, in order. Devices on buses make none.
pub(super) fn plan(
    args: &DeviceArgs,
    notices: &mut Vec<String>,
) -> Result<Vec<PlannedDevice>, DeviceError> {
    let mut devices: Vec<PlannedDevice> = Vec::new();
    // `-a net_null0` names a device that is to be probed; one that is no virtual device sits on a bus, and was told of when
    // the option was read.
    let allowed = args
        .allow
        .iter()
        .map(|text| text.strip_prefix("vdev:").unwrap_or(text));
    let allowed =
        allowed.filter(|text| virtual_name(text) && !args.vdevs.iter().any(|vdev| vdev == text));
    for text in args.vdevs.iter().map(String::as_str).chain(allowed) {
        let parsed: DevArgs = text.parse()?;
        if parsed.name().starts_with(NETVSC) {
            netvsc(&parsed, notices)?;
            continue;
        }
        if devices
            .iter()
            .any(|device| device.args.name() == parsed.name())
        {
            return Err(DeviceError::Twice {
                device: parsed.name().to_owned(),
            });
        }
        devices.push(PlannedDevice::new(parsed)?);
    }
    Ok(devices)
}

impl PlannedDevice {
    /// A device of this text, as behind `--vdev`.
    pub(crate) fn parse(text: &str) -> Result<Self, DeviceError> {
        Self::new(text.parse()?)
    }

    fn new(args: DevArgs) -> Result<Self, DeviceError> {
        let driver = find(args.name()).ok_or_else(|| absent(&args))?;
        args.check(driver.name(), driver.args())?;
        Ok(Self { driver, args })
    }
}

/// Whether this names a virtual device rather than one on a bus.
pub(crate) fn virtual_name(text: &str) -> bool {
    ["net_", "eth_", "virtio_user"]
        .iter()
        .any(|prefix| text.starts_with(prefix))
}

fn netvsc(args: &DevArgs, notices: &mut Vec<String>) -> Result<(), DeviceError> {
    if args
        .iter()
        .any(|(key, value)| key == "ignore" && value == Some("1"))
    {
        notices.push(format!(
            "--vdev {},ignore=1: no such port is made by itself here, so there is none to ignore",
            args.name()
        ));
        return Ok(());
    }
    Err(DeviceError::NotHere {
        device: args.name().to_owned(),
        kind: NETVSC,
        known: known(),
    })
}

fn known() -> String {
    DRIVERS
        .iter()
        .map(|driver| driver.name())
        .collect::<Vec<_>>()
        .join(", ")
}

fn absent(args: &DevArgs) -> DeviceError {
    let device = args.name().to_owned();
    match ABSENT
        .iter()
        .find(|names| names.iter().any(|name| device.starts_with(name)))
    {
        Some(names) => DeviceError::NotHere {
            device,
            kind: names[0],
            known: known(),
        },
        None => {
            let letters = device.trim_end_matches(|c: char| c.is_ascii_digit());
            let names = DRIVERS.iter().map(|driver| driver.name());
            let hint = nearest(letters, names)
                .map_or(String::new(), |name| format!(" (did you mean {name}?)"));
            DeviceError::Unknown {
                device,
                hint,
                known: known(),
            }
        }
    }
}
