//! Speeds and link lines.

use super::*;

#[test]
fn speeds() {
    let text = |mbps| SpeedText(mbps).to_string();
    assert_eq!(
        [text(0), text(10), text(2_500), text(10_000)],
        ["None", "10 Mbps", "2.5 Gbps", "10 Gbps"]
    );
    assert_eq!([text(56_000), text(800_000)], ["56 Gbps", "800 Gbps"]);
    assert_eq!(
        [text(u32::MAX), text(1), text(30_000)],
        ["Unknown", "Invalid", "Invalid"]
    );
}

#[test]
fn lines() {
    let link = Link {
        up: true,
        speed_mbps: 10_000,
        full_duplex: true,
        autoneg: false,
    };
    assert_eq!(
        LinkLine { port: 0, link }.to_string(),
        "Port 0 Link up at 10 Gbps FDX Fixed None"
    );
    let link = Link {
        full_duplex: false,
        autoneg: true,
        ..link
    };
    assert_eq!(
        LinkLine { port: 1, link }.to_string(),
        "Port 1 Link up at 10 Gbps HDX Autoneg None"
    );
    assert_eq!(
        LinkLine {
            port: 2,
            link: Link::default()
        }
        .to_string(),
        "Port 2 Link down"
    );
}
