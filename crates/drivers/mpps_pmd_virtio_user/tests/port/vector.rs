//! `vectorized=1`: which path is taken is chosen and told at every enable.

use mpps_cpu::Isa;
use mpps_dev::{DevConfig, RxOffloads};
use mpps_virtq::Features;

use crate::back_end::Manner;
use crate::rig::Rig;

/// What stands at the end of a path that has what it needs; nothing on a CPU without AVX2.
fn suffix() -> String {
    match Isa::best() {
        Isa::Scalar => String::new(),
        isa => format!(" vector({isa})"),
    }
}

fn manner() -> Manner {
    let manner = Manner::default();
    Manner {
        features: manner.features | Features::RING_PACKED,
        ..manner
    }
}

#[test]
fn both_rings_have_vector_paths_in_order_or_not() {
    for (args, path) in [
        ("", "split in-order mergeable"),
        (",in_order=0,mrg_rxbuf=0", "split non-mergeable"),
        (",packed_vq=1,queue_size=255", "packed in-order mergeable"),
        (
            ",packed_vq=1,in_order=0,mrg_rxbuf=0",
            "packed non-mergeable",
        ),
    ] {
        let mut rig = Rig::started(&format!(",server=1,vectorized=1{args}"), 1);
        let peer = rig.meet(manner());
        rig.wait_link(true);
        let path = format!("{path}{}", suffix());
        assert_eq!(rig.dev.paths(), (Some(path.clone()), Some(path.clone())));
        let line = format!("Rx path: {path}; Tx path: {path}");
        assert_eq!(rig.heard.times(&line), 1, "{line}");
        let lacking = 2 * usize::from(suffix().is_empty());
        assert_eq!(rig.heard.times("takes the scalar path"), lacking);
        rig.echo(0, 1003);
        drop(peer);
        rig.finish();
    }
}

#[test]
fn what_a_vector_path_lacks_is_said_at_every_enable() {
    let mut rig = Rig::new(",server=1,vectorized=1", 1);
    let plain = DevConfig::plain(&rig.pool, 1);
    let checked = DevConfig {
        rx_offloads: RxOffloads::TCP_CKSUM,
        ..DevConfig::plain(&rig.pool, 1)
    };
    // Without a CPU that has vectors both directions lack something, and it's the CPU in each.
    let why = match Isa::best() {
        Isa::Scalar => "Rx takes the scalar path: it needs AVX2",
        _ => "Rx takes the scalar path: checksum offload was negotiated",
    };
    for round in 1..=3 {
        rig.dev.configure(&checked).unwrap();
        rig.start();
        let peer = rig.meet(manner());
        rig.wait_link(true);
        let (rx, tx) = rig.dev.paths();
        assert_eq!(rx.as_deref(), Some("split in-order mergeable offloads"));
        assert_eq!(tx, Some(format!("split in-order mergeable{}", suffix())));
        assert!(rig.heard.times(why) >= round, "{round}");
        rig.echo(0, 200);
        rig.stop();
        drop(peer);
        rig.wait_link(false);

        rig.dev.configure(&plain).unwrap();
        rig.start();
        let peer = rig.meet(manner());
        rig.wait_link(true);
        let path = Some(format!("split in-order mergeable{}", suffix()));
        assert_eq!(rig.dev.paths().0, path);
        rig.echo(0, 200);
        rig.stop();
        drop(peer);
        rig.wait_link(false);
    }
    rig.finish();
}
