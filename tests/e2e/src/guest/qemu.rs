//! The command line of QEMU: emulation, so that no privilege is needed, and memory that is a shared memfd, as vhost-user
//! needs it.

use std::path::Path;
use std::process::Command;

use super::kernel::Kernel;
use super::{Firmware, Nic, Setup};

/// Memory of a guest in MiB.
const MEMORY: u32 = 512;

/// What the kernel is told: its console, silence but for a crash, and an end rather than a halt after one.
const KERNEL_LINE: &str = "console=ttyS0 quiet loglevel=1 panic=-1";

/// The script by which the boot code of the last card starts Linux.
const BOOT_SCRIPT: &str = "boot.ipxe";

/// The command; files that it needs beside the image are written into `folder`.
///
/// # Panics
/// When they can't be written.
pub(super) fn command(setup: &Setup, kernel: &Kernel, image: &Path, folder: &Path) -> Command {
    let mut command = Command::new("setpriv");
    // Ends with the thread that started it, even if that is killed.
    command.args(["--pdeathsig", "KILL", "qemu-system-x86_64"]);
    command.args(["-machine", machine(setup.firmware)]);
    command.args(["-accel", "tcg,thread=multi", "-cpu", "max"]);
    command.args(["-nodefaults", "-no-user-config", "-display", "none"]);
    command.args([
        "-chardev",
        "stdio,id=console,signal=off",
        "-serial",
        "chardev:console",
    ]);
    command.args(["-smp", &setup.cpus.to_string(), "-m", &MEMORY.to_string()]);
    command.arg("-object").arg(format!(
        "memory-backend-memfd,id=memory,size={MEMORY}M,share=on"
    ));
    command.args(["-numa", "node,memdev=memory"]);
    if !setup.reboots {
        command.arg("-no-reboot");
    }
    for (at, nic) in setup.nics.iter().enumerate() {
        add_nic(&mut command, setup, at, nic);
    }
    match setup.firmware {
        Firmware::Direct => {
            command.arg("-kernel").arg(kernel.direct());
            command.arg("-initrd").arg(image);
            command.args(["-append", KERNEL_LINE]);
        }
        Firmware::Network => boot_from_network(&mut command, kernel, folder),
    }
    command
}

/// Boot code is heard on the console only on a machine without graphics.
fn machine(firmware: Firmware) -> &'static str {
    match firmware {
        Firmware::Direct => "q35",
        Firmware::Network => "q35,graphics=off",
    }
}

fn add_nic(command: &mut Command, setup: &Setup, at: usize, nic: &Nic) {
    let wait = if nic.listens {
        ",server=on,wait=on"
    } else {
        ""
    };
    command
        .arg("-chardev")
        .arg(format!("socket,id=socket{at},path={}{wait}", nic.socket));
    command.arg("-netdev").arg(format!(
        "vhost-user,id=net{at},chardev=socket{at},queues={}",
        nic.queues
    ));
    // Without MSI-X: QEMU 7.2 under emulation crashes when a guest unmasks a vector of a vhost-user card.
    let mut device = format!(
        "virtio-net-pci,netdev=net{at},vectors=0,mac=52:54:00:4d:{:02x}:{at:02x}",
        setup.number
    );
    if nic.queues > 1 {
        device.push_str(",mq=on");
    }
    match setup.firmware {
        Firmware::Direct => device.push_str(",romfile="),
        Firmware::Network => device.push_str(&format!(",bootindex={}", at + 1)),
    }
    if !nic.properties.is_empty() {
        device.push_str(&format!(",{}", nic.properties));
    }
    command.args(["-device", &device]);
}

/// A card of QEMU's own network comes last in the boot order: its boot code finds the kernel, the image and a script there.
fn boot_from_network(command: &mut Command, kernel: &Kernel, folder: &Path) {
    let script =
        format!("#!ipxe\nkernel kernel {KERNEL_LINE} initrd=initrd\ninitrd initrd\nboot\n");
    let written = std::fs::write(folder.join(BOOT_SCRIPT), script)
        .and_then(|()| std::fs::copy(kernel.image(), folder.join("kernel")));
    assert!(written.is_ok(), "no boot folder: {written:?}");
    command.arg("-netdev").arg(format!(
        "user,id=boot,tftp={},bootfile={BOOT_SCRIPT}",
        folder.display()
    ));
    command.args(["-device", "virtio-net-pci,netdev=boot,bootindex=99"]);
}
