//! Rings by name: made by one device, attached to by others of the process.
//!
//! A name lives as long as a device that uses its ring; packets left in the ring are freed with the last one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use mpps_dev::{DevArgs, ProbeError};
use mpps_mbuf::Mbuf;
use mpps_ring::MpmcRing;

use crate::ENTRIES;

static NAMES: Mutex<Option<HashMap<String, Weak<MpmcRing<Mbuf>>>>> = Mutex::new(None);

/// Makes or finds the ring of one `NAME:NODE:ACTION`.
pub(crate) fn open(args: &DevArgs, action: &str) -> Result<Arc<MpmcRing<Mbuf>>, ProbeError> {
    let refuse = |allowed: &str| args.refuse("nodeaction", action, allowed);
    let mut parts = action.split(':');
    let (Some(name), Some(node), Some(verb), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(refuse("NAME:NODE:CREATE or NAME:NODE:ATTACH").into());
    };
    if name.is_empty() || node.parse::<u16>().is_err() {
        return Err(refuse("NAME:NODE:ACTION with a name and a NUMA node's number").into());
    }
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    // Names whose last device has ended are free again.
    names.retain(|_, ring| ring.strong_count() > 0);
    let known = names.get(name).and_then(Weak::upgrade);
    match (verb, known) {
        ("CREATE", None) => {
            let ring = Arc::new(MpmcRing::new(ENTRIES));
            names.insert(name.to_owned(), Arc::downgrade(&ring));
            Ok(ring)
        }
        ("CREATE", Some(_)) => Err(args
            .conflict(format!("a ring named {name:?} exists already; use ATTACH"))
            .into()),
        ("ATTACH", Some(ring)) => Ok(ring),
        ("ATTACH", None) => Err(args
            .conflict(format!(
                "there is no ring named {name:?}; a device before this one must CREATE it"
            ))
            .into()),
        _ => Err(refuse("NAME:NODE:CREATE or NAME:NODE:ATTACH").into()),
    }
}
