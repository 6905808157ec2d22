//! What commands set at single ports: modes, addresses, MTU, multicast lists.

use mpps_wire::MacAddr;

use super::{App, PortSlot, Which};
use crate::text::{ConfigRefusal, Refusal};

/// Error texts that DPDK prints where a port can't do something.
const UNSUPPORTED: &str = "Operation not supported";
/// The same for a port that isn't there.
const NO_DEVICE: &str = "No such device";
/// The same for a value that makes no sense.
const INVALID: &str = "Invalid argument";

impl App {
    /// The port, for writing.
    pub(super) fn need_port(&mut self, id: u16) -> Result<&mut PortSlot, Refusal> {
        self.port_mut(id).ok_or(Refusal::NoPort(id))
    }

    /// The port, for writing, which doesn't run.
    pub(super) fn need_stopped(&mut self, id: u16) -> Result<&mut PortSlot, Refusal> {
        let slot = self.need_port(id)?;
        if slot.is_started() {
            Err(Refusal::StopPort(id))
        } else {
            Ok(slot)
        }
    }

    /// No port runs.
    pub(super) fn need_all_stopped(&self) -> Result<(), Refusal> {
        if self.ports.iter().flatten().any(PortSlot::is_started) {
            Err(Refusal::StopAllPorts)
        } else {
            Ok(())
        }
    }

    /// `set promisc`; a refusal of one port doesn't keep the others from it, and a port isn't asked for what it is.
    pub fn set_promiscuous(&mut self, which: Which, on: bool) {
        self.each_port(
            which,
            |slot| slot.dev.port().promiscuous() == on || slot.dev.set_promiscuous(on).is_ok(),
            |id, why| Refusal::Promiscuous(on, id, why),
        );
    }

    /// testpmd makes every port promiscuous once it has started them; one that can't be is told of and left as it is.
    pub fn make_promiscuous(&mut self, ids: &[u16]) {
        for id in ids {
            let refused = self
                .port_mut(*id)
                .is_some_and(|slot| slot.dev.set_promiscuous(true).is_err());
            if refused {
                self.out
                    .complain(Refusal::PromiscuousIgnored(*id, UNSUPPORTED));
            }
        }
    }

    /// `set allmulti`, likewise.
    pub fn set_allmulticast(&mut self, which: Which, on: bool) {
        self.each_port(
            which,
            |slot| slot.dev.port().allmulticast() == on || slot.dev.set_allmulticast(on).is_ok(),
            |id, why| Refusal::AllMulticast(on, id, why),
        );
    }

