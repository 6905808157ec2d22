//! Which pools' buffers a back end has mapped.

use std::sync::Arc;

use mpps_mbuf::{Pool, PoolId, Tag};

use crate::RingFault;

/// Pools whose packets may be posted as they are. Holds the pools, so that their memory stays as long as a ring may use it.
#[derive(Clone, Default)]
pub struct Lent(Arc<[Pool]>);

impl Lent {
    /// Of these pools.
    pub fn new(pools: Vec<Pool>) -> Self {
        Self(pools.into())
    }

    /// Whether this pool is among them.
    pub fn contains(&self, pool: PoolId) -> bool {
        self.0.iter().any(|lent| lent.id() == pool)
    }

    /// That this pool is among them, as one whose mbufs are posted must be.
    pub(crate) fn needs(&self, pool: PoolId) -> Result<(), RingFault> {
        let fault = RingFault::Unmapped {
            what: "mbuf pool",
            address: 0,
            len: 0,
        };
        self.contains(pool).then_some(()).ok_or(fault)
    }

    /// Whether a packet with this tag may be posted as it is.
    pub(crate) fn takes(&self, tag: Tag) -> bool {
        tag.is_plain() && self.contains(tag.pool())
    }

    /// The pools.
    pub fn pools(&self) -> &[Pool] {
        &self.0
    }
}

impl std::fmt::Debug for Lent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|pool| pool.config().name.as_str()))
            .finish()
    }
}
