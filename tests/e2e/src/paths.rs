//! The ten ways through a virtqueue pair that users test one by one: split or packed, mergeable or not, in order or not,
//! vectorised or not. Named as the functional suites of the field name them.

/// One of them, chosen by arguments of virtio-user.
#[derive(Debug)]
pub struct Path {
    /// What a failure names.
    pub name: &'static str,
    /// Device arguments.
    pub devargs: &'static str,
    /// EAL options of the front end.
    pub eal: &'static [&'static str],
    /// Application options of the front end.
    pub front: &'static [&'static str],
    /// Whether a packet may take several receive buffers.
    pub mergeable: bool,
}

const fn path(name: &'static str, devargs: &'static str, mergeable: bool) -> Path {
    Path {
        name,
        devargs,
        eal: &[],
        front: &[],
        mergeable,
    }
}

/// All ten.
pub const PATHS: [Path; 10] = [
    path(
        "packed-mergeable",
        "packed_vq=1,mrg_rxbuf=1,in_order=0",
        true,
    ),
    path(
        "packed-non-mergeable",
        "packed_vq=1,mrg_rxbuf=0,in_order=0",
        false,
    ),
    path(
        "packed-in-order-mergeable",
        "packed_vq=1,mrg_rxbuf=1,in_order=1",
        true,
    ),
    path(
        "packed-in-order-non-mergeable",
        "packed_vq=1,mrg_rxbuf=0,in_order=1",
        false,
    ),
    path(
        "split-in-order-mergeable",
        "packed_vq=0,mrg_rxbuf=1,in_order=1",
        true,
    ),
    path(
        "split-in-order-non-mergeable",
        "packed_vq=0,mrg_rxbuf=0,in_order=1",
        false,
    ),
    path(
        "split-mergeable",
        "packed_vq=0,mrg_rxbuf=1,in_order=0",
        true,
    ),
    Path {
        // An offload keeps it from the vector path.
        front: &["--enable-hw-vlan-strip"],
        ..path(
            "split-non-mergeable",
            "packed_vq=0,mrg_rxbuf=0,in_order=0",
            false,
        )
    },
    path(
        "split-vector-rx",
        "packed_vq=0,mrg_rxbuf=0,in_order=0,vectorized=1",
        false,
    ),
    Path {
        eal: &["--force-max-simd-bitwidth=512"],
        ..path(
            "packed-vectorized",
            "packed_vq=1,mrg_rxbuf=0,in_order=1,vectorized=1",
            false,
        )
    },
];
