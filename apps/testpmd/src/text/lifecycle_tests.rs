//! A whole session's lines as recorded.

use super::*;

fn lines(of: &[Lifecycle<'_>]) -> String {
    of.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn start_up() {
    let mac = MacAddr([0xEA, 0xCF, 0xD2, 0x50, 0x07, 0xD5]);
    let text = lines(&[
        Lifecycle::InteractiveSelected,
        Lifecycle::AutoStartSelected,
        Lifecycle::Configuring(0, SocketId(Some(0))),
        Lifecycle::Running(0, mac),
        Lifecycle::CheckingLinks,
        Lifecycle::Done,
        Lifecycle::AutomaticStart,
    ]);
    let want = "Interactive-mode selected\nAuto-start selected\nConfiguring Port 0 (socket 0)\nPort 0: EA:CF:D2:50:07:D5\n\
                Checking link statuses...\nDone\nStart automatic packet forwarding\n";
    assert_eq!(text, want);
}

#[test]
fn exit() {
    let text = lines(&[
        Lifecycle::StopRequest,
        Lifecycle::ExitStopping(0),
        Lifecycle::StoppingPorts,
        Lifecycle::Done,
        Lifecycle::ExitClosing(0),
        Lifecycle::ClosingPorts,
        Lifecycle::Closed(0),
        Lifecycle::Done,
        Lifecycle::Bye,
    ]);
    let want = "\nPrimary: Sending 'stop_req' request to secondary...\n\nStopping port 0...\nStopping ports...\nDone\n\n\
                Shutting down port 0...\nClosing ports...\nPort 0 is closed\nDone\n\nBye...\n";
    assert_eq!(text, want);
}

#[test]
fn forwarding_stops() {
    let text = lines(&[Lifecycle::Stopping, Lifecycle::Stopped]);
    assert_eq!(
        text,
        "Telling cores to stop...\nWaiting for lcores to finish...\n\nDone.\n"
    );
    let text = lines(&[Lifecycle::NoCommandline, Lifecycle::PressEnter]);
    assert_eq!(
        text,
        "No commandline core given, start packet forwarding\nPress enter to exit\n"
    );
}

#[test]
fn ports_come_and_go() {
    let text = lines(&[
        Lifecycle::Attaching,
        Lifecycle::Attached(2, 3),
        Lifecycle::Removing,
        Lifecycle::DeviceDetached,
        Lifecycle::NamedDetached("net_null2"),
        Lifecycle::TotalPorts(2),
        Lifecycle::ResettingPorts,
    ]);
    let want = "Attaching a new port...\nPort 2 is attached. Now total ports is 3\nRemoving a device...\n\
                Device is detached\nDevice net_null2 is detached\nNow total ports is 2\nResetting ports...\n";
    assert_eq!(text, want);
}

#[test]
fn events() {
    assert_eq!(
        Event {
            port: 0,
            name: Event::LINK
        }
        .to_string(),
        "\nPort 0: link state change event"
    );
    assert_eq!(
        Event {
            port: 1,
            name: Event::QUEUE
        }
        .to_string(),
        "\nPort 1: queue state event"
    );
    assert_eq!(
        Event {
            port: 1,
            name: Event::REMOVAL
        }
        .to_string(),
        "\nPort 1: device removal event"
    );
}
