//! Who hears what.

use std::sync::Mutex;

use super::*;

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

struct Ear(Arc<Heard>);

impl Listener for Ear {
    fn event(&self, port: PortId, event: PortEvent) {
        self.0.0.lock().unwrap().push(format!("{port} {event:?}"));
    }

    fn note(&self, port: PortId, line: &str) {
        self.0.0.lock().unwrap().push(format!("{port} {line}"));
    }
}

#[test]
fn a_listener_hears_events_and_lines_in_order() {
    let heard = Arc::new(Heard::default());
    let events = Events::heard_by(Ear(heard.clone()));
    let port = PortId::new(3).unwrap();
    events.tell(port, PortEvent::QueueState);
    events.note(port, format_args!("peer {}", 1));
    events.clone().tell(port, PortEvent::LinkState);
    assert_eq!(
        *heard.0.lock().unwrap(),
        ["3 QueueState", "3 peer 1", "3 LinkState"]
    );
}

#[test]
fn a_function_hears_events_alone() {
    let heard = Arc::new(Heard::default());
    let ear = heard.clone();
    let events = Events::to(move |port, event| {
        ear.0.lock().unwrap().push(format!("{port} {event:?}"));
    });
    let port = PortId::new(0).unwrap();
    events.note(port, "unheard");
    events.tell(port, PortEvent::LinkState);
    assert_eq!(*heard.0.lock().unwrap(), ["0 LinkState"]);
}

#[test]
fn nobody_needs_to_listen() {
    let events = Events::default();
    events.tell(PortId::new(0).unwrap(), PortEvent::LinkState);
    events.note(PortId::new(0).unwrap(), "unheard");
    assert_eq!(format!("{events:?}"), "Events(unheard)");
}
