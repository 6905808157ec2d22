//! What can be wrong with a core selection.

use super::Numbers;
use super::grammar::ranges;

/// Why a core selection was refused. `Display` is a single line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CoreError {
    /// The text isn't a mask, list or map.
    #[error("{wrong}; {right}")]
    Grammar {
        /// What is wrong.
        wrong: String,
        /// What would be right.
        right: String,
    },
    /// CPUs that this machine doesn't have.
    #[error(
        "{written}: {} {} exist here (there {}); to run on those: --lcores {remedy}",
        cpus(.missing), dont(.missing), there_are(.there)
    )]
    NoSuchCpu {
        /// The option as written.
        written: String,
        /// The CPUs that don't exist.
        missing: Numbers,
        /// The CPUs that may be used.
        there: Numbers,
        /// A map that puts the same lcores on them.
        remedy: String,
    },
    /// CPUs that exist and that the kernel keeps from this process.
    #[error(
        "{written}: this process may not run on {} (it may on {}); to run on those: --lcores {remedy}",
        cpus(.refused), ranges(.permitted)
    )]
    NotPermitted {
        /// The option as written.
        written: String,
        /// The CPUs that are out of bounds.
        refused: Numbers,
        /// The CPUs that may be used.
        permitted: Numbers,
        /// A map that puts the same lcores on them.
        remedy: String,
    },
    /// The machine told of no CPU at all.
    #[error("no CPU may be used by this process")]
    NoCpu,
    /// More lcores than there are numbers.
    #[error("{written}: lcore {id} is above {max}, the highest; use -R to number lcores from 0")]
    IdTooHigh {
        /// The option as written.
        written: String,
        /// The first id that is too high.
        id: u32,
        /// The highest id.
        max: u32,
    },
    /// `-R` with a map.
    #[error("-R numbers CPUs anew and {written} numbers them already; drop one of the two")]
    RemapOfMap {
        /// The option as written.
        written: String,
    },
    /// `--main-lcore` names no lcore of the selection.
    #[error("--main-lcore: lcore {main} isn't selected; choose among {}", ranges(.lcores))]
    MainNotSelected {
        /// The id asked for.
        main: u32,
        /// The lcores there are.
        lcores: Numbers,
    },
    /// `--main-lcore` names a service core.
    #[error("--main-lcore: lcore {main} is set aside for services by -S or -s; choose among {}", ranges(.lcores))]
    MainIsService {
        /// The id asked for.
        main: u32,
        /// The lcores left.
        lcores: Numbers,
    },
    /// Every lcore is a service core.
    #[error("service cores {} leave no lcore to run on; select more with -l", ranges(.service))]
    AllService {
        /// The service cores.
        service: Numbers,
    },
}

fn cpus(numbers: &Numbers) -> String {
    let s = if numbers.len() == 1 { "" } else { "s" };
    format!("CPU{s} {}", ranges(numbers))
}

fn dont(numbers: &Numbers) -> &'static str {
    if numbers.len() == 1 {
        "doesn't"
    } else {
        "don't"
    }
}

fn there_are(numbers: &Numbers) -> String {
    let verb = if numbers.len() == 1 { "is" } else { "are" };
    format!("{verb} {}", ranges(numbers))
}
