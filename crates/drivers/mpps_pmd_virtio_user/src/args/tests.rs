//! Values, ranges and defaults of the arguments, and what is said of wrong ones.

use super::Settings;

fn parse(text: &str) -> Result<Settings, String> {
    let args = format!("net_virtio_user0,{text}").parse().unwrap();
    Settings::parse(&args).map_err(|error| error.to_string())
}

#[test]
fn defaults_are_those_of_dpdk() {
    let settings = parse("path=/tmp/there-is-no-such-socket").unwrap();
    assert_eq!((settings.pairs, settings.queue_size), (1, 256));
    assert!(!settings.server && !settings.packed && !settings.vector && !settings.control_queue);
    assert!(settings.mergeable && settings.in_order);
    assert_eq!((settings.mac, settings.speed), (None, u32::MAX));
}

#[test]
fn values_are_taken() {
    let all = "path=./vhost-net,mac=00:01:02:03:04:05,queues=8,queue_size=255,server=1,mrg_rxbuf=0,in_order=0,packed_vq=1,vectorized=1,speed=25000";
    let settings = parse(all).unwrap();
    assert_eq!(
        settings.mac.unwrap().to_string().to_lowercase(),
        "00:01:02:03:04:05"
    );
    assert_eq!((settings.pairs, settings.queue_size), (8, 255));
    assert!(settings.server && settings.packed && settings.vector);
    assert!(!settings.mergeable && !settings.in_order);
    assert!(settings.control_queue, "more than one pair needs it");
    assert_eq!(settings.speed, 25_000);
    assert!(parse("path=p,cq=1").unwrap().control_queue);
    assert!(parse("path=p,cq=0,queues=2").unwrap().control_queue);
}

#[test]
fn w19_a_key_alone_is_a_flag_or_an_error() {
    assert!(parse("path=p,vectorized").unwrap().vector);
    assert!(parse("path=p,server").unwrap().server);
    for key in ["queues", "queue_size", "speed", "mac", "path", "iface"] {
        let line = parse(&format!("path=p,{key}")).unwrap_err();
        assert!(line.contains(key), "{line}");
    }
}

#[test]
fn w20_wrong_values_are_named_with_their_key() {
    for (given, in_line) in [
        (
            "queues=abc",
            "queues=abc is not valid, queues must be a number from 1 to 128",
        ),
        ("queues=0", "queues=0"),
        ("queues=129", "queues=129"),
        (
            "queue_size=255",
            "queue_size=255 is not valid, queue_size must be a power of two for split rings",
        ),
        ("queue_size=65536", "queue_size=65536"),
        ("queue_size=16", "a number from 32 to 32768"),
        ("packed_vq=2", "packed_vq must be 0 or 1"),
        ("mac=1:2:3", "mac=1:2:3 is not valid"),
        ("mac=01:00:00:00:00:01", "unicast"),
        ("speed=fast", "speed=fast"),
        ("iface=tap0", "vhost-kernel"),
        ("colour=red", "unknown argument \"colour\""),
    ] {
        let line = parse(&format!("path=p,{given}")).unwrap_err();
        assert!(line.contains(in_line) && !line.contains('\n'), "{line}");
    }
    assert!(parse("queues=1").unwrap_err().contains("path is missing"));
}

#[test]
fn only_sockets_are_back_ends() {
    for (path, word) in [
        ("/dev/vhost-net", "vhost-kernel"),
        ("/dev/vhost-vdpa-0", "vhost-vdpa"),
        ("/dev/null", "character device"),
        ("/", "something else"),
    ] {
        let line = parse(&format!("path={path}")).unwrap_err();
        assert!(line.contains(word) && line.contains(path), "{line}");
    }
}
