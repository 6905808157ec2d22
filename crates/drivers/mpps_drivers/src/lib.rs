//! The table of all drivers, and the search by a device's name.
#![forbid(unsafe_code)]

use mpps_dev::Driver;
use mpps_pmd_null::Null;
use mpps_pmd_pcap::Pcap;
use mpps_pmd_ring::Ring;
use mpps_pmd_vhost::Vhost;
use mpps_pmd_virtio_user::VirtioUser;

/// All kinds of port there are.
pub const DRIVERS: &[&dyn Driver] = &[&Null, &Ring, &Pcap, &Vhost, &VirtioUser];

/// The driver of a device: the one whose name or alias is the longest prefix of the device's name.
///
/// ```
/// assert_eq!(mpps_drivers::find("eth_null_foo").unwrap().name(), "net_null");
/// assert!(mpps_drivers::find("net_nothing0").is_none());
/// ```
pub fn find(device: &str) -> Option<&'static dyn Driver> {
    DRIVERS
        .iter()
        .flat_map(|driver| {
            std::iter::once(driver.name())
                .chain(driver.aliases().iter().copied())
                .map(move |name| (name, *driver))
        })
        .filter(|(name, _)| device.starts_with(name))
        .max_by_key(|(name, _)| name.len())
        .map(|(_, driver)| driver)
}
