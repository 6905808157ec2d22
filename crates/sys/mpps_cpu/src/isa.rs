//! Instruction sets as tokens.
//!
//! A value of [`Avx2`] proves that the CPU has AVX2, so that a kernel which takes one is a safe function. Tokens are
//! made by `detect` alone, once, where a queue is set up, and handed down by value; they are empty and free.
//!
//! Detection stays within a width that is fixed once for the process: [`set_max_simd_bits`] (the option
//! `--force-max-simd-bitwidth`) and the environment variable `MPPS_ISA` (`scalar`, `avx2`, `avx512`), whichever is
//! lower. `main` sets it before anything is detected.
//!
//! ```
//! use mpps_cpu::{Avx2, Isa};
//!
//! fn sum(numbers: &[u32], avx2: Option<Avx2>) -> u32 {
//!     // With a token, a function with `#[target_feature(enable = "avx2")]` may be called.
//!     let _ = avx2;
//!     numbers.iter().sum()
//! }
//!
//! mpps_cpu::isa::set_max_simd_bits(64).unwrap();
//! assert_eq!(Avx2::detect(), None);
//! assert_eq!(Isa::best().to_string(), "scalar");
//! assert_eq!(sum(&[1, 2, 3], Avx2::detect()), 6);
//! ```

use std::fmt;
use std::sync::OnceLock;

/// The environment variable that lowers what is detected.
pub const ISA_VARIABLE: &str = "MPPS_ISA";

/// Widths that may be asked for, in bits; 64 stands for no vectors at all.
const WIDTHS: [u32; 4] = [64, 128, 256, 512];

static LIMIT: OnceLock<u32> = OnceLock::new();

/// Why a limit was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IsaError {
    /// Not a width that exists.
    #[error("SIMD width \"{0}\" is not one of 64, 128, 256, 512, or 0 for no limit")]
    Width(u32),
    /// The environment variable has an unknown value.
    #[error("{ISA_VARIABLE}={0:?} is not an instruction set: expected scalar, avx2 or avx512")]
    Variable(String),
    /// Vectors have been chosen already.
    #[error(
        "the SIMD width is {now} bits already and cannot become {wanted}: it is set once, at start"
    )]
    TooLate {
        /// The width in force.
        now: u32,
        /// The width asked for.
        wanted: u32,
    },
}

/// Fixes the widest vectors that `detect` admits, in bits: 64 (none), 128, 256, 512, or 0 for no limit. `MPPS_ISA` may
/// lower it further. Call it (with 0 by default) before the first detection, also to have `MPPS_ISA` checked.
///
/// # Errors
/// When `bits` or `MPPS_ISA` is none of the above, or another limit is in force.
pub fn set_max_simd_bits(bits: u32) -> Result<(), IsaError> {
    let wanted = limit_from(bits, variable().as_deref())?;
    let now = *LIMIT.get_or_init(|| wanted);
    if now == wanted {
        Ok(())
    } else {
        Err(IsaError::TooLate { now, wanted })
    }
}

/// The widest vectors that `detect` admits, in bits.
#[must_use]
pub fn max_simd_bits() -> u32 {
    // A bad value was for `set_max_simd_bits` to report; a program that doesn't call it gets no vectors then.
    *LIMIT.get_or_init(|| limit_from(0, variable().as_deref()).unwrap_or(64))
}

fn variable() -> Option<String> {
    std::env::var_os(ISA_VARIABLE).map(|value| value.to_string_lossy().into_owned())
}

fn limit_from(bits: u32, variable: Option<&str>) -> Result<u32, IsaError> {
    let asked = match bits {
        0 => 512,
        bits if WIDTHS.contains(&bits) => bits,
        bits => return Err(IsaError::Width(bits)),
    };
    let lowered = match variable {
        None | Some("" | "avx512") => 512,
        Some("avx2") => 256,
        Some("scalar") => 64,
        Some(other) => return Err(IsaError::Variable(other.to_owned())),
    };
    Ok(asked.min(lowered))
}

/// Defines a token: its name, width and the CPU features that it stands for.
macro_rules! token {
    ($(#[$doc:meta])* $name:ident, $bits:literal, [$($feature:tt),+]) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name(());

        impl $name {
            /// The token, if the CPU and the operating system have these instructions and the limit admits them.
            #[must_use]
            pub fn detect() -> Option<Self> {
                Self::detect_within(max_simd_bits())
            }

            fn detect_within(limit: u32) -> Option<Self> {
                #[cfg(target_arch = "x86_64")]
                let present = $(std::arch::is_x86_feature_detected!($feature))&&+;
                #[cfg(not(target_arch = "x86_64"))]
                let present = false;
                (present && limit >= $bits).then_some(Self(()))
            }
        }
    };
}

token!(
    /// The CPU has SSSE3 (byte shuffles in 128 bits).
    Ssse3, 128, ["ssse3"]
);
token!(
    /// The CPU has AVX2 (integers in 256 bits).
    Avx2, 256, ["avx2"]
);
token!(
    /// The CPU has AVX-512 F, BW, DQ and VL (and AVX2, which every such CPU has).
    Avx512, 512, ["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx2"]
);
token!(
    /// The CPU has what [`Avx512`] stands for, and VBMI (byte permutes across 512 bits).
    Avx512Vbmi, 512, ["avx512vbmi", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx2"]
);

impl From<Avx512> for Avx2 {
    fn from(_: Avx512) -> Self {
        Self(())
    }
}

impl From<Avx512Vbmi> for Avx512 {
    fn from(_: Avx512Vbmi) -> Self {
        Self(())
    }
}

/// The widest instruction set that may be used, for choosing a path and for printing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isa {
    /// No vectors beyond what the compiler uses for the target's baseline.
    Scalar,
    /// 256 bits.
    Avx2(Avx2),
    /// 512 bits.
    Avx512(Avx512),
}

impl Isa {
    /// The widest that the CPU has and the limit admits.
    #[must_use]
    pub fn best() -> Self {
        Self::best_within(max_simd_bits())
    }

    fn best_within(limit: u32) -> Self {
        if let Some(token) = Avx512::detect_within(limit) {
            return Self::Avx512(token);
        }
        Avx2::detect_within(limit).map_or(Self::Scalar, Self::Avx2)
    }
}

/// As `MPPS_ISA` spells it.
impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scalar => "scalar",
            Self::Avx2(_) => "avx2",
            Self::Avx512(_) => "avx512",
        })
    }
}

#[cfg(test)]
mod tests;
