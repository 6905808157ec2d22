//! The console: command grammar, table, help, completion, line editing.
#![forbid(unsafe_code)]
