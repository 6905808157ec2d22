//! net_null: a port that receives packets out of nothing and frees what it sends.
#![forbid(unsafe_code)]
