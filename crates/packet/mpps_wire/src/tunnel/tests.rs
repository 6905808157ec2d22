use super::*;
use crate::frames;
use proptest::prelude::*;

const IPV4: Inner = Inner::Network(ethertype::IPV4);

#[test]
fn gre() {
    assert_eq!(Gre::walk(frames::GRE, 34), Some((12, IPV4)));
    assert_eq!(Gre::walk(frames::NVGRE, 34), Some((8, Inner::Ethernet)));
    assert_eq!(Gre::walk(&[0x80, 0, 8, 0, 1, 2, 3, 4], 0), Some((8, IPV4)));
    assert_eq!(Gre::walk(&[0x80, 0, 8, 0, 1, 2, 3], 0), None, "cut off");
    assert_eq!(
        Gre::walk(&[0, 1, 0x88, 0x0B, 0, 0, 0, 0], 0),
        None,
        "version 1"
    );
    assert_eq!(
        Gre::walk(&[0x40, 0, 8, 0, 0, 0, 0, 0], 0),
        None,
        "source routes"
    );
}

#[test]
fn vxlan() {
    assert_eq!(Vxlan::walk(frames::VXLAN, 42), Some((8, Inner::Ethernet)));
    let vxlan = Vxlan::at(frames::VXLAN, 42).unwrap();
    assert_eq!((vxlan.flags, vxlan.vni()), (8, 42));
    assert_eq!(Vxlan::walk(&frames::VXLAN[..49], 42), None);
}

#[test]
fn vxlan_gpe() {
    assert_eq!(VxlanGpe::walk(frames::VXLAN_GPE, 42), Some((8, IPV4)));
    assert_eq!(VxlanGpe::at(frames::VXLAN_GPE, 42).unwrap().vni(), 42);
    assert_eq!(
        VxlanGpe::walk(&[12, 0, 0, 2, 0, 0, 0, 0], 0),
        Some((8, Inner::Network(ethertype::IPV6)))
    );
    assert_eq!(
        VxlanGpe::walk(&[12, 0, 0, 3, 0, 0, 0, 0], 0),
        Some((8, Inner::Ethernet))
    );
    assert_eq!(VxlanGpe::walk(&[12, 0, 0, 4, 0, 0, 0, 0], 0), None, "NSH");
}

#[test]
fn geneve() {
    assert_eq!(
        Geneve::walk(frames::GENEVE, 62),
        Some((16, Inner::Ethernet))
    );
    assert_eq!(Geneve::at(frames::GENEVE, 62).unwrap().vni(), 42);
    assert_eq!(
        Geneve::walk(&frames::GENEVE[..77], 62),
        None,
        "options are cut off"
    );
    assert_eq!(
        Geneve::walk(&[0x40, 0, 8, 0, 0, 0, 0, 0], 0),
        None,
        "version 1"
    );
    assert_eq!(Geneve::walk(&[0, 0, 8, 0, 0, 0, 0, 0], 0), Some((8, IPV4)));
}

#[test]
fn gtp() {
    assert_eq!(Gtp::walk(frames::GTP_U, 42), Some((12, IPV4)));
    assert_eq!(Gtp::at(frames::GTP_U, 42).unwrap().teid.get(), 7);
    let plain = [0x30, 255, 0, 1, 0, 0, 0, 7, 0x60];
    assert_eq!(
        Gtp::walk(&plain, 0),
        Some((8, Inner::Network(ethertype::IPV6)))
    );
    assert_eq!(Gtp::walk(&plain[..8], 0), None, "nothing inside");
    let extended = [
        0x34, 255, 0, 13, 0, 0, 0, 7, 0, 0, 0, 0x85, 1, 0x10, 9, 0, 0x45,
    ];
    assert_eq!(Gtp::walk(&extended, 0), Some((16, IPV4)));
    let mut endless = extended;
    endless[12] = 0;
    assert_eq!(Gtp::walk(&endless, 0), None, "an extension of length 0");
    let mut echo = plain;
    echo[1] = 1;
    assert_eq!(Gtp::walk(&echo, 0), None, "an echo request");
    let mut version_2 = plain;
    version_2[0] = 0x48;
    assert_eq!(Gtp::walk(&version_2, 0), None);
}

#[test]
fn mpls() {
    assert_eq!(walk_mpls(frames::MPLS, 14), Some((8, IPV4)));
    let (top, bottom) = (
        MplsLabel::at(frames::MPLS, 14).unwrap(),
        MplsLabel::at(frames::MPLS, 18).unwrap(),
    );
    assert_eq!((top.label(), top.ttl(), top.is_bottom()), (18, 64, false));
    assert_eq!((bottom.label(), bottom.is_bottom()), (16, true));
    assert_eq!(walk_mpls(&frames::MPLS[..20], 14), None);
    assert_eq!(walk_mpls(&[0; 64], 0), None, "no bottom");
}

proptest! {
    #[test]
    fn walks_stay_within_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0usize..310) {
        for walk in [Gre::walk, Vxlan::walk, VxlanGpe::walk, Geneve::walk, Gtp::walk, walk_mpls] {
            if let Some((len, _)) = walk(&bytes, at) {
                prop_assert!(at + len <= bytes.len());
            }
        }
    }
}
