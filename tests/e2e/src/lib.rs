//! End-to-end tests: the programs as a user runs them, beside what others wrote.
#![forbid(unsafe_code)]
