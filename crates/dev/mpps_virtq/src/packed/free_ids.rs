//! Which buffer ids of a packed ring are free: private to the driver, the device never sees it.

/// Free buffer ids, first in first out: a device that uses buffers in order sees them in order all the time, and those in
/// use are neighbours.
pub(crate) struct FreeIds {
    ids: Box<[u16]>,
    head: usize,
    len: usize,
}

impl FreeIds {
    /// All numbers below `size`.
    pub(crate) fn all(size: u16) -> Self {
        Self {
            ids: (0..size).collect(),
            head: 0,
            len: usize::from(size),
        }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The next free id without taking it, if any number can be taken; the last one given back otherwise.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<u16> {
        if self.len == 0 {
            return None;
        }
        let id = self.ids.get(self.head).copied();
        self.head += 1;
        if self.head >= self.ids.len() {
            self.head = 0;
        }
        self.len -= 1;
        id
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, id: u16) {
        let mut at = self.head + self.len;
        if at >= self.ids.len() {
            at -= self.ids.len();
        }
        if let Some(place) = self.ids.get_mut(at) {
            *place = id;
            self.len += 1;
        }
    }
}
