//! How one mapping is made: budget, file, address space, node, and what must be resident at once.

use super::{PageSource, Recipe, claim, page_size};
use crate::backing::Backing;
use crate::books::Ticket;
use crate::error::{MemoryError, reserve_hint};
use crate::mapping::{HUGE_PAGE, Mapping, SMALL_PAGE};
use crate::report::{PageKind, PageReport};
use crate::sys::{Binding, Span};
use rustix::io::Errno;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};

impl PageSource {
    pub(super) fn make(&self, recipe: &Recipe<'_>) -> Result<Mapping, MemoryError> {
        let page = match recipe.hugetlb {
            0 if recipe.len > HUGE_PAGE / 2 => HUGE_PAGE,
            0 => SMALL_PAGE,
            size => size,
        };
        let refused = |errno: Errno| MemoryError::Reserve {
            name: recipe.name.to_owned(),
            len: recipe.len as u64,
            hint: reserve_hint(errno),
            source: errno.into(),
        };
        let rounded = recipe
            .len
            .checked_next_multiple_of(page)
            .filter(|len| *len != 0);
        let len = rounded.ok_or_else(|| refused(Errno::INVAL))?;
        let charged = if recipe.hugetlb == 0 { recipe.len } else { len };
        let ticket = self.books.charge(
            recipe.name,
            claim(charged, recipe.node, page_size(recipe.hugetlb)),
        )?;
        let mapping = self.map(recipe, len, ticket).map_err(refused)?;
        let upfront = self.upfront(&mapping, recipe.node);
        mapping.commit(0, upfront)?;
        Ok(mapping)
    }

    /// How much of a new mapping is made resident at once.
    fn upfront(&self, mapping: &Mapping, node: Option<u32>) -> usize {
        if self.config.legacy_mem {
            return mapping.len();
        }
        if mapping.hugetlb == 0 {
            return 0;
        }
        let bytes = self.books.take_floor(node, mapping.len() as u64);
        usize::try_from(bytes).map_or(mapping.len(), |bytes| bytes.min(mapping.len()))
    }

    fn map(&self, recipe: &Recipe<'_>, len: usize, mut ticket: Ticket) -> Result<Mapping, Errno> {
        let align = recipe.hugetlb.max(HUGE_PAGE);
        let file = if recipe.kind == PageKind::Private {
            None
        } else {
            Some(self.file(recipe, len)?)
        };
        let span = self.span(recipe.name, len, align)?;
        let skip = span.align_offset(align);
        // Pages of hugetlbfs are promised to us by the mapping, so that none is missing later; nothing is resident yet.
        let lazy = recipe.hugetlb == 0;
        span.map(
            skip,
            len,
            file.as_ref().map(|(file, offset)| (file.fd(), *offset)),
            lazy,
        )?;
        self.bind(&span, skip, len, recipe.node)?;
        let unit = if recipe.hugetlb == 0 {
            HUGE_PAGE
        } else {
            recipe.hugetlb
        };
        let committed = Arc::new(AtomicU64::new(0));
        let report = PageReport {
            name: recipe.name.to_owned(),
            node: recipe.node,
            kind: recipe.kind,
            addr: span.start().addr().get() + skip,
            len: len as u64,
            committed: 0,
            resident: 0,
            huge: 0,
            page_size: 0,
        };
        ticket.enter(report, Arc::clone(&committed));
        Ok(Mapping {
            name: recipe.name.to_owned(),
            span,
            skip,
            len,
            hugetlb: recipe.hugetlb,
            file,
            chunks: (0..len.div_ceil(unit))
                .map(|_| AtomicBool::new(false))
                .collect(),
            growing: Mutex::new(()),
            committed,
            ticket,
        })
    }

    /// Address space for `len` bytes aligned to `align`, with a gap behind that faults.
    fn span(&self, name: &str, len: usize, align: usize) -> Result<Span, Errno> {
        let room = len.checked_add(align).ok_or(Errno::NOMEM)?;
        let mut next = self
            .next_address
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let hint = next.and_then(|next| next.checked_next_multiple_of(align));
        let span = Span::take(room, hint)?;
        if let Some(hint) = hint {
            *next = hint.checked_add(room);
            let got = span.start().addr().get();
            if got != hint {
                let text = format!(
                    "--base-virtaddr: {hint:#x} is not free, {name} is at {got:#x} instead"
                );
                self.books.notice(text);
            }
        }
        Ok(span)
    }

    /// Nothing to do where there is one node.
    fn bind(&self, span: &Span, skip: usize, len: usize, node: Option<u32>) -> Result<(), Errno> {
        let Some(node) = node.filter(|_| self.machine.nodes().len() > 1) else {
            return Ok(());
        };
        let strict = !self.config.per_node_mb.is_empty();
        span.bind(
            skip,
            len,
            node,
            if strict {
                Binding::Strict
            } else {
                Binding::Preferred
            },
        )
    }

    /// The file for a new mapping, and where in it the mapping goes.
    fn file(&self, recipe: &Recipe<'_>, len: usize) -> Result<(Arc<Backing>, u64), Errno> {
        if !self.config.single_file_segments {
            return Ok((
                Arc::new(self.new_file(recipe, recipe.name, len as u64, false)?),
                0,
            ));
        }
        let key = (recipe.hugetlb, recipe.node);
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match files.get(&key) {
            Some(file) => Arc::clone(file),
            None => {
                let file = Arc::new(self.new_file(recipe, "all", 0, true)?);
                files.insert(key, Arc::clone(&file));
                file
            }
        };
        let offset = file.grow(len as u64, recipe.hugetlb.max(HUGE_PAGE) as u64)?;
        Ok((file, offset))
    }

    fn new_file(
        &self,
        recipe: &Recipe<'_>,
        name: &str,
        len: u64,
        growing: bool,
    ) -> Result<Backing, Errno> {
        if recipe.kind == PageKind::Hugetlb
            && !self.config.in_memory
            && let Some(dir) = &self.huge_dir
        {
            let file = dir.create(len)?;
            return Ok(if growing { file.into_growing() } else { file });
        }
        let huge = (recipe.hugetlb != 0).then_some(recipe.hugetlb);
        let name = format!("{}map_{name}", self.config.file_prefix);
        Backing::memfd(&name, huge, len, growing)
    }
}
