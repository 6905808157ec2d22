//! Numbers as DPDK's command line reads them: decimal, `0x` hexadecimal, `0b` binary, leading `0` octal. Pure functions,
//! nothing is kept.

/// The type, and with it the range, of a number token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// 0 to 255.
    U8,
    /// 0 to 65535.
    U16,
    /// 0 to 2^32 - 1.
    U32,
    /// 0 to 2^64 - 1.
    U64,
    /// -2^31 to 2^31 - 1.
    I32,
}

impl Width {
    pub(crate) fn from_name(name: &str) -> Option<Width> {
        Some(match name {
            "u8" => Width::U8,
            "u16" => Width::U16,
            "u32" => Width::U32,
            "u64" => Width::U64,
            "i32" => Width::I32,
            _ => return None,
        })
    }

    /// Lowest and highest value.
    #[must_use]
    pub fn range(self) -> (i128, i128) {
        match self {
            Width::U8 => (0, u8::MAX.into()),
            Width::U16 => (0, u16::MAX.into()),
            Width::U32 => (0, u32::MAX.into()),
            Width::U64 => (0, u64::MAX.into()),
            Width::I32 => (i32::MIN.into(), i32::MAX.into()),
        }
    }
}

/// Reads `text` as a number of type `width`; none where it isn't one or is out of range.
///
/// Only decimal numbers may have a sign, only a minus, and only lower-case `x` and `b` start a base, as DPDK has it.
///
/// ```
/// use mpps_console::{Width, parse_number};
/// assert_eq!(parse_number("0x10", Width::U16), Some(16));
/// assert_eq!(parse_number("010", Width::U16), Some(8));
/// assert_eq!(parse_number("08", Width::U16), None);
/// assert_eq!(parse_number("256", Width::U8), None);
/// ```
#[must_use]
pub fn parse_number(text: &str, width: Width) -> Option<i128> {
    let value = if let Some(digits) = text.strip_prefix('-') {
        if width != Width::I32 {
            return None;
        }
        -magnitude(digits, 10)?
    } else if let Some(digits) = text.strip_prefix("0x") {
        magnitude(digits, 16)?
    } else if let Some(digits) = text.strip_prefix("0b") {
        magnitude(digits, 2)?
    } else if text.len() > 1 && text.starts_with('0') {
        magnitude(&text[1..], 8)?
    } else {
        magnitude(text, 10)?
    };
    let (lowest, highest) = width.range();
    (lowest..=highest).contains(&value).then_some(value)
}

fn magnitude(digits: &str, base: u32) -> Option<i128> {
    // from_str_radix takes a sign, which must not follow a prefix.
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    u64::from_str_radix(digits, base).ok().map(i128::from)
}

#[cfg(test)]
mod tests;
