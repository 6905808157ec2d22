//! Where the programs under test are. `cargo xtask test` names their folder; a plain `cargo test` takes the release build
//! of the workspace, and makes it once where there is none.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder that holds the release programs, from the environment.
const FOLDER: &str = "MPPS_BIN_DIR";

/// Path of `testpmd`.
///
/// # Panics
/// When it is neither there nor can be built.
pub fn testpmd() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| find("testpmd"))
}

/// Path of `mpps`.
///
/// # Panics
/// As [`testpmd`].
pub fn mpps() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| find("mpps"))
}

/// Path of `mpps_harness`: where `MPPS_HARNESS` says, beside the programs under test, or a build of the tests' own profile,
/// which is soon made.
///
/// # Panics
/// When it can't be built.
pub fn harness() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    const NAME: &str = "mpps_harness";
    FOUND.get_or_init(|| {
        let given = std::env::var_os("MPPS_HARNESS").map(PathBuf::from);
        let beside = std::env::var_os(FOLDER).map(|folder| PathBuf::from(folder).join(NAME));
        if let Some(path) = given.or(beside).filter(|path| path.is_file()) {
            return path;
        }
        build(NAME, &[]);
        target().join("debug").join(NAME)
    })
}

fn build(name: &str, profile: &[&str]) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = Command::new(cargo)
        .args(["build", "-p", name])
        .args(profile)
        .current_dir(workspace())
        .status();
    assert!(
        build.is_ok_and(|status| status.success()),
        "{name} can't be built"
    );
}

fn find(name: &str) -> PathBuf {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let path = PathBuf::from(folder).join(name);
        assert!(path.is_file(), "{FOLDER} has no {name}: {}", path.display());
        return path;
    }
    let path = target().join("release").join(name);
    if !path.is_file() {
        build(name, &["--release"]);
    }
    path
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The build folder; a relative one counts from the workspace, where cargo is called.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => workspace().join(folder),
        None => workspace().join("target"),
    }
}
