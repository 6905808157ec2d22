//! Programs with a known fault. The folder is made for one check and removed when it is dropped.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A folder of our own under the system's temporary one, removed when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes it, readable by everyone.
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("mpps-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let folder = Self(path);
        folder.open_to_all(folder.path())?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Copies a program so that any user can start it, wherever the checkout lies.
    pub(crate) fn copy_program(&self, program: &Path) -> Result<PathBuf, String> {
        let to = self.0.join("program");
        fs::copy(program, &to).map_err(|error| format!("{}: {error}", program.display()))?;
        self.open_to_all(&to)?;
        Ok(to)
    }

    fn open_to_all(&self, path: &Path) -> Result<(), String> {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))
            .map_err(|error| format!("{}: {error}", path.display()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

/// A folder whose `testpmd` is the script, with `$REAL` set to the real program.
pub(crate) fn stand_in(programs: &Path, script: &str) -> Result<Folder, String> {
    let folder = Folder::new("planted")?;
    let real = programs.join("testpmd");
    let real = fs::canonicalize(&real).map_err(|error| format!("{}: {error}", real.display()))?;
    let text = format!("#!/bin/sh\nREAL='{}'\n{script}\n", real.display());
    let path = folder.path().join("testpmd");
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    folder.open_to_all(&path)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_script_runs_in_place_of_the_program_and_goes_away() {
        let programs = Folder::new("real").expect("a folder");
        fs::write(programs.path().join("testpmd"), "#!/bin/sh\necho real $1\n").expect("a program");
        programs
            .open_to_all(&programs.path().join("testpmd"))
            .expect("permissions");
        let planted =
            stand_in(programs.path(), "\"$REAL\" \"$@\" | tr a-z A-Z").expect("a stand-in");
        let path = planted.path().to_owned();
        let output = Command::new(path.join("testpmd"))
            .arg("x")
            .output()
            .expect("it runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "REAL X\n");
        drop(planted);
        assert!(!path.exists());
    }
}
