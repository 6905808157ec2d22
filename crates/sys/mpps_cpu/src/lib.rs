//! The machine: topology, affinity, clock, instruction sets.
