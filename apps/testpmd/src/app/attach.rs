//! Ports that come and go while the program runs.
//!
//! A port that is attached inherits what all ports are asked for (queues, rings, offloads, RSS types), is promiscuous and
//! stopped, takes the lowest number that is free and joins the forwarding ports: at once, or, as streams that run are
//! those of the last start, when forwarding stops. One that is detached leaves them.

use super::{App, PortSlot};
use crate::plan::PlannedDevice;
use crate::text::{ConfigRefusal, Lifecycle, Refusal};

impl App {
    /// `port attach`: a device, as behind `--vdev`, becomes a port, also while others forward.
    ///
    /// # Errors
    /// The device can't be a port; nothing changes then.
    pub fn attach(&mut self, text: &str) -> Result<(), ConfigRefusal> {
        self.out.line(Lifecycle::Attaching);
        let refuse = |why: String| ConfigRefusal::Attach(text.to_owned(), why);
        let device = PlannedDevice::parse(text).map_err(|error| refuse(error.to_string()))?;
        if self.port_named(device.args.name()).is_some() {
            let name = device.args.name();
            return Err(refuse(format!(
                "{name} is a port already; each device needs a name of its own"
            )));
        }
        let number = self
            .ports
            .iter()
            .position(Option::is_none)
            .unwrap_or(self.ports.len());
        let slot = PortSlot::probe(&device, number, &self.args, &self.surroundings)
            .map_err(|error| refuse(error.to_string()))?;
        self.pools
            .isolate(&self.args, self.workers.len(), &slot, &self.pages)
            .map_err(|error| refuse(error.to_string()))?;
        let id = slot.id;
        if number == self.ports.len() {
            self.ports.push(Some(slot));
        } else {
            self.ports[number] = Some(slot);
        }
        self.make_promiscuous(&[id]);
        self.forwarding.joining.push(id);
        if self.forwarding.running.is_none() {
            self.join();
        }
        self.out
            .line(Lifecycle::Attached(id, self.port_ids().len()));
        self.out.line(Lifecycle::Done);
        Ok(())
    }

    /// Ports that were attached become forwarding ports. Nothing runs.
    pub(super) fn join(&mut self) {
        let joining = std::mem::take(&mut self.forwarding.joining);
        if joining.is_empty() {
            return;
        }
        for id in joining {
            // It takes part even where fewer ports than there are did, as in DPDK: it stands behind those that do.
            let at = self.forwarding.nb_ports.min(self.forwarding.ports.len());
            self.forwarding.ports.insert(at, id);
            self.forwarding.nb_ports = at + 1;
        }
        self.lay_out();
    }

    /// `port detach`, also while other ports forward.
    ///
    /// # Errors
    /// No such port, or it runs.
    pub fn detach_port(&mut self, id: u16) -> Result<(), ConfigRefusal> {
        let slot = self.port(id).ok_or(ConfigRefusal::NoDevice(id))?;
        if slot.is_started() {
            return Err(Refusal::DetachRunning.into());
        }
        self.out.complain(Refusal::DetachOpen);
        self.out.line(Lifecycle::Removing);
        self.remove(id);
        self.out.line(Lifecycle::DeviceDetached);
        self.tell_left();
        Ok(())
    }

    /// `device detach`, also while other ports forward.
    ///
    /// # Errors
    /// No such device, or its port runs.
    pub fn detach_device(&mut self, name: &str) -> Result<(), ConfigRefusal> {
        self.out.line(Lifecycle::Removing);
        let Some(id) = self.port_named(name) else {
            let names: Vec<&str> = self
                .ports
                .iter()
                .flatten()
                .map(|slot| slot.dev.info().name.as_str())
                .collect();
            let why = format!("no device has this name; there are: {}", names.join(", "));
            return Err(ConfigRefusal::Detach(name.to_owned(), why));
        };
        if self.port(id).is_some_and(PortSlot::is_started) {
            return Err(ConfigRefusal::DetachRunning(id));
        }
        self.remove(id);
        self.out.line(Lifecycle::NamedDetached(name));
        self.tell_left();
        Ok(())
    }

    fn port_named(&self, name: &str) -> Option<u16> {
        self.ports
            .iter()
            .flatten()
            .find(|slot| slot.dev.info().name == name)
            .map(|slot| slot.id)
    }

    /// Closes a stopped port and forgets it.
    fn remove(&mut self, id: u16) {
        self.ports[usize::from(id)] = None;
        let active = self
            .forwarding
            .active_ports()
            .iter()
            .filter(|port| **port != id)
            .count();
        self.forwarding.ports.retain(|port| *port != id);
        self.forwarding.joining.retain(|port| *port != id);
        self.forwarding.nb_ports = active;
        // Streams that run are those of the last layout; it is made anew at the next start.
        if self.forwarding.running.is_none() {
            self.lay_out();
        }
        self.out.line(Lifecycle::Closed(id));
    }

    fn tell_left(&mut self) {
        self.out.line(Lifecycle::TotalPorts(self.port_ids().len()));
        self.out.line(Lifecycle::Done);
    }
}
