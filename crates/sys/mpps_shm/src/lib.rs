//! Memory from the kernel: page sources, mappings and the regions that peers can see.