    fn each_port(
        &mut self,
        which: Which,
        set: impl Fn(&mut PortSlot) -> bool,
        refusal: impl Fn(u16, &'static str) -> Refusal,
    ) {
        let ids = match which {
            Which::All => self.port_ids(),
            Which::One(id) => vec![id],
        };
        for id in ids {
            match self.port_mut(id) {
                None => self
                    .out
                    .complain(ConfigRefusal::NoEthdev(id, refusal(id, NO_DEVICE))),
                Some(slot) => {
                    if !set(slot) {
                        self.out.complain(refusal(id, UNSUPPORTED));
                    }
                }
            }
        }
    }

    /// `mac_addr set`: the address the port sends from.
    ///
    /// # Errors
    /// The address is for many or for nobody, or the port can't change its own.
    pub fn set_mac(&mut self, id: u16, mac: MacAddr) -> Result<(), ConfigRefusal> {
        let slot = self.ethdev(id)?;
        if !mac.is_assignable() {
            return Err(Refusal::MacAddr(INVALID).into());
        }
        slot.dev
            .set_mac(mac)
            .map_err(|_| Refusal::MacAddr(UNSUPPORTED))?;
        self.at_next_start("the source address of packets that are written anew");
        Ok(())
    }

    /// `mac_addr add`: one more address. Ports that hold a single one refuse, as DPDK's do.
    ///
    /// # Errors
    /// The port has no room, or the address is for nobody.
    pub fn add_mac(&mut self, id: u16, mac: MacAddr) -> Result<(), ConfigRefusal> {
        let slot = self.ethdev(id)?;
        if slot.dev.info().max_mac_addrs <= 1 {
            return Err(Refusal::MacAddr(UNSUPPORTED).into());
        }
        if mac.is_zero() {
            return Err(Refusal::MacAddr(INVALID).into());
        }
        if slot.dev.port_mut().add_mac(mac) {
            Ok(())
        } else {
            Err(Refusal::MacAddr("No space left on device").into())
        }
    }

    /// `mac_addr remove`: all but the address the port sends from can go.
    ///
    /// # Errors
    /// The address is the port's own, or the port holds a single one.
    pub fn remove_mac(&mut self, id: u16, mac: MacAddr) -> Result<(), ConfigRefusal> {
        let slot = self.ethdev(id)?;
        if slot.dev.info().max_mac_addrs <= 1 {
            return Err(Refusal::MacAddr(UNSUPPORTED).into());
        }
        if slot.dev.port().mac() == mac {
            return Err(Refusal::MacAddr("Address already in use").into());
        }
        // One that isn't there is gone already: DPDK says nothing.
        slot.dev.port_mut().remove_mac(mac);
        Ok(())
    }

    fn ethdev(&mut self, id: u16) -> Result<&mut PortSlot, ConfigRefusal> {
        self.port_mut(id)
            .ok_or(ConfigRefusal::NoEthdev(id, Refusal::MacAddr(NO_DEVICE)))
    }

    /// `set eth-peer`: where packets that a port sends go to.
    ///
    /// # Errors
    /// No such port, or no address.
    pub fn set_peer(&mut self, id: u16, text: &str) -> Result<(), ConfigRefusal> {
        if self.port(id).is_none() {
            return Err(ConfigRefusal::PeerPort(id));
        }
        let mac: MacAddr = text
            .parse()
            .map_err(|_| ConfigRefusal::PeerAddress(text.to_owned()))?;
        self.forwarding.peers.retain(|(port, _)| *port != id);
        self.forwarding.peers.push((id, mac));
        self.at_next_start("the address that packets are sent to");
        Ok(())
    }

    /// `port config mtu`, also while the port runs. Kept for every later start.
    ///
    /// # Errors
    /// No such port, or an MTU it can't have.
    pub fn set_mtu(&mut self, id: u16, mtu: u16) -> Result<(), ConfigRefusal> {
        let slot = self.need_port(id)?;
        mtu_fits(slot, u32::from(mtu))?;
        slot.dev
            .set_mtu(mtu)
            .map_err(|_| ConfigRefusal::Mtu(u32::from(mtu), id))?;
        slot.wishes.mtu = Some(mtu);
        Ok(())
    }

    /// `mcast_addr add`: no port here keeps a list of groups to let through; all of them let all through or none.
    ///
    /// # Errors
    /// Always: the address is none of a group, or the port has no list.
    pub fn add_multicast(&mut self, id: u16, mac: MacAddr) -> Result<(), ConfigRefusal> {
        self.need_port(id)?;
        if !mac.is_multicast() {
            return Err(ConfigRefusal::NotMulticast(mac));
        }
        Err(ConfigRefusal::Multicast(id, 1))
    }

    /// `mcast_addr remove`: see [`App::add_multicast`].
    ///
    /// # Errors
    /// Always, since nothing is in the list.
    pub fn remove_multicast(&mut self, id: u16, mac: MacAddr) -> Result<(), ConfigRefusal> {
        self.need_port(id)?;
        if !mac.is_multicast() {
            return Err(ConfigRefusal::NotMulticast(mac));
        }
        Err(ConfigRefusal::NotFiltered(id))
    }

    /// `mcast_addr flush`: the list is empty.
    ///
    /// # Errors
    /// No such port.
    pub fn flush_multicast(&mut self, id: u16) -> Result<(), ConfigRefusal> {
        self.need_port(id)?;
        Ok(())
    }
}

/// Whether the port can have the MTU.
pub(super) fn mtu_fits(slot: &PortSlot, mtu: u32) -> Result<(), Refusal> {
    let info = slot.dev.info();
    let (least, most) = (u32::from(info.min_mtu), u32::from(info.max_mtu));
    if mtu < least {
        Err(Refusal::MtuTooSmall(mtu, least, slot.id))
    } else if mtu > most {
        Err(Refusal::MtuTooLarge(mtu, most, slot.id))
    } else {
        Ok(())
    }
}
