//! A small tokenizer with the grammar of GNU `getopt_long`, driven by const tables.
//!
//! Scripts that call testpmd rely on that grammar: unique abbreviations (`--total-num-mbuf`), `--opt v` beside `--opt=v`,
//! glued short options (`-l0,2`), clusters (`-ia`). A general argument parser knows neither EAL's table nor the
//! mistakes that people make with it, so the tokenizer is ours, and every refusal points at the word that is wrong.
//!
//! [`Spec`] says how one option is written and what becomes of it, [`Tokens`] turns words into [`Given`] options,
//! [`read`] feeds them to a typed target. Nothing here knows a port, a core or a byte of memory. The tables are
//! const and live in `eal_args` and `app_args`; a [`Table`] is made once per command line and dropped with it.

mod error;
mod hint;
mod notice;
mod reader;
mod spec;
mod tokens;
mod value;

#[cfg(test)]
mod tests;

pub(crate) use error::quoted;
pub use error::{ArgError, Part};
pub use hint::nearest;
pub use notice::{Notice, Notices};
pub use reader::{Conflict, Group, Opt, Target, opt, read, specs};
pub use spec::{Abbreviation, Arity, Spec, Treatment, flag, optional, value};
pub use tokens::{Given, Table, Tokens};
