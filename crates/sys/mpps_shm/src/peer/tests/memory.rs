use super::{MIB, mapped, region};
use crate::peer::{GuestMemory, GuestRegion, MOST_REGIONS, PeerMapping, PeerRange};
use proptest::prelude::*;
use std::sync::OnceLock;

fn refused(regions: Vec<GuestRegion>) -> String {
    let text = GuestMemory::new(regions).unwrap_err().to_string();
    assert!(!text.contains('\n'), "{text}");
    text
}

fn offset(mapping: &PeerMapping, range: PeerRange) -> usize {
    range.as_ptr().addr() - mapping.region().as_ptr().addr().get()
}

#[test]
fn tables_that_make_no_sense_are_refused_by_name() {
    let (mapping, _fd) = mapped(MIB);
    let whole = |guest| region(guest, guest, &mapping);
    assert_eq!(
        refused(vec![whole(0x18_0000), whole(0x10_0000)]),
        "memory regions at guest addresses 0x100000 (length 0x100000) and 0x180000 overlap"
    );
    assert!(refused(vec![whole(0), whole(0)]).contains("overlap"));
    let empty = GuestRegion {
        len: 0,
        ..whole(0x1234)
    };
    assert!(refused(vec![empty]).contains("0x1234 has length 0"));
    let beyond = "beyond the last address";
    assert!(refused(vec![region(u64::MAX - 5, 0, &mapping)]).contains(beyond));
    assert!(refused(vec![region(0, u64::MAX - 5, &mapping)]).contains(beyond));
    let outside = GuestRegion {
        offset: 1,
        ..whole(0)
    };
    assert!(
        refused(vec![outside]).contains("at offset 0x1 of its mapping, which ends at 0x100000")
    );
    let far = GuestRegion {
        offset: usize::MAX,
        ..whole(0)
    };
    assert!(refused(vec![far]).contains("of its mapping"));
    let most = MOST_REGIONS as u64;
    let many = |count: u64| (0..count).map(|n| whole(n * MIB)).collect::<Vec<_>>();
    assert!(GuestMemory::new(many(most)).is_ok());
    assert!(
        refused(many(most + 1)).contains("65 memory regions, the one at guest address 0x4000000")
    );
}

#[test]
fn the_last_region_is_asked_first() {
    let (low, _a) = mapped(MIB);
    let (high, _b) = mapped(MIB);
    let memory = GuestMemory::new(vec![region(8 * MIB, 0, &high), region(MIB, MIB, &low)]).unwrap();
    let mut last = 77;
    let found = memory.resolve(8 * MIB + 5, 10, &mut last).unwrap();
    assert_eq!((offset(&high, found), found.len(), last), (5, 10, 1));
    assert!(memory.resolve(MIB - 1, 1, &mut last).is_none());
    assert!(memory.resolve(2 * MIB - 1, 2, &mut last).is_none());
    assert!(memory.resolve(2 * MIB, 0, &mut last).is_none());
    assert!(memory.resolve(u64::MAX, u32::MAX, &mut last).is_none());
    assert_eq!(last, 1);
    let found = memory.resolve(2 * MIB - 1, 1, &mut last).unwrap();
    assert_eq!((offset(&low, found), last), ((MIB - 1) as usize, 0));
    assert!(memory.resolve(MIB, 0, &mut last).unwrap().is_empty());
    assert_eq!(memory.regions().len(), 2);
}

#[test]
fn ranges_over_a_border_come_in_pieces() {
    let (one, _a) = mapped(MIB);
    let (two, _b) = mapped(MIB);
    let memory = GuestMemory::new(vec![region(0, 0, &one), region(MIB, 0, &two)]).unwrap();
    assert!(memory.resolve(MIB - 3, 8, &mut 0).is_none());
    let pieces: Vec<_> = memory.pieces(MIB - 3, 8).map(Option::unwrap).collect();
    assert_eq!(pieces.len(), 2);
    assert_eq!(
        (offset(&one, pieces[0]), pieces[0].len()),
        ((MIB - 3) as usize, 3)
    );
    assert_eq!((offset(&two, pieces[1]), pieces[1].len()), (0, 5));
    let ended: Vec<_> = memory.pieces(2 * MIB - 1, u64::MAX).collect();
    assert!(matches!(ended[..], [Some(_), None]));
    assert_eq!(memory.pieces(3 * MIB, 1).collect::<Vec<_>>(), [None]);
    assert_eq!(memory.pieces(0, 0).count(), 0);
    let none = GuestMemory::new(Vec::new()).unwrap();
    assert!(none.resolve(0, 0, &mut 0).is_none());
    assert_eq!(none.pieces(0, 1).collect::<Vec<_>>(), [None]);
}

