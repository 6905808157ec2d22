//! Rows: which CPUs the program runs on.

use super::EalArgs;
use crate::cores::{
    CoreError, CoreSelection, MAX_LCORES, Numbers, ranges, read_list, read_map, read_mask,
};
use crate::getopt::{ArgError, Given, Notice, Opt, opt, optional, value};

pub(super) const ROWS: &[Opt<EalArgs>] = &[
    opt(
        value(
            "lcores",
            "LIST",
            "Cores to run on: 0,2-5, or a map of lcores to CPUs: (0-3)@1,4@(5,6)",
        )
        .short('l'),
        lcores,
    ),
    opt(
        value("coremask", "MASK", "Cores to run on, as a hexadecimal mask")
            .short('c')
            .exact()
            .deprecated(""),
        coremask,
    ),
    opt(
        value(
            "main-lcore",
            "ID",
            "The lcore that runs the console; the lowest unless said",
        ),
        main_lcore,
    ),
    opt(
        value("master-lcore", "ID", "Old name of --main-lcore")
            .means("main-lcore")
            .past()
            .deprecated("--main-lcore"),
        main_lcore,
    ),
    opt(
        optional(
            "remap-lcore-ids",
            "BASE",
            "Number the selected CPUs from BASE (0 unless given) on",
        )
        .short('R')
        .exact(),
        remap,
    ),
    opt(
        value(
            "service-corelist",
            "LIST",
            "Cores set aside for services; nothing runs there",
        )
        .short('S'),
        service_list,
    ),
    opt(
        value(
            "service-coremask",
            "MASK",
            "As --service-corelist, as a mask",
        )
        .short('s')
        .exact()
        .deprecated("-S with a list"),
        service_mask,
    ),
];

/// A core error as one about the option at hand.
fn bad(given: &Given<'_>, error: CoreError) -> ArgError {
    match error {
        CoreError::Grammar { wrong, right } => given.bad(format!("can't be read: {wrong}"), right),
        other => given.bad("can't be used", other.to_string()),
    }
}

fn lcores(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    args.cores.selection = read_map(given.text()).map_err(|e| bad(given, e))?;
    args.cores.written = given.whole();
    Ok(())
}

fn coremask(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let numbers = read_mask(given.text()).map_err(|e| bad(given, e))?;
    args.notices.push(Notice::Deprecated {
        option: given.whole(),
        instead: format!("-l {}", ranges(&numbers)),
    });
    args.cores.selection = CoreSelection::Same(numbers);
    args.cores.written = given.whole();
    Ok(())
}

fn main_lcore(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let id = given.any_base(given.text(), 0..=u64::from(MAX_LCORES - 1))?;
    args.cores.main = u32::try_from(id).ok();
    Ok(())
}

fn remap(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    args.cores.remap_from = Some(match given.value {
        Some(_) => given.number(0..=MAX_LCORES - 1)?,
        None => 0,
    });
    Ok(())
}

fn service_list(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    service(
        args,
        given,
        read_list(given.text()).map_err(|e| bad(given, e))?,
    );
    Ok(())
}

fn service_mask(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    service(
        args,
        given,
        read_mask(given.text()).map_err(|e| bad(given, e))?,
    );
    Ok(())
}

fn service(args: &mut EalArgs, given: &Given<'_>, cores: Numbers) {
    args.notices.note(format!(
        "{}: no service runs here; lcores {} are set aside and don't forward",
        given.spelled,
        ranges(&cores)
    ));
    args.cores.service = cores;
}
