//! net_pcap: a port that receives from capture files and sends into them.
#![forbid(unsafe_code)]
