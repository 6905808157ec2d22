//! The books: what the options allow, what is handed out, and what there is to tell the user.
//!
//! Made by the page source, shared with its mappings. A [`Ticket`] is an entry: it is taken before memory is asked for
//! and gives the amount back when dropped, so that a failure half way leaves the books right.

use crate::error::MemoryError;
use crate::report::PageReport;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Which memory an option limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    All,
    Node(u32),
    PageSize(u64),
}

/// One limit that an option sets.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) option: String,
    pub(crate) scope: Scope,
    pub(crate) allowed: u64,
    pub(crate) used: u64,
}

/// Memory somebody asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) need: u64,
    pub(crate) node: Option<u32>,
    pub(crate) page_size: u64,
}

impl Account {
    fn covers(&self, claim: Claim) -> bool {
        match self.scope {
            Scope::All => true,
            Scope::Node(node) => claim.node == Some(node),
            Scope::PageSize(size) => claim.page_size == size,
        }
    }
}

/// Memory to be made resident at start: of a node, or of any.
#[derive(Debug)]
pub(crate) struct Floor {
    pub(crate) node: Option<u32>,
    pub(crate) left: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Books {
    page: Mutex<Page>,
}

#[derive(Debug, Default)]
struct Page {
    accounts: Vec<Account>,
    floors: Vec<Floor>,
    live: Vec<Entry>,
    notices: Vec<String>,
    next_id: u64,
}

#[derive(Debug)]
struct Entry {
    id: u64,
    report: PageReport,
    committed: Arc<AtomicU64>,
}

impl Books {
    pub(crate) fn new(accounts: Vec<Account>, floors: Vec<Floor>) -> Books {
        Books {
            page: Mutex::new(Page {
                accounts,
                floors,
                ..Page::default()
            }),
        }
    }

    fn page(&self) -> MutexGuard<'_, Page> {
        // Nothing panics while it is held; a poisoned lock would still guard whole entries.
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says whether `claim` is within all limits.
    pub(crate) fn check(&self, name: &str, claim: Claim) -> Result<(), MemoryError> {
        self.page().check(name, claim)
    }

    /// Enters `claim`, if it is within all limits.
    pub(crate) fn charge(
        self: &Arc<Self>,
        name: &str,
        claim: Claim,
    ) -> Result<Ticket, MemoryError> {
        let mut page = self.page();
        page.check(name, claim)?;
        for account in page
            .accounts
            .iter_mut()
            .filter(|account| account.covers(claim))
        {
            account.used += claim.need;
        }
        Ok(Ticket {
            books: Arc::clone(self),
            claim,
            id: None,
        })
    }

    /// The bytes that may still be handed out on `node`; `None`: as many as the machine has.
    pub(crate) fn left(&self, claim: Claim) -> Option<u64> {
        let page = self.page();
        let covering = page.accounts.iter().filter(|account| account.covers(claim));
        covering
            .map(|account| account.allowed - account.used.min(account.allowed))
            .min()
    }

    /// Takes up to `len` bytes from what must be resident at start on `node`; gives how many.
    pub(crate) fn take_floor(&self, node: Option<u32>, len: u64) -> u64 {
        let mut page = self.page();
        let floor = page
            .floors
            .iter_mut()
            .find(|floor| floor.node.is_none() || floor.node == node);
        floor.map_or(0, |floor| {
            let taken = floor.left.min(len);
            floor.left -= taken;
            taken
        })
    }

    pub(crate) fn notice(&self, text: String) {
        self.page().notices.push(text);
    }

    pub(crate) fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.page().notices)
    }

    /// The live mappings as they were entered, with what was committed since.
    pub(crate) fn live(&self) -> Vec<PageReport> {
        let report = |entry: &Entry| PageReport {
            // Relaxed: a figure for people, ordered with nothing.
            committed: entry.committed.load(Ordering::Relaxed),
            ..entry.report.clone()
        };
        self.page().live.iter().map(report).collect()
    }
}

impl Page {
    fn check(&self, name: &str, claim: Claim) -> Result<(), MemoryError> {
        let short = |account: &&Account| account.covers(claim) && !account.has(claim.need);
        let Some(account) = self.accounts.iter().find(short) else {
            return Ok(());
        };
        Err(MemoryError::Budget {
            name: name.to_owned(),
            need: claim.need,
            allowed: account.allowed,
            used: account.used,
            option: account.option.clone(),
        })
    }
}

impl Account {
    fn has(&self, need: u64) -> bool {
        self.used
            .checked_add(need)
            .is_some_and(|sum| sum <= self.allowed)
    }
}

/// An entry in the books.
#[derive(Debug)]
pub(crate) struct Ticket {
    books: Arc<Books>,
    claim: Claim,
    id: Option<u64>,
}

impl Ticket {
    /// Enters the mapping itself, for the report.
    pub(crate) fn enter(&mut self, report: PageReport, committed: Arc<AtomicU64>) {
        let mut page = self.books.page();
        let id = page.next_id;
        page.next_id += 1;
        page.live.push(Entry {
            id,
            report,
            committed,
        });
        self.id = Some(id);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut page = self.books.page();
        for account in page
            .accounts
            .iter_mut()
            .filter(|account| account.covers(self.claim))
        {
            account.used -= self.claim.need;
        }
        page.live.retain(|entry| Some(entry.id) != self.id);
    }
}

#[cfg(test)]
mod tests;
