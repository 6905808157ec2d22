//! The root file system of a guest, as the kernel unpacks it into memory: an archive in cpio's `newc` format
//! (Documentation/driver-api/early-userspace/buffer-format.rst of the kernel). Collected in memory, written once.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::find;
use super::kernel::{Kernel, output};

/// What every guest loads.
const MODULES: [&str; 2] = ["virtio_pci", "virtio_net"];

const FOLDERS: [&str; 8] = [
    "bin", "dev", "lib64", "modules", "proc", "sys", "tmp", "usr",
];

/// The first program: mounts what the kernel offers, loads the modules, and runs the lines that come over the console.
/// Each answer ends with a line of its own that has the command's number and status.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc p /proc; mount -t sysfs s /sys; mount -t devtmpfs d /dev
stty -echo -onlcr
for module in $(cat /modules/order); do insmod /modules/$module; done
echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
ip link set lo up
n=0
printf '\\nGUEST-UP\\n'
while read -r line; do
    sh -c \"$line\" </dev/null
    status=$?
    n=$((n + 1))
    printf '\\nGUEST-STATUS %s %s\\n' $n $status
done
poweroff -f
";

const FOLDER: u32 = 0o040_755;
const FILE: u32 = 0o100_644;
const PROGRAM: u32 = 0o100_755;

/// An archive in the making.
#[derive(Default)]
pub struct Initrd {
    bytes: Vec<u8>,
    /// Paths that are in it.
    have: BTreeSet<PathBuf>,
}

impl Initrd {
    /// The root of a guest: busybox, ethtool, the test's own program, and the modules of virtio's network card.
    ///
    /// # Errors
    /// Names the file that is missing.
    pub fn for_tests(kernel: &Kernel, probe: &Path) -> Result<Self, String> {
        let mut root = Self::default();
        for folder in FOLDERS {
            root.folder(Path::new(folder));
        }
        for name in ["busybox", "ethtool"] {
            let path = find(name).ok_or_else(|| format!("no {name}"))?;
            root.program(&path, name)?;
        }
        root.program(probe, "probe")?;
        let mut order = String::new();
        for module in kernel.modules(&MODULES)? {
            let name = module.file_name().unwrap_or_default().to_string_lossy();
            root.copy(&module, &Path::new("modules").join(&*name))?;
            order.push_str(&format!("{name}\n"));
        }
        root.entry(Path::new("modules/order"), FILE, order.as_bytes());
        root.entry(Path::new("init"), PROGRAM, INIT.as_bytes());
        Ok(root)
    }

    /// Adds a program as `/bin/name`, with the shared libraries it needs at the paths where they are here.
    ///
    /// # Errors
    /// Names the file that can't be read.
    pub fn program(&mut self, path: &Path, name: &str) -> Result<(), String> {
        self.copy(path, &Path::new("bin").join(name))?;
        // A static program has no libraries: ldd says so and fails.
        let libraries = output(Command::new("ldd").arg(path)).unwrap_or_default();
        let paths = libraries
            .split_whitespace()
            .filter(|word| word.starts_with('/'));
        for library in paths {
            self.copy(Path::new(library), Path::new(&library[1..]))?;
        }
        Ok(())
    }

    /// Ends the archive and writes it.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn write(mut self, path: &Path) -> Result<(), String> {
        self.entry(Path::new("TRAILER!!!"), 0, &[]);
        fs::write(path, self.bytes).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn copy(&mut self, from: &Path, to: &Path) -> Result<(), String> {
        let error = |error| format!("{}: {error}", from.display());
        let mode = fs::metadata(from).map_err(error)?.permissions().mode();
        let bytes = fs::read(from).map_err(error)?;
        if let Some(folder) = to.parent() {
            self.folder(folder);
        }
        let mode = if mode & 0o111 == 0 { FILE } else { PROGRAM };
        self.entry(to, mode, &bytes);
        Ok(())
    }

    /// A folder with all above it.
    fn folder(&mut self, path: &Path) {
        let above: Vec<&Path> = path.ancestors().collect();
        for folder in above
            .into_iter()
            .rev()
            .filter(|path| path.file_name().is_some())
        {
            self.entry(folder, FOLDER, &[]);
        }
    }

    /// `newc`: a header of 13 numbers of 8 hexadecimal digits behind a mark, the name with a zero, and the contents; the
    /// last two padded so that what follows lies at a multiple of 4.
    fn entry(&mut self, path: &Path, mode: u32, contents: &[u8]) {
        if !self.have.insert(path.to_owned()) {
            return;
        }
        let name = path.to_string_lossy();
        let (inode, links) = (self.have.len(), 1);
        self.bytes.extend_from_slice(b"070701");
        let numbers: [usize; 13] = [
            inode,
            mode as usize,
            0,
            0,
            links,
            0,
            contents.len(),
            0,
            0,
            0,
            0,
            name.len() + 1,
            0,
        ];
        for number in numbers {
            self.bytes
                .extend_from_slice(format!("{number:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(contents);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests;
