//! Flow texts.

use super::*;

#[test]
fn rows() {
    let row = FlowRow {
        id: 0,
        group: 0,
        priority: 1,
        ingress: true,
        egress: false,
        transfer: false,
        items: &["ETH", "IPV4"],
        actions: &["QUEUE", "COUNT"],
    };
    assert_eq!(FlowRow::HEADER, "ID\tGroup\tPrio\tAttr\tRule");
    assert_eq!(row.to_string(), "0\t0\t1\ti--\tETH IPV4 => QUEUE COUNT\n");
    let row = FlowRow {
        id: 7,
        ingress: false,
        egress: true,
        transfer: true,
        items: &[],
        ..row
    };
    assert_eq!(row.to_string(), "7\t0\t1\t-et\t=> QUEUE COUNT\n");
}

#[test]
fn count() {
    let count = FlowCount {
        hits: Some(5),
        bytes: None,
    };
    assert_eq!(
        count.to_string(),
        "COUNT:\n hits_set: 1\n bytes_set: 0\n hits: 5\n bytes: 0\n"
    );
}

#[test]
fn complaint() {
    let reason = "Function not implemented";
    let complaint = FlowComplaint {
        fault: FlowFault::Unspecified,
        message: reason.to_owned(),
        reason,
    };
    let want = "port_flow_complain(): Caught PMD error type 1 (cause unspecified): Function not implemented: \
                Function not implemented";
    assert_eq!(complaint.to_string(), want);
    let complaint = FlowComplaint {
        fault: FlowFault::Action,
        message: "no queue 9".to_owned(),
        reason: "Invalid argument",
    };
    assert!(
        complaint
            .to_string()
            .contains("type 16 (specific action): no queue 9: Invalid argument")
    );
}
