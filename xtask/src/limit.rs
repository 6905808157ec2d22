//! The machine's own limit: what two of its cores pass through shared memory, measured by the rulers of `mpps_virtq::limit`.
//! They run in a release build of a program there, since this program isn't optimised and may not hold unsafe code.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{self, Workspace};

/// Where the ruler program lies; builds it. Beside the programs under test if somebody put it there.
pub(crate) fn program(workspace: &Workspace) -> Result<PathBuf, String> {
    let given = std::env::var_os("MPPS_BIN_DIR").map(|folder| PathBuf::from(folder).join("limit"));
    if let Some(path) = given.filter(|path| path.is_file()) {
        return Ok(path);
    }
    let mut command = shell::cargo();
    command
        .args([
            "build",
            "--release",
            "--package",
            "mpps_virtq",
            "--bin",
            "limit",
        ])
        .current_dir(&workspace.root);
    shell::run(&mut command)?;
    Ok(workspace.target.join("release/limit"))
}

/// Rates in million packets a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rates {
    /// Only the lines that must cross.
    pub(crate) echo: f64,
    /// A bare virtqueue pair.
    pub(crate) pair: f64,
}

/// Runs a ruler program, ours or another that prints such lines, and returns the best of its lines: a neighbour can only
/// slow a run down.
pub(crate) fn measure(program: &Path, bytes: usize) -> Result<Rates, String> {
    let text = shell::output(Command::new(program).arg(bytes.to_string()))?;
    best(&text, bytes).ok_or_else(|| format!("{}: no rates in {text:?}", program.display()))
}

/// `64 bytes: echo 50.0 Mpps, loop 30.0 Mpps`
fn best(text: &str, bytes: usize) -> Option<Rates> {
    let start = format!("{bytes} bytes: echo ");
    let rates = text.lines().filter_map(|line| {
        let (echo, pair) = line.strip_prefix(&start)?.split_once(" Mpps, loop ")?;
        Some(Rates {
            echo: echo.parse().ok()?,
            pair: pair.strip_suffix(" Mpps")?.parse().ok()?,
        })
    });
    rates.reduce(|a, b| Rates {
        echo: a.echo.max(b.echo),
        pair: a.pair.max(b.pair),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_line_counts() {
        let text =
            "64 bytes: echo 50.0 Mpps, loop 30.5 Mpps\n64 bytes: echo 48.0 Mpps, loop 31.0 Mpps\n";
        let expected = Rates {
            echo: 50.0,
            pair: 31.0,
        };
        assert_eq!(best(text, 64), Some(expected));
    }

    #[test]
    fn other_sizes_and_other_words_are_no_rates() {
        assert_eq!(best("512 bytes: echo 50.0 Mpps, loop 30.5 Mpps", 64), None);
        assert_eq!(best("64 bytes: echo fast Mpps, loop 30.5 Mpps", 64), None);
        assert_eq!(best("", 64), None);
    }
}
