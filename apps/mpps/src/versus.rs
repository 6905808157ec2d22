//! `--versus PROGRAM`: the rate of another testpmd, DPDK's say, in turn with ours.
//!
//! Both get the same command lines and the same console commands. Ours is the testpmd beside this program, so that two
//! processes are compared with two; where there is none, it is the loop inside this process, and that is said. Each rate
//! has processes of its own. What was measured stays when a later round fails or a signal comes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mpps_kernels::CopyKind;
use mpps_os::Signals;
use rustix::fs::{Access, access};

mod console;
mod pair;
#[cfg(test)]
mod tests;
mod trouble;

use crate::bench::{Failure, Machine};
use crate::job::{self, SETTLE, Wish, nap};
use crate::live::Line;
use crate::ring_loop::Loop;
pub(crate) use pair::Memory;
use pair::{Pair, Setup};
pub(crate) use trouble::Trouble;

/// How long packets are counted for one rate.
pub(crate) const SLICE: Duration = Duration::from_secs(1);

/// How long a program may take for any answer: DPDK's takes a second to start on a machine that is idle.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program that can be run.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    path: PathBuf,
}

impl Program {
    /// Finds what was named: a path, or a name in PATH.
    pub(crate) fn find(word: &str) -> Result<Self, Trouble> {
        let path = if word.contains('/') {
            PathBuf::from(word)
        } else {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&folders)
                .map(|folder| folder.join(word))
                .find(|path| path.is_file())
                .ok_or_else(|| Trouble::NotInPath(word.to_owned()))?
        };
        // It is run in another folder.
        let path = std::path::absolute(&path).unwrap_or(path);
        let file = path.metadata().map_err(|error| Trouble::NoFile {
            path: word.to_owned(),
            error,
        })?;
        if !file.is_file() || access(&path, Access::EXEC_OK).is_err() {
            return Err(Trouble::NotExecutable(word.to_owned()));
        }
        Ok(Self { path })
    }

    /// The testpmd that was built together with this program.
    fn beside_us() -> Option<Self> {
        let path = std::env::current_exe().ok()?.with_file_name("testpmd");
        Self::find(path.to_str()?).ok()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Rates of both, round by round.
#[derive(Debug)]
pub(crate) struct Versus {
    /// The other program as it was named.
    pub(crate) name: String,
    /// What it says of its version.
    pub(crate) version: Option<String>,
    /// Our testpmd, or none where the loop is in this process.
    pub(crate) ours: Option<PathBuf>,
    pub(crate) memory: Memory,
    /// Ours and theirs, in Mpps.
    pub(crate) rates: Vec<[f64; 2]>,
}

/// The two that are measured in turn.
pub(crate) struct Duel {
    theirs: Program,
    ours: Option<Program>,
    setup: Setup,
    /// Options for our program alone.
    own: Vec<String>,
    rounds: u64,
}

impl Duel {
    pub(crate) fn new(
        theirs: Program,
        wish: &Wish,
        rounds: u64,
        machine: &Machine,
        signals: Signals,
    ) -> Self {
        let kind = CopyKind::NAMES.iter().find(|(_, kind)| *kind == wish.copy);
        let own = match kind {
            Some((name, kind)) if *kind != CopyKind::Auto => vec![format!("--copy={name}")],
            _ => Vec::new(),
        };
        Self {
            theirs,
            ours: Program::beside_us(),
            setup: Setup {
                cpus: machine.pair,
                size: wish.size,
                packed: wish.packed,
                memory: Memory::here(),
                patience: PATIENCE,
                signals,
            },
            own,
            rounds,
        }
    }

    /// What will be found, with no rate yet.
    pub(crate) fn blank(&self, name: &str) -> Versus {
        Versus {
            name: name.to_owned(),
            version: None,
            ours: self.ours.as_ref().map(|ours| ours.path.clone()),
            memory: self.setup.memory,
            rates: Vec::new(),
        }
    }

    /// Runs all rounds; a round that isn't complete leaves nothing in `found`.
    pub(crate) fn run(&self, both: &mut Loop, found: &mut Versus) -> Result<(), Failure> {
        let mut line = Line::new();
        let mut most = 0.0_f64;
        for round in 0..self.rounds {
            let mut rates = [0.0; 2];
            // B A, A B, ...: a machine whose speed drifts is as unfair to the one as to the other. Theirs is the first, so
            // that one that can't be measured is told at once.
            let order = match round % 2 {
                0 => [1, 0],
                _ => [0, 1],
            };
            for who in order {
                rates[who] = match who {
                    0 => self.ours(both)?,
                    _ => self.theirs(found)?,
                };
                most = most.max(rates[who]);
                let title = if who == 0 {
                    "ours"
                } else {
                    found.name.as_str()
                };
                let left = format!("round {} of {}", round + 1, self.rounds);
                line.show(title, rates[who], rates[who] / most, &left);
            }
            found.rates.push(rates);
        }
        line.end();
        Ok(())
    }

    fn theirs(&self, found: &mut Versus) -> Result<f64, Failure> {
        let mut pair = Pair::start(self.theirs.path(), &[], &self.setup)?;
        let rate = pair.rate(SLICE, &self.setup.signals)?;
        if found.version.is_none() {
            found.version = pair.version();
        }
        pair.quit();
        Ok(rate)
    }

    fn ours(&self, both: &mut Loop) -> Result<f64, Failure> {
        let signals = &self.setup.signals;
        if let Some(ours) = &self.ours {
            let mut pair = Pair::start(ours.path(), &self.own, &self.setup)?;
            let rate = pair.rate(SLICE, signals)?;
            pair.quit();
            return Ok(rate);
        }
        both.charge();
        both.run(true, false)?;
        nap(SETTLE, signals)?;
        let rate = job::rate(both, SLICE, signals)?;
        both.pause()?;
        both.drain()?;
        Ok(rate)
    }
}
