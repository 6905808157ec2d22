//! Frames as they come from a wire or a capture.

use mpps_wire::{Layers, TunnelPorts, parse};

/// Any bytes as a frame, with and without tunnels: every header that is reported lies inside the bytes, and what a
/// checksum would cover too.
pub fn wire_parse(data: &[u8]) {
    judge(data, &parse(data, None));
    let layers = parse(data, Some(&TunnelPorts::REGISTERED));
    judge(data, &layers);
    if let Some(outer) = layers.outer() {
        judge(data, &outer);
        assert!(
            outer.payload_offset() <= layers.l3_offset(),
            "the inner packet begins inside the outer headers: {layers:?}"
        );
    }
}

fn judge(data: &[u8], layers: &Layers) {
    assert!(
        layers.payload_offset() <= data.len(),
        "headers longer than the frame: {layers:?}"
    );
    if let Some(total) = layers.l4_total(data, data.len()) {
        assert!(
            layers.l4_offset() + total <= data.len(),
            "{total} bytes of L4 don't fit: {layers:?}"
        );
        assert!(
            total >= usize::from(layers.l4_len),
            "{total} bytes are shorter than the L4 header: {layers:?}"
        );
        layers.pseudo(data, total);
    }
    // A packet of several segments: the rest lies elsewhere, so its length can't be trusted to the first one's.
    if let Some(total) = layers.l4_total(data, usize::MAX / 2) {
        layers.pseudo(data, total);
    }
}
