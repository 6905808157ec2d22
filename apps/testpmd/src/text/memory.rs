//! `dump socket_mem`: how much of the memory of each node is in use.

use std::fmt;

/// A row: a node, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketMemory {
    /// The node; `None` for the sum.
    pub socket: Option<u32>,
    /// Bytes in all.
    pub total: u64,
    /// Bytes in use.
    pub used: u64,
    /// Pieces in use, and pieces that are free.
    pub pieces: [usize; 2],
}

/// Bytes a million at a time, with six decimals.
struct Mega(u64);

impl fmt::Display for Mega {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MEGA: u64 = 1024 * 1024;
        let millionths = u128::from(self.0 % MEGA) * 1_000_000 / u128::from(MEGA);
        write!(f, "{}.{millionths:06}", self.0 / MEGA)
    }
}

impl fmt::Display for SocketMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.socket {
            Some(node) => write!(f, "Socket {node}: ")?,
            None => f.write_str("Total   : ")?,
        }
        // Nothing at all is 0 %, not a division by zero.
        let thousandths = u128::from(self.used) * 100_000 / u128::from(self.total.max(1));
        let (whole, rest) = (thousandths / 1000, thousandths % 1000);
        write!(
            f,
            "size(M) total: {} alloc: {}({whole}.{rest:03}%)",
            Mega(self.total),
            Mega(self.used)
        )?;
        let [used, free] = self.pieces;
        writeln!(
            f,
            " free: {} \tcount alloc: {used:<4} free: {free}",
            Mega(self.total.saturating_sub(self.used))
        )
    }
}

#[cfg(test)]
mod tests {
    //! Against a recorded session.

    use super::SocketMemory;

    #[test]
    fn as_recorded() {
        let row = SocketMemory {
            socket: Some(0),
            total: 256 << 20,
            used: 46_106_176,
            pieces: [511, 1],
        };
        let want = "Socket 0: size(M) total: 256.000000 alloc: 43.970275(17.175%) free: 212.029724 \tcount alloc: 511  free: 1\n";
        assert_eq!(row.to_string(), want);
    }

    #[test]
    fn nothing_at_all() {
        let row = SocketMemory {
            socket: None,
            total: 0,
            used: 0,
            pieces: [0, 0],
        };
        let want = "Total   : size(M) total: 0.000000 alloc: 0.000000(0.000%) free: 0.000000 \tcount alloc: 0    free: 0\n";
        assert_eq!(row.to_string(), want);
    }
}
