//! Instructions a packet under callgrind. Unlike times they don't drift with the machine, so a change of two percent is a
//! change of the code. The baselines are kept per rustc version in `docs/instructions.tsv`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::planted::Folder;
use super::{Bound, Check, Miss, Plant, Subject};
use crate::shell;

pub(super) const CHECKS: &[Check] = &[Check {
    name: "instructions",
    proves: "instructions a packet of io, macswap and csum over null ports: excess of the worst case over the baseline",
    bound: Bound::Below(2.0, " %"),
    run: instructions,
    plant: Plant::Expectation,
}];

/// The harness: one thread, fixed bursts, engine and kernel by argument.
const HARNESS: &str = "mpps_icount";
/// Engine and kernels; callgrind knows no AVX-512.
const CASES: [(&str, &str); 5] = [
    ("io", "scalar"),
    ("macswap", "scalar"),
    ("macswap", "avx2"),
    ("csum", "scalar"),
    ("csum", "avx2"),
];
/// Two packet counts: their difference takes start and end out of the figure.
const PACKETS: [u64; 2] = [32 * 1024, 1056 * 1024];
const BASELINES: &str = "docs/instructions.tsv";
const HEAD: &str =
    "# rustc\tengine\tkernel\tinstructions a packet (cargo xtask check instructions --record)\n";

fn instructions(_: &Check, subject: &Subject) -> Result<f64, Miss> {
    if !shell::has_program("valgrind") {
        return Err(Miss::Skipped("valgrind is not installed".to_owned()));
    }
    let harness = build(subject)?;
    let folder = Folder::new("callgrind")?;
    let mut measured = Vec::new();
    for (engine, kernel) in CASES {
        if kernel == "avx2" && !has_avx2() {
            println!("instructions {engine} {kernel}: this CPU has no AVX2");
            continue;
        }
        let figure = a_packet(&harness, engine, kernel, folder.path())?;
        println!("instructions {engine} {kernel}: {figure:.2} a packet");
        measured.push((engine, kernel, figure));
    }
    let rustc = shell::rustc_version()?;
    let path = subject.workspace.root.join(BASELINES);
    let table = fs::read_to_string(&path).unwrap_or_else(|_| HEAD.to_owned());
    if subject.record {
        write(&path, &recorded(&table, &rustc, &measured))?;
        return Ok(0.0);
    }
    let planted = if subject.planted { 0.9 } else { 1.0 };
    worst_excess(&table, &rustc, &measured, planted)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

fn build(subject: &Subject) -> Result<PathBuf, Miss> {
    let workspace = &subject.workspace;
    if workspace.package(HARNESS).is_none() {
        return Err(Miss::Skipped(format!(
            "the workspace has no member {HARNESS}"
        )));
    }
    shell::run(
        shell::cargo()
            .args(["build", "--release", "--package", HARNESS])
            .current_dir(&workspace.root),
    )?;
    Ok(workspace.target.join("release").join(HARNESS))
}

fn a_packet(harness: &Path, engine: &str, kernel: &str, folder: &Path) -> Result<f64, String> {
    let mut totals = [0; 2];
    for (total, packets) in totals.iter_mut().zip(PACKETS) {
        let out = folder.join("callgrind.out");
        let output = Command::new("valgrind")
            .args(["--quiet", "--tool=callgrind"])
            .arg(format!("--callgrind-out-file={}", out.display()))
            .arg(harness)
            .args([engine, kernel, &packets.to_string()])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("valgrind: {error}"))?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            return Err(format!(
                "{HARNESS} {engine} {kernel} under valgrind: {}: {}",
                output.status,
                words.trim()
            ));
        }
        let profile =
            fs::read_to_string(&out).map_err(|error| format!("{}: {error}", out.display()))?;
        *total = executed(&profile).ok_or("callgrind's output has no total")?;
    }
    let [few, many] = totals;
    let extra = many.checked_sub(few).filter(|&extra| extra > 0);
    let extra = extra
        .ok_or_else(|| format!("{engine} {kernel}: more packets took no more instructions"))?;
    Ok(extra as f64 / (PACKETS[1] - PACKETS[0]) as f64)
}

