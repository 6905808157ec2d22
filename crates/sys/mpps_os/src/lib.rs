//! What rustix lacks of the kernel interface, as safe functions: signals, terminals, memory locks.
