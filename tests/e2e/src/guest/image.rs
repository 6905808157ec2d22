//! The kernel proper out of the boot image of its package. QEMU starts it as it is (the PVH entry of x86 kernels), which
//! spares an emulated CPU the unpacking: more than half of a boot. Made once and kept beside the boot image.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use super::find;

/// What goes before the protected-mode code, in sectors without the first (Documentation/arch/x86/boot.rst of the kernel).
const SETUP_SECTORS: usize = 0x1f1;

/// Where the payload lies in the protected-mode code, and its length.
const PAYLOAD_OFFSET: usize = 0x248;
const PAYLOAD_LENGTH: usize = 0x24c;

/// Behind the compressed kernel stands its true length.
const TAIL: usize = 4;

/// The kernel proper beside `boot`, a boot image packed by xz; none where it can't be had, and `boot` itself must do.
pub(super) fn unpacked(boot: &Path) -> Option<PathBuf> {
    let beside = |ending: &str| {
        let mut path = boot.as_os_str().to_owned();
        path.push(ending);
        PathBuf::from(path)
    };
    let to = beside(".unpacked");
    if to.is_file() {
        return Some(to);
    }
    let image = fs::read(boot).ok()?;
    let kernel = unpack(payload(&image)?)?;
    // Others may be at it too: each writes a file of its own, and the last one's stays.
    let new = beside(&format!(".new-{}", std::process::id()));
    fs::write(&new, kernel).ok()?;
    fs::rename(&new, &to).ok()?;
    Some(to)
}

/// The compressed kernel and the length behind it, as the header of the boot image has them.
fn payload(image: &[u8]) -> Option<(&[u8], usize)> {
    let word = |at: usize| Some(u32::from_le_bytes(*image.get(at..)?.first_chunk()?) as usize);
    let code = 512 * (usize::from(*image.get(SETUP_SECTORS)?) + 1);
    let from = code.checked_add(word(PAYLOAD_OFFSET)?)?;
    let bytes = image.get(from..from.checked_add(word(PAYLOAD_LENGTH)?)?)?;
    let (packed, length) = bytes.split_last_chunk::<TAIL>()?;
    Some((packed, u32::from_le_bytes(*length) as usize))
}

fn unpack((packed, length): (&[u8], usize)) -> Option<Vec<u8>> {
    let mut command = Command::new(find("xz")?);
    command.arg("-dc").stdin(Stdio::piped());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child: Child = command.spawn().ok()?;
    let mut input = child.stdin.take()?;
    let output = thread::scope(|scope| {
        // A program that doesn't take all of it says so by its status. The pipe is closed with the end of the thread.
        scope.spawn(move || drop(input.write_all(packed)));
        child.wait_with_output()
    });
    let output = output.ok().filter(|output| output.status.success())?;
    (output.stdout.len() == length && output.stdout.starts_with(b"\x7fELF"))
        .then_some(output.stdout)
}

#[cfg(test)]
mod tests;
