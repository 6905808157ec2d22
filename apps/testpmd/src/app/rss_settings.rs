//! Receive-side scaling as commands change it: types, key, redirection table. Takes effect at once.

use mpps_dev::RxMode;

use super::{App, PortSlot};
use crate::text::{ConfigRefusal, Refusal, Reply, RssChanged, rss_type};

/// DPDK's error number for what a port can't do.
const UNSUPPORTED: i32 = 95;

/// The two bits that say at which level of a tunnel is hashed.
const LEVELS: u64 = 3 << 50;

/// What `port config all rss` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RssChoice {
    /// What each port can do.
    Default,
    /// These types.
    Types(u64),
    /// The types there are, at this level.
    Level(u64),
}

impl RssChoice {
    /// Reads the word of the command.
    ///
    /// # Errors
    /// A number that is no type, or an unknown name.
    pub fn parse(word: &str) -> Result<Self, ConfigRefusal> {
        match word {
            "default" => return Ok(Self::Default),
            "level-default" => return Ok(Self::Level(0)),
            "level-outer" => return Ok(Self::Level(1 << 50)),
            "level-inner" => return Ok(Self::Level(2 << 50)),
            _ => {}
        }
        if let Some(bits) = rss_type(word) {
            return Ok(Self::Types(bits));
        }
        if !word.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(Refusal::RssWord.into());
        }
        match word.parse::<u32>() {
            Ok(at @ 1..=63) => Ok(Self::Types(1 << at)),
            _ => Err(ConfigRefusal::RssNumber),
        }
    }
}

/// The port spreads packets by hash as it was last configured.
fn spreads(slot: &PortSlot) -> bool {
    slot.dev.port().config().rx_mode.contains(RxMode::RSS)
}

impl App {
    /// `port config all rss`: types of every port, cut to what it can do.
    pub fn set_rss_types(&mut self, choice: RssChoice) {
        let mut asked = match choice {
            RssChoice::Types(bits) => bits,
            RssChoice::Level(level) => self.args.offloads.rss & !LEVELS | level,
            RssChoice::Default => 0,
        };
        let mut all = true;
        for id in self.port_ids() {
            let Some(slot) = self.port(id) else { continue };
            let can = slot.dev.info().rss_types;
            if choice == RssChoice::Default {
                asked = can;
            }
            if asked & can != asked {
                self.out.line(RssChanged {
                    port: id,
                    requested: asked,
                    configured: asked & can,
                });
            }
            if let Err(refusal) = self.set_rss_of(id, asked & can) {
                all = false;
                self.out.complain(refusal);
            }
        }
        if all && !self.port_ids().is_empty() {
            self.out.line(Reply::RssTypes(asked));
            self.args.offloads.rss = asked;
        }
    }

    fn set_rss_of(&mut self, id: u16, types: u64) -> Result<(), ConfigRefusal> {
        let slot = self.need_port(id)?;
        if !spreads(slot) {
            return Err(ConfigRefusal::RssOff(id));
        }
        let Some(rss) = slot.dev.rss() else {
            return Err(ConfigRefusal::Rss(
                id,
                UNSUPPORTED,
                "Operation not supported",
            ));
        };
        rss.set_types(types)
            .map_err(|error| ConfigRefusal::Own(format!("port {id}: {error}")))?;
        slot.rss_types = types;
        Ok(())
    }

    /// `port config {p} rss-hash-key`: the key, in hexadecimal digits.
    ///
    /// # Errors
    /// No such port, a port without RSS, or a key of the wrong length.
    pub fn set_rss_key(&mut self, id: u16, digits: &str) -> Result<(), ConfigRefusal> {
        let slot = self.port_mut(id).ok_or(ConfigRefusal::NoInfo(id))?;
        let need = usize::from(slot.dev.info().hash_key_size);
        if need == 0 {
            return Err(ConfigRefusal::NoKey);
        }
        let key = parse_key(digits, need)?;
        match slot.dev.rss() {
            Some(rss) => rss
                .set_key(&key)
                .map_err(|error| ConfigRefusal::Own(format!("port {id}: {error}"))),
            None => Err(Refusal::Unsupported.into()),
        }
    }

