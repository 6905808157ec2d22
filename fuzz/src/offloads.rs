//! Headers of virtio-net before packets, and what they make a transmit port do.

mod whole;

use mpps_mbuf::{Caches, Mbuf, OffloadFlags, Pool, TxOffload};
use mpps_soft::finish_but;
use mpps_virtq::net_header::{NetHeader, NetOffloads, Verdict};

use crate::input::Input;
use crate::rings::pools;

/// Mbufs of the pool: enough for the pieces of one packet, not for all of every one.
const MBUFS: u32 = 256;

/// The most that a segment holds here.
const ROOM: u16 = 512;

/// Any header before any packet: what is taken says only what is true of the packet, survives being written into a header
/// for the next peer, and is settled in software without a trace.
pub fn net_header(data: &[u8]) {
    thread_local! {
        static POOL: Pool = pools::pool("offloads", MBUFS, ROOM);
    }
    POOL.with(|pool| {
        let mut caches = Caches::new(std::slice::from_ref(pool));
        with_pool(&mut Input::new(data), pool, &mut caches);
        drop(caches);
        assert_eq!(pool.free_count(), MBUFS as usize, "mbufs were lost");
    });
}

fn with_pool(input: &mut Input<'_>, pool: &Pool, caches: &mut Caches) {
    let choice = input.u8();
    if choice & 0x80 != 0 {
        return whole::frame(input, pool, caches);
    }
    let offloads = NetOffloads::from_bits_truncate(choice);
    let passed_on = OffloadFlags::DEBT & OffloadFlags::from_bits_truncate(input.u64());
    let requests = input.once_in(4).then(|| (input.u64(), lengths(input)));
    let fitting = choice & 0x40 != 0;
    let mut header = input.array::<12>();
    let segment = 1 + usize::from(input.u16() % ROOM);
    let repeat = usize::from(input.u8() % 32);
    let bytes = input.rest();
    let Some(mut packet) = packet(bytes, repeat, segment, pool, caches) else {
        return;
    };
    if fitting {
        fit(&mut header, packet.pkt_len());
    }
    let verdict = NetHeader::apply(header, &mut packet, offloads);
    judge(&packet, header, verdict, offloads);
    if verdict == Verdict::BadHeader {
        return caches.free_one(packet);
    }
    let again = NetHeader::compose(&packet, offloads);
    let mut twin = caches.alloc_one(pool.id()).expect("one is left");
    twin.append(bytes.get(..64).unwrap_or(bytes));
    if twin.pkt_len() == packet.pkt_len() {
        assert_eq!(
            NetHeader::apply(again, &mut twin, offloads),
            Verdict::Accept,
            "{again:?}"
        );
        assert_eq!(twin.partial_checksum(), packet.partial_checksum());
        assert_eq!(twin.gso(), packet.gso());
    }
    caches.free_one(twin);
    if let Some((flags, lengths)) = requests {
        packet.set_offload(
            OffloadFlags::from_bits_truncate(flags) & OffloadFlags::TX_REQUESTS,
            lengths,
        );
    }
    finish(packet, passed_on, pool, caches);
}

/// Makes a header one that says something, of places about the end of the packet: bytes at random seldom do.
fn fit(header: &mut [u8; 12], len: u32) {
    let [flags, kind, _, hdr_len, _, gso_size, start, _, offset, ..] = *header;
    let near = |at: u8| (len as u16).wrapping_add(4).wrapping_sub(u16::from(at));
    *header = NetHeader {
        flags: flags | 1,
        gso_type: [0, 1, 4, 5, 0x81, 0x84, 3, 2][usize::from(kind & 7)],
        hdr_len: near(hdr_len),
        gso_size: u16::from(gso_size),
        csum_start: near(start),
        csum_offset: u16::from(offset & 0x1f),
        num_buffers: 0,
    }
    .to_bytes();
}

fn lengths(input: &mut Input<'_>) -> TxOffload {
    let (l2, l3, l4) = (input.below(24), input.u16(), input.u16());
    TxOffload::new(l2, l3, l4)
        .with_tso(input.u16())
        .with_outer(input.below(24), input.u16())
}

/// A packet of `bytes`, with its last ones repeated to make it long, in segments of this length; none without bytes or mbufs.
fn packet(
    bytes: &[u8],
    repeat: usize,
    segment: usize,
    pool: &Pool,
    caches: &mut Caches,
) -> Option<Mbuf> {
    let mut whole = bytes.to_vec();
    let tail = bytes.get(bytes.len() / 2..).unwrap_or_default();
    (0..repeat).for_each(|_| whole.extend(tail));
    whole.truncate(65_536);
    let mut head: Option<Mbuf> = None;
    for part in whole.chunks(segment.max(whole.len() / 200 + 1).min(usize::from(ROOM))) {
        let Some(mut mbuf) = caches.alloc_one(pool.id()) else {
            head.into_iter().for_each(|packet| caches.free_one(packet));
            return None;
        };
        assert!(mbuf.append(part), "a part of {} bytes", part.len());
        match &mut head {
            None => head = Some(mbuf),
            Some(head) => head.chain(mbuf).expect("few segments"),
        }
    }
    head
}

fn judge(packet: &Mbuf, header: [u8; 12], verdict: Verdict, offloads: NetOffloads) {
    let says = offloads.says_something();
    let checksum = packet.partial_checksum();
    if verdict == Verdict::BadHeader {
        assert!(says && checksum.is_none() && packet.gso().is_none());
        return;
    }
    let fits = checksum.is_none_or(|checksum| says && checksum.fits(packet.pkt_len()));
    assert!(fits, "{checksum:?} of {} by {header:?}", packet.pkt_len());
    if let Some(gso) = packet.gso() {
        assert!(checksum.is_some() && gso.size > 0, "{gso:?}");
        assert!(u32::from(gso.header_len) <= packet.pkt_len(), "{gso:?}");
    }
    // A partial checksum that was announced is never forgotten on the way.
    assert_eq!(says && header[0] & 1 != 0, checksum.is_some(), "{header:?}");
}

fn finish(packet: Mbuf, passed_on: OffloadFlags, pool: &Pool, caches: &mut Caches) {
    let mut out = Vec::new();
    let len = packet.pkt_len();
    let put = &mut |packet| out.push(packet);
    let result = finish_but(packet, caches, pool.id(), passed_on, put);
    if let Ok(count) = result {
        assert_eq!(count, out.len());
    }
    for packet in out.drain(..) {
        let left = packet.flags() & OffloadFlags::UNFINISHED;
        assert!(passed_on.contains(left), "{left:?} is left");
        assert!(
            packet.pkt_len() <= len + 8,
            "a piece of {} of {len}",
            packet.pkt_len()
        );
        caches.free_one(packet);
    }
}
