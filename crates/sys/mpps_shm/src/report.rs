//! What became of the mappings: the pages really got, read back from `/proc/self/smaps`.
//!
//! Asking for huge pages and getting them are two things, and a benchmark on the wrong pages lies. Reports are values,
//! made on request.

use crate::error::Size;
use crate::machine::kib_field;
use std::fmt;
use std::fs;

/// Where a mapping's memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageKind {
    /// Pages of hugetlbfs, set aside by the machine's owner.
    Hugetlb,
    /// A memfd that peers can be given.
    Shared,
    /// Anonymous memory of this process alone.
    Private,
}

/// What became of one mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageReport {
    /// What the memory is for.
    pub name: String,
    /// The NUMA node it was asked for.
    pub node: Option<u32>,
    /// Where it comes from.
    pub kind: PageKind,
    /// Address of the first byte.
    pub addr: usize,
    /// Reserved bytes.
    pub len: u64,
    /// Bytes that were committed.
    pub committed: u64,
    /// Bytes resident as the kernel counts them; 0 when nothing is, or `/proc` isn't there.
    pub resident: u64,
    /// Bytes of these on huge pages.
    pub huge: u64,
    /// The page size most of the resident bytes really have, in bytes; 0 as long as nothing is resident.
    pub page_size: u64,
}

impl fmt::Display for PageReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} of {} resident",
            self.name,
            Size(self.resident),
            Size(self.len)
        )?;
        if self.page_size != 0 {
            write!(f, ", pages of {}", Size(self.page_size))?;
        }
        match self.kind {
            PageKind::Hugetlb => write!(f, " from hugetlbfs")?,
            PageKind::Shared | PageKind::Private
                if self.huge != 0 && self.huge != self.resident =>
            {
                write!(f, " ({} of it on 2 MiB pages)", Size(self.huge))?;
            }
            PageKind::Shared | PageKind::Private => {}
        }
        match self.node {
            Some(node) => write!(f, ", node {node}"),
            None => Ok(()),
        }
    }
}

/// Fills in what the kernel says about the mappings at the addresses of `reports`.
pub(crate) fn read_back(reports: &mut [PageReport]) {
    if let Ok(text) = fs::read_to_string("/proc/self/smaps") {
        fill(reports, &text);
    }
}

fn fill(reports: &mut [PageReport], smaps: &str) {
    let mut rest = smaps;
    while !rest.is_empty() {
        let header_end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let (header, body) = rest.split_at(header_end);
        let body_end = next_header(body);
        if let Some(start) = start_address(header) {
            // The kernel may have split a mapping in pieces: every piece adds to it.
            let owner = reports.iter_mut().find(|report| {
                start
                    .checked_sub(report.addr as u64)
                    .is_some_and(|offset| offset < report.len)
            });
            if let Some(report) = owner {
                add(report, &body[..body_end]);
            }
        }
        rest = &body[body_end..];
    }
}

/// Where the next mapping's line starts: fields begin with a capital letter, mappings with a hexadecimal digit.
fn next_header(body: &str) -> usize {
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        if start_address(line).is_some() {
            return at;
        }
        at += line.len();
    }
    at
}

fn start_address(header: &str) -> Option<u64> {
    let range = header.split(' ').next()?;
    let (start, _) = range.split_once('-')?;
    u64::from_str_radix(start, 16).ok()
}

fn add(report: &mut PageReport, fields: &str) {
    let hugetlb = kib_field(fields, "Shared_Hugetlb:") + kib_field(fields, "Private_Hugetlb:");
    let transparent = kib_field(fields, "AnonHugePages:") + kib_field(fields, "ShmemPmdMapped:");
    report.resident += kib_field(fields, "Rss:") + hugetlb;
    report.huge += hugetlb + transparent;
    if report.resident == 0 {
        return;
    }
    report.page_size = if report.kind == PageKind::Hugetlb {
        kib_field(fields, "KernelPageSize:")
    } else if report.huge * 2 > report.resident {
        2 << 20
    } else {
        kib_field(fields, "KernelPageSize:")
    };
}

#[cfg(test)]
mod tests;
