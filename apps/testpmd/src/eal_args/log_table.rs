//! Rows: log and trace.

use super::{EalArgs, LogLevel, LogRule, LogTarget};
use crate::getopt::{ArgError, Given, Opt, opt, optional, value};

/// Why the form of log lines can't be chosen.
const PLAIN_LINES: &str = "own lines go to standard error as plain text that begins with `mpps: `";
/// Why trace options are idle.
const NO_TRACE: &str = "no trace is written";

pub(super) const ROWS: &[Opt<EalArgs>] = &[
    opt(
        value(
            "log-level",
            "[TYPE:]LEVEL",
            "What to log: a level, GLOB:LEVEL, REGEX,LEVEL, or help",
        )
        .repeats(),
        log_level,
    ),
    opt(
        optional("log-color", "WHEN", "Colour log lines: auto, always, never")
            .no_effect(PLAIN_LINES),
        |_, given| match given.value {
            Some(_) => given.choice(&[("auto", ()), ("always", ()), ("never", ())]),
            None => Ok(()),
        },
    ),
    opt(
        optional(
            "log-timestamp",
            "FORMAT",
            "Stamp log lines: notime, reltime, delta, ctime, iso",
        )
        .no_effect(PLAIN_LINES),
        |_, given| match given.value {
            Some(_) => {
                given.choice(&["notime", "reltime", "delta", "ctime", "iso"].map(|w| (w, ())))
            }
            None => Ok(()),
        },
    ),
    opt(
        optional("syslog", "FACILITY", "Send log lines to syslog").no_effect(PLAIN_LINES),
        |_, given| match given.value {
            Some(_) => given.choice(&FACILITIES.map(|w| (w, ()))),
            None => Ok(()),
        },
    ),
    opt(
        value("trace", "REGEX", "Write trace points to a file")
            .repeats()
            .refused("this program has no trace points; drop the option, or use perf record"),
        |_, _| Ok(()),
    ),
    opt(
        value("trace-dir", "DIR", "Folder for traces").no_effect(NO_TRACE),
        |_, given| given.non_empty("a folder").map(|_| ()),
    ),
    opt(
        value(
            "trace-bufsz",
            "SIZE",
            "Trace buffer of a thread: N with B, K or M",
        )
        .no_effect(NO_TRACE),
        trace_size,
    ),
    opt(
        value(
            "trace-mode",
            "MODE",
            "Full trace buffer: overwrite, discard",
        )
        .no_effect(NO_TRACE),
        trace_mode,
    ),
];

const FACILITIES: [&str; 19] = [
    "auth", "cron", "daemon", "ftp", "kern", "lpr", "mail", "news", "syslog", "user", "uucp",
    "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
];

const LEVELS: [(&str, LogLevel); 8] = [
    ("emergency", LogLevel::Emergency),
    ("alert", LogLevel::Alert),
    ("critical", LogLevel::Critical),
    ("error", LogLevel::Error),
    ("warning", LogLevel::Warning),
    ("notice", LogLevel::Notice),
    ("info", LogLevel::Info),
    ("debug", LogLevel::Debug),
];

/// `LEVEL`, `GLOB:LEVEL` or `REGEX,LEVEL`; the comma is looked for first.
fn log_level(args: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let text = given.non_empty("a level such as debug or 8")?;
    if text == "help" {
        args.log.help = true;
        return Ok(());
    }
    let (target, level) = if let Some((regex, level)) = text.rsplit_once(',') {
        (LogTarget::Regex(regex.to_owned()), level)
    } else if let Some((glob, level)) = text.rsplit_once(':') {
        (LogTarget::Glob(glob.to_owned()), level)
    } else {
        (LogTarget::Global, text)
    };
    let level = read_level(args, given, level)?;
    args.log.rules.push(LogRule { target, level });
    Ok(())
}

/// A number from 1, or the beginning of a level's name.
fn read_level(args: &mut EalArgs, given: &Given<'_>, text: &str) -> Result<LogLevel, ArgError> {
    let right = "give 1 to 8 or emergency, alert, critical, error, warning, notice, info, debug";
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        let number: usize = text.parse().unwrap_or(usize::MAX);
        if number > LEVELS.len() {
            args.notices
                .note(format!("{}: the highest level is 8, debug", given.whole()));
        }
        let at = number.min(LEVELS.len()).checked_sub(1);
        return at
            .map(|at| LEVELS[at].1)
            .ok_or_else(|| given.bad_part(text, "is no log level", right));
    }
    let found = LEVELS
        .iter()
        .find(|(name, _)| !text.is_empty() && name.starts_with(text));
    found
        .map(|(_, level)| *level)
        .ok_or_else(|| given.bad_part(text, "is no log level", right))
}

fn trace_size(_: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let digits = given
        .text()
        .trim_end_matches(['B', 'K', 'M', 'b', 'k', 'm']);
    if given.text().len() - digits.len() > 1 {
        return Err(given.bad("is not a size", "give a number with B, K or M"));
    }
    given.number_in::<u64>(digits, 1..=u64::MAX).map(|_| ())
}

fn trace_mode(_: &mut EalArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let text = given.text();
    let known = ["overwrite", "discard"]
        .iter()
        .any(|m| !text.is_empty() && m.starts_with(text));
    known
        .then_some(())
        .ok_or_else(|| given.bad("is unknown", "give overwrite or discard"))
}
