//! Which pools' buffers a back end has mapped.

use std::sync::Arc;

use mpps_mbuf::{Pool, PoolId, Tag};

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
