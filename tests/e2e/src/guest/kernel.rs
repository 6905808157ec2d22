//! Debian's kernel, fetched once with `apt-get download` and unpacked into a cache that outlives the tests:
//! `MPPS_VM_CACHE`, or `target/guest`. Processes that fetch it at the same time don't disturb each other: each unpacks
//! into a folder of its own, and the first one gives it its name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use super::{find, image};
use crate::program;

/// The package that depends on the newest kernel.
const NEWEST: &str = "linux-image-amd64";

/// An unpacked kernel package.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Root of the package's files.
    root: PathBuf,
    /// What `uname -r` says in the guest.
    version: String,
}

impl Kernel {
    /// The kernel of the cache, fetched where there is none.
    ///
    /// # Errors
    /// When it isn't there and can't be fetched.
    pub fn find() -> Result<Self, String> {
        // Tests of a process come here at once; one of them fetches.
        static ONE: Mutex<()> = Mutex::new(());
        let _guard = ONE.lock().map_err(|_| "another test failed here")?;
        let cache = match std::env::var_os("MPPS_VM_CACHE") {
            Some(folder) => PathBuf::from(folder),
            None => program::target().join("guest"),
        };
        let root = cache.join("kernel");
        if !root.is_dir() {
            fetch(&cache, &root).map_err(|why| format!("no Linux kernel for guests: {why}"))?;
        }
        let modules = root.join("lib/modules");
        let version = only_entry(&modules)?;
        Ok(Self { root, version })
    }

    /// The image to boot.
    pub fn image(&self) -> PathBuf {
        self.root.join(format!("boot/vmlinuz-{}", self.version))
    }

    /// What QEMU starts at once: the kernel proper, or the boot image where that can't be unpacked here.
    pub fn direct(&self) -> PathBuf {
        let image = self.image();
        image::unpacked(&image).unwrap_or(image)
    }

    /// The files of these modules and of all they need, in the order in which they are loaded.
    ///
    /// # Errors
    /// When the kernel has no such module.
    pub fn modules(&self, names: &[&str]) -> Result<Vec<PathBuf>, String> {
        let mut files = Vec::new();
        for name in names {
            let mut command = program("modprobe")?;
            command.args(["-S", &self.version, "-d"]).arg(&self.root);
            for line in output(command.args(["--show-depends", name]))?.lines() {
                let file = line.strip_prefix("insmod ").map(str::trim);
                if let Some(file) = file.map(PathBuf::from).filter(|file| !files.contains(file)) {
                    files.push(file);
                }
            }
        }
        Ok(files)
    }
}

fn fetch(cache: &Path, root: &Path) -> Result<(), String> {
    let text = |error: std::io::Error| error.to_string();
    let new = cache.join(format!("new-{}", std::process::id()));
    fs::create_dir_all(&new).map_err(text)?;
    let fetched = unpack(&new);
    // Where somebody else was first, theirs is as good.
    let named = fetched.and_then(|()| match fs::rename(new.join("kernel"), root) {
        Err(error) if !root.is_dir() => Err(error.to_string()),
        _ => Ok(()),
    });
    // What stays behind costs space, and nothing else.
    let _ = fs::remove_dir_all(&new);
    named
}

fn unpack(new: &Path) -> Result<(), String> {
    let depends = output(program("apt-cache")?.args(["depends", NEWEST]))?;
    let package = depends
        .lines()
        .find_map(|line| line.trim().strip_prefix("Depends: "));
    let package = package.ok_or_else(|| format!("apt knows no {NEWEST}; run apt-get update"))?;
    output(
        program("apt-get")?
            .args(["-qq", "download", package])
            .current_dir(new),
    )?;
    let archive = new.join(only_entry(new)?);
    let kernel = new.join("kernel");
    output(program("dpkg-deb")?.arg("-x").arg(&archive).arg(&kernel))?;
    let version = only_entry(&kernel.join("lib/modules"))?;
    output(program("depmod")?.arg("-b").arg(&kernel).arg(version))?;
    Ok(())
}

/// The name of what alone is in a folder.
fn only_entry(folder: &Path) -> Result<String, String> {
    let wrong = || format!("{} hasn't one entry", folder.display());
    let mut entries = fs::read_dir(folder).map_err(|_| wrong())?;
    match (entries.next(), entries.next()) {
        (Some(Ok(entry)), None) => Ok(entry.file_name().to_string_lossy().into_owned()),
        _ => Err(wrong()),
    }
}

fn program(name: &str) -> Result<Command, String> {
    let path = find(name).ok_or_else(|| format!("no {name}"))?;
    Ok(Command::new(path))
}

/// What a program prints; on a failure, its last words.
pub(super) fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().last().unwrap_or_default();
    Err(format!("{name}: {}: {last}", output.status))
}