/// `totals: 12345` or `summary: 12345` of a profile.
fn executed(profile: &str) -> Option<u64> {
    let line = profile.lines().find_map(|line| {
        line.strip_prefix("totals:")
            .or(line.strip_prefix("summary:"))
    })?;
    line.split_whitespace().next()?.parse().ok()
}

fn baseline(table: &str, rustc: &str, engine: &str, kernel: &str) -> Option<f64> {
    table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .find_map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let [version, of_engine, of_kernel, figure] = fields[..] else {
                return None;
            };
            ([version, of_engine, of_kernel] == [rustc, engine, kernel])
                .then(|| figure.parse().ok())?
        })
}

/// How far the worst case lies over its baseline, in percent.
fn worst_excess(
    table: &str,
    rustc: &str,
    measured: &[(&str, &str, f64)],
    planted: f64,
) -> Result<f64, Miss> {
    let mut worst = f64::NEG_INFINITY;
    for (engine, kernel, figure) in measured {
        let Some(expected) = baseline(table, rustc, engine, kernel) else {
            return Err(Miss::Skipped(format!(
                "{BASELINES} has no {engine} {kernel} for rustc {rustc}"
            )));
        };
        worst = worst.max((figure / (expected * planted) - 1.0) * 100.0);
    }
    if worst.is_finite() {
        Ok(worst)
    } else {
        Err(Miss::Failed("nothing was measured".to_owned()))
    }
}

/// The table with this compiler's lines replaced.
fn recorded(table: &str, rustc: &str, measured: &[(&str, &str, f64)]) -> String {
    let mine = format!("{rustc}\t");
    let mut text: String = table
        .lines()
        .filter(|line| !line.starts_with(&mine))
        .map(|line| format!("{line}\n"))
        .collect();
    for (engine, kernel, figure) in measured {
        text.push_str(&format!("{rustc}\t{engine}\t{kernel}\t{figure:.2}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read() {
        assert_eq!(
            executed("version: 1\nevents: Ir\nsummary: 4711\nfn=(1)\n"),
            Some(4711)
        );
        assert_eq!(executed("events: Ir\ntotals: 12\n"), Some(12));
        assert_eq!(executed("events: Ir\n"), None);
    }

    #[test]
    fn two_percent_more_is_seen_and_an_unknown_compiler_skips() {
        let table = recorded(
            HEAD,
            "1.95.0",
            &[("io", "scalar", 20.0), ("csum", "avx2", 50.0)],
        );
        let excess = worst_excess(
            &table,
            "1.95.0",
            &[("io", "scalar", 19.0), ("csum", "avx2", 51.5)],
            1.0,
        );
        assert!(excess.is_ok_and(|excess| (excess - 3.0).abs() < 1e-9));
        assert!(matches!(
            worst_excess(&table, "1.96.0", &[("io", "scalar", 1.0)], 1.0),
            Err(Miss::Skipped(_))
        ));
        assert!(matches!(
            worst_excess(&table, "1.95.0", &[], 1.0),
            Err(Miss::Failed(_))
        ));
    }

    #[test]
    fn recording_replaces_one_compilers_lines() {
        let table = recorded(HEAD, "1.95.0", &[("io", "scalar", 20.0)]);
        let table = recorded(&table, "1.96.0", &[("io", "scalar", 21.0)]);
        let table = recorded(&table, "1.95.0", &[("io", "scalar", 22.0)]);
        assert_eq!(baseline(&table, "1.95.0", "io", "scalar"), Some(22.0));
        assert_eq!(baseline(&table, "1.96.0", "io", "scalar"), Some(21.0));
        assert_eq!(table.lines().count(), 3);
    }
}
