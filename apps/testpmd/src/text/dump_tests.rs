//! Checked against the recorded session of 22.11, less what 26.11 prints otherwise.

use super::*;

#[test]
fn mempool() {
    let dump = MempoolDump {
        name: "mb_pool_0",
        address: 0x11_80af_dc00,
        flags: 0x10,
        socket: 0,
        store: 0x11_80ad_d940,
        iova: 0x1_918f_dc00,
        chunks: 10,
        size: [8192, 8192],
        object: [64, 2304, 0],
        private: 64,
        ops: (3, "ring_mp_mc"),
        bytes: 19_414_272,
        cache_size: 250,
        caches: &[(0, 12), (1, 0)],
        cached: 12,
        common: 8180,
    };
    let want = "mempool <mb_pool_0>@0x1180afdc00
  flags=10
  socket_id=0
  pool=0x1180add940
  iova=0x1918fdc00
  nb_mem_chunks=10
  size=8192
  populated_size=8192
  header_size=64
  elt_size=2304
  trailer_size=0
  total_obj_size=2368
  private_data_size=64
  ops_index=3
  ops_name: <ring_mp_mc>
  avg bytes/object=2369.906250
  internal cache infos (hide zero value items):
    cache_size=250
    cache_count[0]=12
    total_cache_count=12
  common_pool_count=8180
  no statistics available
";
    assert_eq!(dump.to_string(), want);
    let dump = MempoolDump {
        cache_size: 0,
        ..dump
    }
    .to_string();
    assert!(
        dump.contains("    cache_size=0\n  common_pool_count"),
        "{dump}"
    );
}

#[test]
fn ring() {
    let consumer = RingEnd {
        sync: SyncType::Multi,
        head: 5,
        tail: 5,
    };
    let producer = RingEnd {
        sync: SyncType::Single,
        head: 8185,
        tail: 8185,
    };
    let (name, address) = ("MP_mb_pool_0", 0x1000);
    let dump = RingDump {
        name,
        address,
        flags: 0,
        size: [16384, 16383],
        used: 8180,
        consumer,
        producer,
    };
    let want = "ring <MP_mb_pool_0>@0x1000
  flags=0
  size=16384
  capacity=16383
  used=8180
  avail=8203
  cons.sync_type=MT
  cons.head=5
  cons.tail=5
  prod.sync_type=ST
  prod.head=8185
  prod.tail=8185
";
    assert_eq!(dump.to_string(), want);
}

#[test]
fn memory() {
    let row = PhysmemRow {
        segment: [2, 0],
        iova: 0x1_9800_0000,
        length: 2_097_152,
        address: 0x11_8020_0000,
        socket: 0,
        page: 2_097_152,
        channels: [0, 0],
        fd: 12,
    };
    let want = "Segment 2-0: IOVA:0x198000000, len:2097152, virt:0x1180200000, socket_id:0, hugepage_sz:2097152, \
                nchannel:0, nrank:0 fd:12\n";
    assert_eq!(row.to_string(), want);
    let pieces = [(0x1000, 0x2000, 0x80, 0x20_0000)];
    let zone = MemzoneRow {
        index: 0,
        name: "rte_eth_dev_data",
        length: 0x80,
        address: 0x1000,
        socket: 0,
        flags: 0,
        pieces: &pieces,
    };
    let want = "Zone 0: name:<rte_eth_dev_data>, len:0x80, virt:0x1000, socket_id:0, flags:0\n\
                physical segments used:\n  addr: 0x1000 iova: 0x2000 len: 0x80 pagesz: 0x200000\n";
    assert_eq!(zone.to_string(), want);
}

#[test]
fn devices_and_cores() {
    let want = "User device list:\n  [vdev]: net_null0 \n  [vdev]: net_vhost0 iface=/tmp/s\n";
    let list = [
        ("vdev", "net_null0", ""),
        ("vdev", "net_vhost0", "iface=/tmp/s"),
    ];
    assert_eq!(DevargsDump(&list).to_string(), want);
    let row = LcoreRow {
        id: 1,
        socket: 0,
        role: "RTE",
        cpuset: "1",
        cycles: None,
    };
    assert_eq!(row.to_string(), "lcore 1, socket 0, role RTE, cpuset 1\n");
    let row = LcoreRow {
        cycles: Some([6_363_493_388, 6_852_187_342]),
        ..row
    };
    assert!(
        row.to_string()
            .ends_with("cpuset 1, busy cycles 6363493388/6852187342 (ratio 92.87%)\n")
    );
}
