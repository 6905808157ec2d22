//! The arguments of a device, parsed once into [`Settings`].

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::PathBuf;

use mpps_dev::{ArgKind, ArgSpec, DevArgError, DevArgs};
use mpps_wire::MacAddr;

use crate::NAME;

/// Least and most descriptors of a ring.
pub(crate) const QUEUE_SIZES: (u16, u16) = (32, 32768);

/// Ring numbers of vhost-user's kick and call messages have eight bits, and a pair is two rings.
const MAX_PAIRS: u64 = 128;

const DEFAULT_QUEUE_SIZE: u64 = 256;

const fn flag(key: &'static str, help: &'static str) -> ArgSpec {
    spec(key, ArgKind::Flag, help)
}

const fn spec(key: &'static str, kind: ArgKind, help: &'static str) -> ArgSpec {
    ArgSpec {
        key,
        kind,
        repeats: false,
        help,
    }
}

pub(crate) const ARGS: &[ArgSpec] = &[
    spec(
        "path",
        ArgKind::Text,
        "the UNIX socket where the back end is, or with server=1 will come",
    ),
    spec(
        "mac",
        ArgKind::Text,
        "the port's address, six bytes with colons [random]",
    ),
    spec("queues", ArgKind::Number(1, MAX_PAIRS), "queue pairs [1]"),
    spec(
        "queue_size",
        ArgKind::Number(QUEUE_SIZES.0 as u64, QUEUE_SIZES.1 as u64),
        "descriptors of a ring, a power of two unless packed_vq=1 [256]",
    ),
    flag("server", "listen on path instead of connecting [0]"),
    flag("mrg_rxbuf", "let a packet fill several buffers [1]"),
    flag("in_order", "have buffers used in order [1]"),
    flag("packed_vq", "use packed rings [0]"),
    flag(
        "vectorized",
        "several descriptors at a time with AVX2 or AVX-512; a line says where not, and why [0]",
    ),
    spec(
        "speed",
        ArgKind::Number(0, u32::MAX as u64),
        "speed of the link as shown, Mbit/s [unknown]",
    ),
    spec(
        "iface",
        ArgKind::Text,
        "name of a TAP interface; only a vhost-kernel back end has one, which isn't available",
    ),
    flag(
        "count_groups",
        "count multicast and broadcast packets too, at a cache line a packet (no option of DPDK's) [0]",
    ),
    flag(
        "cq",
        "have a control queue [0; 1 where queues is more than 1]",
    ),
];

/// What a device is asked to be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) path: PathBuf,
    pub(crate) mac: Option<MacAddr>,
    /// Most queue pairs.
    pub(crate) pairs: u16,
    pub(crate) queue_size: u16,
    pub(crate) server: bool,
    pub(crate) mergeable: bool,
    pub(crate) in_order: bool,
    pub(crate) packed: bool,
    pub(crate) vector: bool,
    /// Count packets to group addresses.
    pub(crate) groups: bool,
    /// Mbit/s; `u32::MAX` for unknown.
    pub(crate) speed: u32,
    pub(crate) control_queue: bool,
}

impl Settings {
    pub(crate) fn parse(args: &DevArgs) -> Result<Self, DevArgError> {
        let checked = args.check(NAME, ARGS)?;
        let path = checked.required("path")?;
        reachable(args, path)?;
        if let Some(iface) = checked.text("iface") {
            return Err(args.conflict(format!(
                "iface={iface} names the TAP interface of a vhost-kernel back end, but path={path} is a vhost-user socket; leave iface out"
            )));
        }
        let mac = checked
            .text("mac")
            .map(|text| mac(args, text))
            .transpose()?;
        let set = |key: &str, default: bool| {
            let given = args.iter().any(|(have, _)| have == key);
            if given { checked.flag(key) } else { default }
        };
        let pairs = checked.number("queues").unwrap_or(1) as u16;
        let packed = checked.flag("packed_vq");
        let size = checked.number("queue_size").unwrap_or(DEFAULT_QUEUE_SIZE);
        if !packed && !size.is_power_of_two() {
            let allowed = "a power of two for split rings; packed_vq=1 takes any size";
            return Err(args.refuse("queue_size", &size.to_string(), allowed));
        }
        Ok(Self {
            path: PathBuf::from(path),
            mac,
            pairs,
            queue_size: size as u16,
            server: checked.flag("server"),
            mergeable: set("mrg_rxbuf", true),
            in_order: set("in_order", true),
            packed,
            vector: checked.flag("vectorized"),
            groups: checked.flag("count_groups"),
            speed: checked.number("speed").unwrap_or(u64::from(u32::MAX)) as u32,
            control_queue: checked.flag("cq") || pairs > 1,
        })
    }
}

impl Settings {
    /// What is said of a device when it is made.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let path = self.path.display();
        let mut lines = Vec::new();
        if self.server {
            // Scripts wait for these words.
            lines.push(format!("({path}) waiting for client connection..."));
        } else if !self.path.exists() {
            lines.push(format!(
                "{path} isn't there: taken for the socket of a vhost-user back end that comes later"
            ));
        }
        lines
    }
}

fn mac(args: &DevArgs, text: &str) -> Result<MacAddr, DevArgError> {
    match text.parse::<MacAddr>() {
        Ok(mac) if mac.is_unicast() && !mac.is_zero() => Ok(mac),
        Ok(_) => Err(args.refuse("mac", text, "a unicast address that isn't zero")),
        Err(_) => Err(args.refuse(
            "mac",
            text,
            "six bytes with colons, such as 00:01:02:03:04:05",
        )),
    }
}

/// What is at `path` tells the kind of back end; nothing there is a socket that is yet to come.
fn reachable(args: &DevArgs, path: &str) -> Result<(), DevArgError> {
    let refuse = |what: &str| {
        Err(args.refuse(
            "path",
            path,
            &format!("the UNIX socket of a vhost-user back end; {what}"),
        ))
    };
    if path == "/dev/vhost-net" {
        return refuse("this is vhost-kernel, which isn't available");
    }
    if path.starts_with("/dev/vhost-vdpa") {
        return refuse("this is vhost-vdpa, which isn't available");
    }
    let Ok(found) = fs::metadata(path) else {
        return Ok(());
    };
    let kind = found.file_type();
    if kind.is_socket() {
        Ok(())
    } else if kind.is_char_device() {
        refuse("this is a character device, and neither vhost-kernel nor vhost-vdpa is available")
    } else {
        refuse("there is something else by that name")
    }
}

#[cfg(test)]
mod tests;