    /// `port config {p} rss reta`: pairs of entry and queue, all of them or none.
    ///
    /// # Errors
    /// No such port, no table, or a pair out of range.
    pub fn set_reta(&mut self, id: u16, pairs: &str) -> Result<(), ConfigRefusal> {
        let queues = self.forwarding.rxq;
        let slot = self.port_mut(id).ok_or(ConfigRefusal::NoInfo(id))?;
        let size = slot.dev.info().reta_size;
        if size == 0 {
            return Err(Refusal::RetaEmpty.into());
        }
        self.out.line(Reply::RetaSize(id, size));
        let entries = parse_pairs(pairs, size)?;
        let slot = self.need_port(id)?;
        if !spreads(slot) {
            return Err(ConfigRefusal::RetaOff(Refusal::RetaRefused(-UNSUPPORTED)));
        }
        if let Some((entry, queue)) = entries
            .iter()
            .find(|(_, queue)| *queue >= u32::from(queues))
        {
            return Err(ConfigRefusal::RetaQueue(*entry, *queue, queues));
        }
        let Some(rss) = slot.dev.rss() else {
            return Err(Refusal::RetaRefused(-UNSUPPORTED).into());
        };
        let entries: Vec<(usize, u16)> = entries
            .iter()
            .map(|(entry, queue)| (*entry, *queue as u16))
            .collect();
        rss.set_reta(&entries)
            .map_err(|error| ConfigRefusal::Own(format!("port {id}: {error}")))
    }

    /// `port config {p} rss-hash-algo`: software hashes as Toeplitz; that is what `default` means, too.
    ///
    /// # Errors
    /// No such port, a port without RSS, or another algorithm.
    pub fn set_rss_algorithm(&mut self, id: u16, name: &str) -> Result<(), ConfigRefusal> {
        let slot = self.port_mut(id).ok_or(ConfigRefusal::NoInfo(id))?;
        if slot.dev.rss().is_none() {
            return Err(Refusal::Unsupported.into());
        }
        if matches!(name, "default" | "toeplitz") {
            return Ok(());
        }
        Err(ConfigRefusal::Own(format!(
            "port {id}: hash algorithm {name} is not available; it hashes as toeplitz"
        )))
    }
}

fn parse_key(digits: &str, need: usize) -> Result<Vec<u8>, ConfigRefusal> {
    let given: Vec<char> = digits.chars().collect();
    if given.len() != need * 2 {
        return Err(ConfigRefusal::KeyLength(given.len(), need * 2));
    }
    let mut values = Vec::new();
    for (at, character) in given.into_iter().enumerate() {
        let value = character
            .to_digit(16)
            .ok_or(ConfigRefusal::KeyDigit(character, at))?;
        values.push(value as u8);
    }
    Ok(values
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect())
}

/// `(entry,queue)[,(entry,queue)...]`.
fn parse_pairs(text: &str, size: u16) -> Result<Vec<(usize, u32)>, ConfigRefusal> {
    let mut entries = Vec::new();
    for group in text.split('(').skip(1) {
        let pair = group.split(')').next().unwrap_or_default().split_once(',');
        let numbers = pair.and_then(|(entry, queue)| Some((number(entry)?, number(queue)?)));
        let Some((entry, queue)) = numbers else {
            return Err(Refusal::RetaWords.into());
        };
        if entry >= u32::from(size) {
            return Err(ConfigRefusal::RetaEntry(entry));
        }
        entries.push((entry as usize, queue));
    }
    // Text without a pair reaches DPDK's port as a change of nothing, which it refuses.
    if entries.is_empty() {
        Err(Refusal::RetaRefused(-22).into())
    } else {
        Ok(entries)
    }
}

fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
