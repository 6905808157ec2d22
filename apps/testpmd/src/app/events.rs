//! What ports tell unasked, as lines: DPDK's for events, our own for everything else.

use mpps_dev::{Events, Listener, PortEvent, PortId};

use super::Output;
use super::output::Voice;
use crate::app_args::events;
use crate::text::Event;

/// Prints what ports tell, on their threads.
struct Told {
    voice: Voice,
    /// Events that are printed, a bit for each.
    printed: u32,
}

/// Has events of ports printed to `out`, those whose bits (`--print-event`, `--mask-event`) are in `printed`.
pub(super) fn printed_to(out: &mut Output, printed: u32) -> std::io::Result<Events> {
    let voice = out.voice()?;
    Ok(Events::heard_by(Told { voice, printed }))
}

impl Listener for Told {
    fn event(&self, port: PortId, event: PortEvent) {
        let (option, name) = match event {
            PortEvent::LinkState => ("intr_lsc", Event::LINK),
            PortEvent::QueueState => ("queue_state", Event::QUEUE),
        };
        if events::bit(option).is_some_and(|bit| self.printed & bit != 0) {
            let port = port.get();
            self.voice.say(format!("{}\n", Event { port, name }));
        }
    }

    fn note(&self, port: PortId, line: &str) {
        // One line, whatever a peer's name or path has in it.
        let line = line.replace(char::is_control, " ");
        self.voice
            .complain(format_args!("mpps: port {port}: {line}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_printed_as_dpdk_prints_them() {
        let mut out = Output::captured();
        let events = printed_to(&mut out, events::DEFAULT).unwrap();
        let port = PortId::new(0).unwrap();
        events.tell(port, PortEvent::QueueState);
        events.tell(port, PortEvent::LinkState);
        events.note(port, "a peer\nleft");
        let text = out.take();
        assert_eq!(
            text.out,
            "\nPort 0: queue state event\n\nPort 0: link state change event\n"
        );
        assert_eq!(text.err, "mpps: port 0: a peer left\n");
    }

    #[test]
    fn masked_events_are_silent() {
        let mut out = Output::captured();
        let masked = events::DEFAULT & !events::bit("queue_state").unwrap();
        let events = printed_to(&mut out, masked).unwrap();
        events.tell(PortId::new(1).unwrap(), PortEvent::QueueState);
        events.tell(PortId::new(1).unwrap(), PortEvent::LinkState);
        assert_eq!(out.take().out, "\nPort 1: link state change event\n");
    }
}