#[test]
fn ring_addresses_are_the_front_ends() {
    let (one, _a) = mapped(MIB);
    let memory = GuestMemory::new(vec![region(0, 1 << 40, &one)]).unwrap();
    let ring = memory.resolve_user((1 << 40) + 64, 4096).unwrap();
    assert_eq!((offset(&one, ring), ring.len()), (64, 4096));
    assert!(memory.resolve_user((1 << 40) + 64, MIB as usize).is_none());
    assert!(memory.resolve_user(64, 1).is_none());
    assert!(memory.resolve_user((1 << 40) - 1, 1).is_none());
    assert!(memory.resolve_user(u64::MAX, usize::MAX).is_none());
    let part = ring.at(4000, 96).unwrap();
    assert_eq!((offset(&one, part), part.len()), (4064, 96));
    assert!(ring.at(4000, 97).is_none());
    assert!(ring.at(usize::MAX, 2).is_none());
    assert!(ring.at(4096, 0).unwrap().is_empty());
}

/// Bytes of the mapping that the regions below are cut from.
const BYTES: u64 = 64;

fn shared() -> &'static PeerMapping {
    static MAPPING: OnceLock<PeerMapping> = OnceLock::new();
    MAPPING.get_or_init(|| mapped(BYTES).0)
}

/// Regions that lie anywhere near each other, or near the last address: (gap before it, length, offset in the mapping).
fn table() -> impl Strategy<Value = (GuestMemory, Vec<(u64, u64, u64)>)> {
    let layout = prop::collection::vec((0..3_u64, 1..8_u64, 0..BYTES - 8), 0..6);
    (layout, any::<bool>()).prop_map(|(layout, at_end)| {
        let total: u64 = layout.iter().map(|(gap, len, _)| gap + len).sum();
        let mut next = if at_end { u64::MAX - total } else { 3 };
        let mut model = Vec::new();
        for (gap, len, offset) in layout {
            model.push((next + gap, len, offset));
            next += gap + len;
        }
        let of = |&(guest, len, offset): &(u64, u64, u64)| GuestRegion {
            guest,
            user: guest ^ 0x8000_0000_0000_0000,
            len,
            mapping: shared().clone(),
            offset: offset as usize,
        };
        // Given in the wrong order.
        let regions = model.iter().rev().map(of).collect();
        (GuestMemory::new(regions).unwrap(), model)
    })
}

/// Byte by byte: the region and the offset in the mapping of a guest address.
fn byte(model: &[(u64, u64, u64)], address: u64) -> Option<(usize, u64)> {
    model
        .iter()
        .enumerate()
        .find(|(_, (guest, len, _))| (*guest..guest + len).contains(&address))
        .map(|(index, (guest, _, offset))| (index, offset + (address - guest)))
}

/// Addresses around both ends of what there is.
fn address() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..70_u64,
        (0..70_u64).prop_map(|back| u64::MAX - back),
        any::<u64>()
    ]
}

proptest! {
    #[test]
    fn resolve_agrees_with_bytes((memory, model) in table(), at in address(), len in 0..12_u32, from in 0..8_usize) {
        let bytes: Vec<_> = (0..u64::from(len.max(1)))
            .map(|n| at.checked_add(n).and_then(|at| byte(&model, at)))
            .collect();
        let one = bytes.iter().all(|b| b.is_some_and(|b| Some(b.0) == bytes[0].map(|b| b.0)));
        let mut last = from;
        let found = memory.resolve(at, len, &mut last);
        prop_assert_eq!(found.is_some(), one);
        if let (Some(found), Some((index, offset_of))) = (found, bytes[0]) {
            prop_assert_eq!(offset(shared(), found) as u64, offset_of);
            prop_assert_eq!(found.len(), len as usize);
            prop_assert_eq!(last, index);
        } else {
            prop_assert_eq!(last, from);
        }
        let user = memory.resolve_user(at ^ 0x8000_0000_0000_0000, len as usize);
        prop_assert_eq!(user, found);
    }

    #[test]
    fn pieces_agree_with_bytes((memory, model) in table(), at in address(), len in 0..24_u64) {
        let mut wanted: Vec<Option<u64>> = Vec::new();
        for n in 0..len {
            let found = at.checked_add(n).and_then(|at| byte(&model, at));
            wanted.push(found.map(|found| found.1));
            if found.is_none() {
                break;
            }
        }
        let mut got = Vec::new();
        for piece in memory.pieces(at, len) {
            match piece {
                Some(piece) => {
                    prop_assert!(!piece.is_empty());
                    let start = offset(shared(), piece) as u64;
                    got.extend((0..piece.len() as u64).map(|n| Some(start + n)));
                }
                None => got.push(None),
            }
        }
        prop_assert_eq!(got, wanted);
    }
}
