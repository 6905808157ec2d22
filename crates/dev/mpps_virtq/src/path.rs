//! Names of the variants of a burst, as shown by `show port info` and printed when a queue is enabled.

use mpps_kernels::CopyKind;

use crate::Features;
use crate::vector::Choice;

/// What a ring's bursts are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathName {
    /// Packed ring, else split.
    pub packed: bool,
    /// Buffers may be merged.
    pub mergeable: bool,
    /// Buffers are used in order.
    pub in_order: bool,
    /// The virtio-net header can say something.
    pub offloads: bool,
    /// How packet bytes are copied; none where they aren't.
    pub copy: Option<CopyKind>,
    /// Descriptors are handled several at a time by vector instructions.
    pub vector: Option<&'static str>,
    /// Why they aren't, where that was asked for.
    pub lacks: Option<&'static str>,
}

impl PathName {
    pub(crate) fn of(features: Features, offloads: Features, copy: Option<CopyKind>) -> Self {
        Self {
            packed: features.contains(Features::RING_PACKED),
            mergeable: features.contains(Features::MRG_RXBUF),
            in_order: features.contains(Features::IN_ORDER),
            offloads: features.intersects(offloads),
            copy,
            vector: None,
            lacks: None,
        }
    }
}

impl PathName {
    pub(crate) fn with(self, choice: Choice) -> Self {
        Self {
            vector: choice.name(),
            lacks: choice.lacks,
            ..self
        }
    }
}

impl std::fmt::Display for PathName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.packed { "packed" } else { "split" })?;
        f.write_str(if self.in_order { " in-order" } else { "" })?;
        f.write_str(if self.mergeable {
            " mergeable"
        } else {
            " non-mergeable"
        })?;
        f.write_str(if self.offloads { " offloads" } else { "" })?;
        if let Some(vector) = self.vector {
            write!(f, " vector({vector})")?;
        }
        if let Some(kind) = self.copy {
            let name = CopyKind::NAMES.iter().find(|(_, have)| *have == kind);
            write!(f, " copy({})", name.map_or("auto", |(name, _)| name))?;
        }
        Ok(())
    }
}
