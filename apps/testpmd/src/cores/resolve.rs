//! A core selection held against the CPUs there are.

use std::collections::BTreeMap;

use super::grammar::ranges;
use super::{CoreArgs, CoreError, CoreSelection, Cpus, Lcore, Lcores, MAX_LCORES, Numbers};

type Map = BTreeMap<u32, Numbers>;

/// The lcores that `args` selects on a machine with `cpus`.
///
/// # Errors
/// CPUs that don't exist or are out of bounds (with the `--lcores` value that would do), an id that is too high,
/// `-R` with a map, a main lcore that isn't selected or is a service core.
pub fn resolve(args: &CoreArgs, cpus: &Cpus) -> Result<Lcores, CoreError> {
    if cpus.permitted.is_empty() || cpus.affinity.is_empty() {
        return Err(CoreError::NoCpu);
    }
    let map = selected(args, cpus)?;
    let ids = renumber(args, map.clone())?;
    check_ids(args, &ids)?;
    check_cpus(args, cpus, &map)?;
    with_main(args, ids)
}

fn check_ids(args: &CoreArgs, map: &Map) -> Result<(), CoreError> {
    if let Some(id) = map.keys().find(|id| **id >= MAX_LCORES) {
        return Err(CoreError::IdTooHigh {
            written: written(args),
            id: *id,
            max: MAX_LCORES - 1,
        });
    }
    Ok(())
}

fn written(args: &CoreArgs) -> String {
    if args.written.is_empty() {
        "the affinity of this process".to_owned()
    } else {
        args.written.clone()
    }
}

fn selected(args: &CoreArgs, cpus: &Cpus) -> Result<Map, CoreError> {
    let same = |numbers: &Numbers| numbers.iter().map(|n| (*n, Numbers::from([*n]))).collect();
    Ok(match &args.selection {
        CoreSelection::Affinity => same(&cpus.affinity),
        CoreSelection::Same(numbers) => same(numbers),
        CoreSelection::Map(map) if args.remap_from.is_none() => map.clone(),
        CoreSelection::Map(_) => {
            return Err(CoreError::RemapOfMap {
                written: written(args),
            });
        }
    })
}

fn check_cpus(args: &CoreArgs, cpus: &Cpus, map: &Map) -> Result<(), CoreError> {
    if args.selection == CoreSelection::Affinity {
        return Ok(());
    }
    let wanted: Numbers = map.values().flatten().copied().collect();
    let there: Numbers = cpus.online.intersection(&cpus.permitted).copied().collect();
    if there.is_empty() {
        return Err(CoreError::NoCpu);
    }
    let missing: Numbers = wanted.difference(&cpus.online).copied().collect();
    if !missing.is_empty() {
        return Err(CoreError::NoSuchCpu {
            written: written(args),
            missing,
            remedy: remedy(map, &there),
            there,
        });
    }
    let refused: Numbers = wanted.difference(&cpus.permitted).copied().collect();
    if !refused.is_empty() {
        return Err(CoreError::NotPermitted {
            written: written(args),
            refused,
            remedy: remedy(map, &there),
            permitted: there,
        });
    }
    Ok(())
}

/// The `--lcores` value that runs the same lcores on the CPUs `there`: who has a CPU keeps it, the others go to
/// those with the fewest lcores. Long selections share all CPUs, so that the line stays readable.
fn remedy(map: &Map, there: &Numbers) -> String {
    if map.len() > 32 {
        let ids: Numbers = map.keys().copied().collect();
        return format!("({})@({})", ranges(&ids), ranges(there));
    }
    let mut load: BTreeMap<u32, usize> = there.iter().map(|cpu| (*cpu, 0)).collect();
    let keeps = |cpus: &Numbers| cpus.iter().copied().find(|cpu| there.contains(cpu));
    for cpu in map.values().filter_map(keeps) {
        *load.entry(cpu).or_default() += 1;
    }
    let parts: Vec<String> = map
        .iter()
        .map(|(id, cpus)| {
            let cpu = keeps(cpus).or_else(|| {
                let (cpu, count) = load.iter_mut().min_by_key(|(_, count)| **count)?;
                *count += 1;
                Some(*cpu)
            });
            format!("{id}@{}", cpu.unwrap_or(0))
        })
        .collect();
    parts.join(",")
}

fn renumber(args: &CoreArgs, map: Map) -> Result<Map, CoreError> {
    let Some(from) = args.remap_from else {
        return Ok(map);
    };
    if from >= MAX_LCORES {
        return Err(CoreError::IdTooHigh {
            written: "-R".to_owned(),
            id: from,
            max: MAX_LCORES - 1,
        });
    }
    Ok((from..).zip(map.into_values()).collect())
}

fn with_main(args: &CoreArgs, map: Map) -> Result<Lcores, CoreError> {
    let ids: Numbers = map.keys().copied().collect();
    let service: Numbers = ids.intersection(&args.service).copied().collect();
    let lcores: Numbers = ids.difference(&service).copied().collect();
    let Some(lowest) = lcores.first().copied() else {
        return Err(CoreError::AllService { service });
    };
    let main = args.main.unwrap_or(lowest);
    if service.contains(&main) {
        return Err(CoreError::MainIsService { main, lcores });
    }
    if !lcores.contains(&main) {
        return Err(CoreError::MainNotSelected { main, lcores });
    }
    let all = map
        .into_iter()
        .filter(|(id, _)| lcores.contains(id))
        .map(|(id, cpus)| Lcore { id, cpus })
        .collect();
    Ok(Lcores { main, all, service })
}
