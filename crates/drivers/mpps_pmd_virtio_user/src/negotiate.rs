//! Which features a port asks of a back end, and what it makes of the answer.

use mpps_dev::{DevConfig, RxOffloads, TxOffloads};
use mpps_virtq::Features;

use crate::args::Settings;
use crate::session::Offer;

/// What the front end keeps to itself: the address, the state of the link and the control queue are answered inside the
/// port, and a vhost-user back end never hears of them.
const INSIDE: Features = Features::MAC.union(Features::STATUS);
const CONTROL: Features = Features::CTRL_VQ
    .union(Features::CTRL_RX)
    .union(Features::CTRL_VLAN)
    .union(Features::CTRL_MAC_ADDR);

/// The features that a port of this kind knows, as shown in its private information.
const KNOWN: u64 = 0x8000_005f_10ef_8028;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) features: Features,
    /// Of these, the ones without which the port can't be what it was asked to be.
    pub(crate) required: Features,
    /// Queue pairs.
    pub(crate) pairs: u16,
}

/// What both sides use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Agreement {
    pub(crate) features: Features,
    /// Names of features that were asked for and that the back end lacks, with what that means.
    pub(crate) without: Vec<&'static str>,
}

/// What the back end lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Lack {
    /// A feature.
    #[error("the back end lacks {names}, which {wanted_by} needs")]
    Feature {
        names: String,
        wanted_by: &'static str,
    },
    /// Queues.
    #[error(
        "the back end has {have} queue pairs and the port uses {want}; start it with fewer queues"
    )]
    Pairs { have: u64, want: u16 },
    /// It took the features back.
    #[error("the back end doesn't accept the features {features:#x}, all of which it offered")]
    NotAccepted { features: u64 },
}

/// Features that are nice to have, with what is said where a back end lacks them.
const OPTIONAL: [(Features, &str); 4] = [
    (
        Features::MRG_RXBUF,
        "mrg_rxbuf=1: the back end has no mergeable buffers, they are not used",
    ),
    (
        Features::IN_ORDER,
        "in_order=1: the back end doesn't use buffers in order, any order is taken",
    ),
    (
        Features::CSUM,
        "the back end takes no packets without checksum, checksums are computed here",
    ),
    (
        Features::HOST_TSO4.union(Features::HOST_TSO6),
        "the back end doesn't segment TCP, that is done here",
    ),
];

impl Wish {
    pub(crate) fn of(settings: &Settings, config: &DevConfig) -> Self {
        let pairs = config.rx.len().max(config.tx.len()) as u16;
        let mut features = Features::VERSION_1 | Features::RING_INDIRECT_DESC;
        let mut required = Features::empty();
        features.set(Features::MRG_RXBUF, settings.mergeable);
        features.set(Features::IN_ORDER, settings.in_order);
        if settings.packed {
            required |= Features::RING_PACKED | Features::VERSION_1;
        }
        if pairs > 1 {
            required |= Features::MQ;
        }
        features |= rx_features(config) | tx_features(config);
        Self {
            features: features | required,
            required,
            pairs,
        }
    }

    /// Compares with what a back end offers.
    pub(crate) fn agree(&self, offer: Offer) -> Result<Agreement, Lack> {
        let offered = Features::from_bits_truncate(offer.features);
        let missing = self.required.difference(offered);
        if !missing.is_empty() {
            return Err(Lack::Feature {
                names: names(missing),
                wanted_by: if missing == Features::MQ {
                    "a port with several queues"
                } else {
                    "packed_vq=1"
                },
            });
        }
        if offer.pairs < u64::from(self.pairs) {
            return Err(Lack::Pairs {
                have: offer.pairs,
                want: self.pairs,
            });
        }
        let features = complete(self.features & offered);
        let without = self.features.difference(features);
        let without = OPTIONAL
            .iter()
            .filter(|(feature, _)| without.intersects(*feature))
            .map(|(_, line)| *line)
            .collect();
        Ok(Agreement { features, without })
    }
}

/// Drops features whose prerequisites are missing (virtio 1.3, section 5.1.3.1).
fn complete(mut features: Features) -> Features {
    if !features.contains(Features::CSUM) {
        features -= Features::TO_DEVICE_OFFLOADS;
    }
    if !features.contains(Features::GUEST_CSUM) {
        features -= Features::TO_DRIVER_OFFLOADS;
    }
    features
}

fn rx_features(config: &DevConfig) -> Features {
    let queues = config.rx.iter().map(|queue| queue.offloads);
    let asked = queues.fold(config.rx_offloads, |all, more| all | more);
    let mut features = Features::empty();
    let lro = asked.contains(RxOffloads::TCP_LRO);
    let checksums = RxOffloads::UDP_CKSUM | RxOffloads::TCP_CKSUM;
    features.set(Features::GUEST_CSUM, lro || asked.intersects(checksums));
    features.set(Features::GUEST_TSO4 | Features::GUEST_TSO6, lro);
    features
}

fn tx_features(config: &DevConfig) -> Features {
    let queues = config.tx.iter().map(|queue| queue.offloads);
    let asked = queues.fold(config.tx_offloads, |all, more| all | more);
    let mut features = Features::empty();
    let tso = asked.contains(TxOffloads::TCP_TSO);
    let checksums = TxOffloads::UDP_CKSUM | TxOffloads::TCP_CKSUM;
    features.set(Features::CSUM, tso || asked.intersects(checksums));
    features.set(Features::HOST_TSO4 | Features::HOST_TSO6, tso);
    features
}

/// The features of the device that the port shows, those that it keeps to itself included.
pub(crate) fn shown(agreed: Features, settings: &Settings) -> u64 {
    let control = if settings.control_queue {
        CONTROL
    } else {
        Features::empty()
    };
    (agreed | INSIDE | control).bits()
}

/// The features that the port would take, offloads only where they are asked for.
pub(crate) fn known(config: &DevConfig) -> u64 {
    KNOWN | (rx_features(config) | tx_features(config)).bits()
}

fn names(features: Features) -> String {
    let names = features.iter_names().map(|(name, _)| name);
    names.collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests;
