//! `dump mempool|ring|physmem|memzone|devargs|lcores`: debugging text.
//!
//! Addresses are for a human to tell things apart; no script reads them.

use std::fmt;

/// A pool: `dump mempool`.
#[derive(Debug, Clone, Copy)]
pub struct MempoolDump<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where its state is.
    pub address: usize,
    /// `RTE_MEMPOOL_F_*` bits.
    pub flags: u32,
    /// The node.
    pub socket: i32,
    /// Where its common store is.
    pub store: usize,
    /// The IO address of its state.
    pub iova: u64,
    /// Pieces of memory that the buffers lie in.
    pub chunks: u32,
    /// Buffers it was made for, and those it has.
    pub size: [u32; 2],
    /// Bytes of a buffer's header, element and trailer.
    pub object: [u32; 3],
    /// Bytes of private data.
    pub private: u32,
    /// Number and name of the store's kind.
    pub ops: (u32, &'a str),
    /// Bytes of all chunks.
    pub bytes: u64,
    /// Buffers a core may keep.
    pub cache_size: u32,
    /// Core ids and what they keep, where that is known by core; those that keep nothing are not shown.
    pub caches: &'a [(u32, u32)],
    /// What all cores keep.
    pub cached: u32,
    /// Buffers in the common store.
    pub common: u32,
}

impl fmt::Display for MempoolDump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([size, populated], [header, element, trailer]) = (self.size, self.object);
        writeln!(f, "mempool <{}>@{:#x}", self.name, self.address)?;
        writeln!(
            f,
            "  flags={:x}\n  socket_id={}\n  pool={:#x}",
            self.flags, self.socket, self.store
        )?;
        writeln!(
            f,
            "  iova=0x{:x}\n  nb_mem_chunks={}",
            self.iova, self.chunks
        )?;
        writeln!(f, "  size={size}\n  populated_size={populated}")?;
        writeln!(
            f,
            "  header_size={header}\n  elt_size={element}\n  trailer_size={trailer}"
        )?;
        writeln!(
            f,
            "  total_obj_size={}\n  private_data_size={}",
            header + element + trailer,
            self.private
        )?;
        writeln!(
            f,
            "  ops_index={}\n  ops_name: <{}>",
            self.ops.0, self.ops.1
        )?;
        if self.bytes > 0 && size > 0 {
            writeln!(f, "  avg bytes/object={:.6}", Ratio(self.bytes, size))?;
        }
        self.caches(f)?;
        writeln!(
            f,
            "  common_pool_count={}\n  no statistics available",
            self.common
        )
    }
}

impl MempoolDump<'_> {
    fn caches(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  internal cache infos (hide zero value items):\n    cache_size={}",
            self.cache_size
        )?;
        if self.cache_size == 0 {
            return Ok(());
        }
        for (lcore, count) in self.caches.iter().filter(|(_, count)| *count > 0) {
            writeln!(f, "    cache_count[{lcore}]={count}")?;
        }
        writeln!(f, "    total_cache_count={}", self.cached)
    }
}

/// A quotient with decimals.
struct Ratio(u64, u32);

impl fmt::Display for Ratio {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a pool's bytes are far below 2^53"
    )]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&(self.0 as f64 / f64::from(self.1)), f)
    }
}

/// Who may use an end of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncType {
    /// One thread.
    Single,
    /// Many.
    Multi,
}

/// One end of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingEnd {
    /// Who may use it.
    pub sync: SyncType,
    /// Reserved up to here.
    pub head: u32,
    /// Done up to here.
    pub tail: u32,
}

/// A ring: `dump ring`.
#[derive(Debug, Clone, Copy)]
pub struct RingDump<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where it is.
    pub address: usize,
    /// `RING_F_*` bits.
    pub flags: u32,
    /// Slots, and those that can be filled.
    pub size: [u32; 2],
    /// Entries in it.
    pub used: u32,
    /// Where it is read.
    pub consumer: RingEnd,
    /// Where it is written.
    pub producer: RingEnd,
}

impl fmt::Display for RingDump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [size, capacity] = self.size;
        writeln!(
            f,
            "ring <{}>@{:#x}\n  flags={:x}",
            self.name, self.address, self.flags
        )?;
        writeln!(f, "  size={size}\n  capacity={capacity}")?;
        writeln!(
            f,
            "  used={}\n  avail={}",
            self.used,
            capacity.saturating_sub(self.used)
        )?;
        for (name, end) in [("cons", &self.consumer), ("prod", &self.producer)] {
            let sync = match end.sync {
                SyncType::Single => "ST",
                SyncType::Multi => "MT",
            };
            writeln!(
                f,
                "  {name}.sync_type={sync}\n  {name}.head={}\n  {name}.tail={}",
                end.head, end.tail
            )?;
        }
        Ok(())
    }
}

