//! Counters out of what testpmd prints, read as users' scripts read it: by fields, sections ended by their rulers.

/// What a port forwarded, from the block of `stop`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forwarded {
    /// The port; none for the sum over all.
    pub port: Option<u16>,
    /// RX-packets, RX-dropped, RX-total.
    pub rx: [u64; 3],
    /// TX-packets, TX-dropped, TX-total.
    pub tx: [u64; 3],
}

/// The counters of a port, from `show port stats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nic {
    /// The port.
    pub port: u16,
    /// RX-packets, RX-missed, RX-bytes.
    pub rx: [u64; 3],
    /// RX-errors.
    pub rx_errors: u64,
    /// RX-nombuf.
    pub rx_nombuf: u64,
    /// TX-packets, TX-errors, TX-bytes.
    pub tx: [u64; 3],
}

/// What a stream forwarded, where there are more streams than ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streamed {
    /// Port and queue it receives from.
    pub from: (u16, u16),
    /// Port and queue it sends to.
    pub to: (u16, u16),
    /// RX-packets.
    pub rx: u64,
    /// TX-packets.
    pub tx: u64,
    /// TX-dropped.
    pub dropped: u64,
}

/// The last statistics that `stop` or the end printed: a row a port, and the sum last.
///
/// # Panics
/// When a block isn't laid out as scripts expect it.
pub fn forwarded(text: &str) -> Vec<Forwarded> {
    let from = ["Telling cores to stop...", "show fwd stats all"]
        .iter()
        .filter_map(|words| text.rfind(words))
        .max();
    let (mut rows, mut open) = (Vec::<Forwarded>::new(), false);
    for line in text[from.unwrap_or(0)..].lines() {
        let words = line.trim();
        if let Some(rest) =
            words.strip_prefix("---------------------- Forward statistics for port ")
        {
            let port = Some(number(rest.split_whitespace().next()));
            rows.push(Forwarded {
                port,
                ..Forwarded::default()
            });
            open = true;
        } else if words.contains("Accumulated forward statistics for all ports") {
            rows.push(Forwarded::default());
            open = true;
        } else if words.len() == 76
            && ["-", "+"]
                .iter()
                .any(|mark| words.replace(mark, "").is_empty())
        {
            open = false;
        } else if open && let Some(row) = rows.last_mut() {
            let fields: Vec<&str> = words.split_whitespace().collect();
            match fields[..] {
                ["RX-packets:", a, "RX-dropped:", b, "RX-total:", c] => row.rx = three(a, b, c),
                ["TX-packets:", a, "TX-dropped:", b, "TX-total:", c] => row.tx = three(a, b, c),
                ["RX-error:", ..] | ["RX-nombufs:", ..] | ["Bad-ipcsum:", ..] => {}
                ["RX-bursts", ..]
                | ["TX-bursts", ..]
                | ["Bad-outer-l4csum:", ..]
                | ["Bad-outer-ipcsum:", ..] => {}
                _ => panic!("{line:?} is no part of forward statistics"),
            }
        }
    }
    assert!(!open, "the statistics have no end: {text}");
    rows
}

/// The sum over all ports of the last statistics.
///
/// # Panics
/// When there are none.
pub fn accumulated(text: &str) -> Forwarded {
    let last = forwarded(text).pop().filter(|row| row.port.is_none());
    last.unwrap_or_else(|| panic!("no forward statistics: {text}"))
}

/// The blocks of `show port stats` in a text.
///
/// # Panics
/// When a block isn't laid out as scripts expect it.
pub fn nics(text: &str) -> Vec<Nic> {
    let mut nics = Vec::<Nic>::new();
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("NIC statistics for port ") {
            let port = number(rest.split_whitespace().next());
            nics.push(Nic {
                port,
                ..Nic::default()
            });
        }
        let Some(nic) = nics.last_mut() else { continue };
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields[..] {
            ["RX-packets:", a, "RX-missed:", b, "RX-bytes:", c] => nic.rx = three(a, b, c),
            ["RX-errors:", a] => nic.rx_errors = number(Some(a)),
            ["RX-nombuf:", a] => nic.rx_nombuf = number(Some(a)),
            ["TX-packets:", a, "TX-errors:", b, "TX-bytes:", c] => nic.tx = three(a, b, c),
            _ => {}
        }
    }
    nics
}

/// The rows of single streams in a text.
///
/// # Panics
/// When a row isn't laid out as scripts expect it.
pub fn streamed(text: &str) -> Vec<Streamed> {
    let mut streams = Vec::<Streamed>::new();
    let mut head = false;
    for line in text.lines() {
        if line.contains("Forward Stats for RX Port=") {
            let numbers: Vec<u16> = line
                .split(|c: char| !c.is_ascii_digit())
                .filter_map(|word| word.parse().ok())
                .collect();
            let [a, b, c, d] = numbers[..] else {
                panic!("{line:?} names no two queues")
            };
            streams.push(Streamed {
                from: (a, b),
                to: (c, d),
                ..Streamed::default()
            });
            head = true;
        } else if head && let Some(stream) = streams.last_mut() {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let ["RX-packets:", a, "TX-packets:", b, "TX-dropped:", c] = fields[..] else {
                panic!("{line:?} is no row of a stream")
            };
            [stream.rx, stream.tx, stream.dropped] = three(a, b, c);
            head = false;
        }
    }
    streams
}

fn three(a: &str, b: &str, c: &str) -> [u64; 3] {
    [a, b, c].map(|word| number(Some(word)))
}

fn number<T: std::str::FromStr>(word: Option<&str>) -> T {
    let parsed = word.and_then(|word| word.parse().ok());
    parsed.unwrap_or_else(|| panic!("{word:?} is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOPPED: &str = "Telling cores to stop...\nWaiting for lcores to finish...\n\n  \
        ------- Forward Stats for RX Port= 0/Queue= 1 -> TX Port= 1/Queue= 3 -------\n  \
        RX-packets: 7              TX-packets: 6              TX-dropped: 1             \n\n  \
        ---------------------- Forward statistics for port 0  ----------------------\n  \
        RX-packets: 10             RX-dropped: 1             RX-total: 11\n  \
        TX-packets: 20             TX-dropped: 2             TX-total: 22\n  \
        ----------------------------------------------------------------------------\n\n  \
        +++++++++++++++ Accumulated forward statistics for all ports+++++++++++++++\n  \
        RX-packets: 30             RX-dropped: 0             RX-total: 30\n  \
        TX-packets: 40             TX-dropped: 0             TX-total: 40\n  \
        ++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++\n\nDone.\n";

    #[test]
    fn blocks_of_stop_are_read() {
        let port = Forwarded {
            port: Some(0),
            rx: [10, 1, 11],
            tx: [20, 2, 22],
        };
        let sum = Forwarded {
            port: None,
            rx: [30, 0, 30],
            tx: [40, 0, 40],
        };
        assert_eq!(forwarded(STOPPED), [port, sum]);
        assert_eq!(accumulated(STOPPED), sum);
        let stream = Streamed {
            from: (0, 1),
            to: (1, 3),
            rx: 7,
            tx: 6,
            dropped: 1,
        };
        assert_eq!(streamed(STOPPED), [stream]);
    }

    #[test]
    #[should_panic(expected = "is no part of forward statistics")]
    fn an_unknown_line_in_a_block_is_a_fault() {
        forwarded(&STOPPED.replace("RX-total: 11", "RX-total: 11 RX-pps: 5"));
    }
}
