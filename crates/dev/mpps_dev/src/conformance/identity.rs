//! Scenarios about what a driver and its ports say of themselves, and which arguments they take.

use std::collections::HashSet;

use super::rig::{Played, Rig, ensure};
use super::{Subject, Violation};
use crate::{ArgKind, ArgSpec, DevArgs, PortId, ProbeContext};

/// Name, driver and arguments are those of the device; limits contain what is set.
pub(super) fn information(subject: &Subject<'_>) -> Played {
    let devices = (subject.devices)();
    for (n, device) in devices.iter().enumerate() {
        let driver = subject.driver_of(n);
        let names: Vec<&str> = std::iter::once(driver.name())
            .chain(driver.aliases().iter().copied())
            .collect();
        let args = parse(device)?;
        let context = context()?;
        let dev = driver
            .probe(&args, &context)
            .map_err(|error| Violation::new(format!("probe: {error}")));
        // The second of two linked devices may need the first; the kit's other scenarios make both.
        let Ok(dev) = dev else {
            ensure!(devices.len() > 1, "{device} can't be made");
            continue;
        };
        ensure!(
            names.iter().any(|name| args.name().starts_with(name)),
            "{device} begins with none of the driver's names {names:?}"
        );
        let info = dev.info();
        ensure!(
            info.name == args.name() && info.driver == driver.name() && info.devargs == args.text(),
            "{device} says it is {} of {} with {:?}",
            info.name,
            info.driver,
            info.devargs
        );
        let port = dev.port();
        ensure!(
            (info.min_mtu..=info.max_mtu).contains(&port.mtu()),
            "MTU {} isn't from {} to {}",
            port.mtu(),
            info.min_mtu,
            info.max_mtu
        );
        ensure!(
            info.max_rx_queues >= subject.facts.queues
                && info.max_tx_queues >= subject.facts.queues,
            "the port has fewer than {} queues each way",
            subject.facts.queues
        );
        let mac = port.mac();
        ensure!(
            mac.0[0] & 1 == 0,
            "the port's address {mac} is a multicast one"
        );
    }
    Rig::new(subject)?.finish()
}

/// Each key of the driver's table is there once and explained in one line, and a value that it can't have is refused.
pub(super) fn wrong_values(subject: &Subject<'_>) -> Played {
    let drivers = 1 + usize::from(subject.peer.is_some());
    for n in 0..drivers {
        let driver = subject.driver_of(n);
        let mut keys = HashSet::new();
        for spec in driver.args() {
            ensure!(keys.insert(spec.key), "{} is in the table twice", spec.key);
            ensure!(
                !spec.help.is_empty() && !spec.help.contains('\n'),
                "{} isn't explained in one line",
                spec.key
            );
            wrong_value(subject, n, spec)?;
        }
    }
    Ok(())
}

fn wrong_value(subject: &Subject<'_>, n: usize, spec: &ArgSpec) -> Played {
    let wrong = match spec.kind {
        ArgKind::Number(_, u64::MAX) => "=-1".to_owned(),
        ArgKind::Number(_, max) => format!("={}", max + 1),
        ArgKind::Flag => "=2".to_owned(),
        ArgKind::Choice(_) => "=no_such_choice".to_owned(),
        ArgKind::Text => "=".to_owned(),
    };
    refused(subject, n, &format!("{}{wrong}", spec.key), spec.key)?;
    // Only a flag means something without a value.
    if spec.kind != ArgKind::Flag {
        refused(subject, n, spec.key, spec.key)
    } else if !spec.repeats {
        refused(subject, n, &format!("{0}=0,{0}=0", spec.key), spec.key)
    } else {
        Ok(())
    }
}

/// A key that the driver doesn't know is refused, and the line names the driver too.
pub(super) fn unknown_arguments(subject: &Subject<'_>) -> Played {
    const KEY: &str = "no_such_key";
    for addition in [format!("{KEY}=1"), KEY.to_owned()] {
        for n in 0..(subject.devices)().len() {
            refused(subject, n, &addition, KEY)?;
            refused(subject, n, &addition, subject.driver_of(n).name())?;
        }
    }
    Ok(())
}

/// Whether device `n` with this addition is refused in one line that has the device's name and `part`.
fn refused(subject: &Subject<'_>, n: usize, addition: &str, part: &str) -> Played {
    let devices = (subject.devices)();
    let Some(device) = devices.get(n) else {
        return Err(Violation::new("a peer's driver, and no device of it"));
    };
    let text = format!("{device},{addition}");
    let args = parse(&text)?;
    let Err(error) = subject.driver_of(n).probe(&args, &context()?) else {
        return Err(Violation::new(format!("{text} is accepted")));
    };
    let line = error.to_string();
    ensure!(
        line.contains(args.name()) && line.contains(part) && !line.contains('\n'),
        "the refusal of {text} isn't one line that names {} and {part}: {line}",
        args.name()
    );
    Ok(())
}

fn parse(text: &str) -> Played<DevArgs> {
    text.parse()
        .map_err(|error| Violation::new(format!("{text}: {error}")))
}

fn context() -> Played<ProbeContext> {
    PortId::new(0)
        .map(ProbeContext::new)
        .map_err(|error| Violation::new(error.to_string()))
}
