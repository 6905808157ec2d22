//! A session's text cut into its commands, with what differs from run to run blanked out.

/// A command and the lines it was answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exchange {
    pub(crate) command: String,
    pub(crate) reply: Vec<String>,
}

const PROMPT: &str = "testpmd> ";

/// What comes before the first prompt, then the commands in order.
pub(crate) fn exchanges(text: &str) -> (Vec<String>, Vec<Exchange>) {
    let mut head = Vec::new();
    let mut all: Vec<Exchange> = Vec::new();
    // A worker's own words may come while the prompt waits.
    let whole = text.replace('\r', "");
    let mut text = String::new();
    for (at, part) in whole.split("testpmd> mpps: ").enumerate() {
        let part = if at == 0 {
            part
        } else {
            part.split_once('\n').map_or("", |(_, rest)| rest)
        };
        text.push_str(if at == 0 { "" } else { PROMPT });
        text.push_str(part);
    }
    for line in text.lines() {
        if let Some(command) = line.strip_prefix(PROMPT) {
            all.push(Exchange {
                command: command.to_owned(),
                reply: Vec::new(),
            });
        } else {
            match all.last_mut() {
                Some(exchange) => exchange.reply.push(masked(line)),
                None => head.push(masked(line)),
            }
        }
    }
    (head, all)
}

/// Addresses made at random, and counts of empty bursts, replaced by letters.
pub(crate) fn masked(line: &str) -> String {
    if let Some(rest) = line.trim_start().strip_prefix("RX-bursts : ") {
        let spread = rest.find('[').map_or("", |at| &rest[at..]);
        return format!("  RX-bursts : N {spread}");
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        match rest.get(..17).filter(|text| is_random_mac(text)) {
            Some(_) => {
                out.push_str("MM:MM:MM:MM:MM:MM");
                rest = &rest[17..];
            }
            None => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    out
}

/// An address in capitals that is none of those that testpmd makes up for peers.
fn is_random_mac(text: &str) -> bool {
    let groups: Vec<&str> = text.split(':').collect();
    let hex = |group: &&str| {
        group.len() == 2
            && group
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'A'..=b'F').contains(&b))
    };
    groups.len() == 6 && groups.iter().all(hex) && !text.starts_with("02:00:00:00:00:")
}

/// A line without the figures in it: each run of digits is one `N`, and behind the indentation a run of blanks is one.
pub(crate) fn without_figures(line: &str) -> String {
    let words = line.trim_start_matches(' ');
    let mut out = " ".repeat(line.len() - words.len());
    for c in words.chars() {
        let c = if c.is_ascii_digit() { 'N' } else { c };
        let again = out.ends_with(c) && (c == 'N' || c == ' ');
        if !again {
            out.push(c);
        }
    }
    out.trim_end().to_owned()
}
