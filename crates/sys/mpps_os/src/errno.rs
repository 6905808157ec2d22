//! The C library's texts for error numbers.

use std::ffi::CStr;

/// What the C library says of an error number (`Cannot allocate memory` for 12), without the number.
#[must_use]
pub fn errno_text(errno: i32) -> String {
    let mut text = [0_u8; 128];
    // SAFETY: the function writes at most that many bytes and ends them with a zero.
    let failed = unsafe { libc::strerror_r(errno, text.as_mut_ptr().cast(), text.len()) };
    match CStr::from_bytes_until_nul(&text) {
        Ok(text) if failed == 0 || !text.is_empty() => text.to_string_lossy().into_owned(),
        _ => format!("error {errno}"),
    }
}

#[cfg(test)]
mod tests {
    use super::errno_text;

    #[test]
    fn known_and_unknown_numbers_have_a_text() {
        assert_eq!(errno_text(libc::ENOMEM), "Cannot allocate memory");
        assert_eq!(errno_text(libc::EPERM), "Operation not permitted");
        assert!(errno_text(123_456).contains("123456"));
        assert!(errno_text(-1).contains("-1"));
    }
}