/// A row of `dump physmem`: a page, or a run of pages.
#[derive(Debug, Clone, Copy)]
pub struct PhysmemRow {
    /// List and place in it.
    pub segment: [usize; 2],
    /// Its IO address.
    pub iova: u64,
    /// Bytes.
    pub length: usize,
    /// Where it is mapped.
    pub address: usize,
    /// The node.
    pub socket: i32,
    /// Bytes of a page.
    pub page: u64,
    /// Memory channels and ranks (`-n`, `-r`).
    pub channels: [u32; 2],
    /// Its file, -1 for none.
    pub fd: i32,
}

impl fmt::Display for PhysmemRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([list, at], [channels, ranks]) = (self.segment, self.channels);
        write!(
            f,
            "Segment {list}-{at}: IOVA:0x{:x}, len:{}, virt:{:#x}",
            self.iova, self.length, self.address
        )?;
        write!(f, ", socket_id:{}, hugepage_sz:{}", self.socket, self.page)?;
        writeln!(f, ", nchannel:{channels:x}, nrank:{ranks:x} fd:{}", self.fd)
    }
}

/// A row of `dump memzone`.
#[derive(Debug, Clone, Copy)]
pub struct MemzoneRow<'a> {
    /// Its place in the table.
    pub index: usize,
    /// Its name.
    pub name: &'a str,
    /// Bytes.
    pub length: usize,
    /// Where it is.
    pub address: usize,
    /// The node.
    pub socket: i32,
    /// `RTE_MEMZONE_*` bits.
    pub flags: u32,
    /// What it lies on: address, IO address, bytes, bytes of a page.
    pub pieces: &'a [(usize, u64, usize, usize)],
}

impl fmt::Display for MemzoneRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MemzoneRow {
            index,
            name,
            length,
            address,
            socket,
            flags,
            pieces,
        } = self;
        write!(
            f,
            "Zone {index}: name:<{name}>, len:0x{length:x}, virt:{address:#x}, "
        )?;
        writeln!(
            f,
            "socket_id:{socket}, flags:{flags:x}\nphysical segments used:"
        )?;
        pieces.iter().try_for_each(|(address, iova, length, page)| {
            writeln!(
                f,
                "  addr: {address:#x} iova: 0x{iova:x} len: 0x{length:x} pagesz: 0x{page:x}"
            )
        })
    }
}

/// `dump devargs`: bus, device name and arguments, in the order of the command line.
#[derive(Debug, Clone, Copy)]
pub struct DevargsDump<'a>(
    /// Bus, name, arguments (empty for none).
    pub &'a [(&'a str, &'a str, &'a str)],
);

impl fmt::Display for DevargsDump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "User device list:")?;
        self.0
            .iter()
            .try_for_each(|(bus, name, arguments)| writeln!(f, "  [{bus}]: {name} {arguments}"))
    }
}

/// A row of `dump lcores`.
#[derive(Debug, Clone, Copy)]
pub struct LcoreRow<'a> {
    /// Its id.
    pub id: u32,
    /// Its node.
    pub socket: u32,
    /// `RTE`, `SERVICE` or `NON_EAL`.
    pub role: &'a str,
    /// The CPUs it may run on, as a list.
    pub cpuset: &'a str,
    /// Busy and all cycles, while `--record-core-cycles` is on.
    pub cycles: Option<[u64; 2]>,
}

impl fmt::Display for LcoreRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LcoreRow {
            id,
            socket,
            role,
            cpuset,
            ..
        } = self;
        write!(
            f,
            "lcore {id}, socket {socket}, role {role}, cpuset {cpuset}"
        )?;
        if let Some([busy, total]) = self.cycles.filter(|[_, total]| *total > 0) {
            let hundredths =
                (u128::from(busy) * 10_000 + u128::from(total) / 2) / u128::from(total);
            write!(
                f,
                ", busy cycles {busy}/{total} (ratio {}.{:02}%)",
                hundredths / 100,
                hundredths % 100
            )?;
        }
        writeln!(f)
    }
}

#[cfg(test)]
#[path = "dump_tests.rs"]
mod tests;
