//! Reading a payload of known length field by field, and writing one.

use std::os::fd::OwnedFd;

use crate::{
    ConfigSpace, DecodeError, Inflight, Iotlb, LogArea, MemoryRegion, VringAddr, VringArea,
    VringState,
};

/// A payload with its message's name and the descriptors that came along.
pub(crate) struct Payload<'a> {
    pub(crate) message: &'static str,
    pub(crate) bytes: &'a [u8],
    pub(crate) fds: Vec<OwnedFd>,
}

/// Reads fields off the front of bytes; beyond the end all is zero, which a checked length keeps from happening.
pub(crate) struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let Some((first, rest)) = self.0.split_first_chunk::<N>() else {
            self.0 = &[];
            return [0; N];
        };
        self.0 = rest;
        *first
    }

    pub(crate) fn u8(&mut self) -> u8 {
        u8::from_ne_bytes(self.take())
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_ne_bytes(self.take())
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_ne_bytes(self.take())
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_ne_bytes(self.take())
    }
}

impl<'a> Payload<'a> {
    /// The fields, after a check that there are exactly `want` bytes of them.
    pub(crate) fn fields(&self, want: usize) -> Result<Fields<'a>, DecodeError> {
        if self.bytes.len() == want {
            Ok(Fields(self.bytes))
        } else {
            Err(self.size(want))
        }
    }

    pub(crate) fn size(&self, want: usize) -> DecodeError {
        DecodeError::Size {
            message: self.message,
            got: self.bytes.len(),
            want,
        }
    }

    fn fd_count(&self, want: usize) -> Result<(), DecodeError> {
        if self.fds.len() == want {
            return Ok(());
        }
        Err(DecodeError::Fds {
            message: self.message,
            got: self.fds.len(),
            want,
        })
    }

    pub(crate) fn no_fds(&self) -> Result<(), DecodeError> {
        self.fd_count(0)
    }

    pub(crate) fn one_fd(&mut self) -> Result<OwnedFd, DecodeError> {
        self.fd_count(1)?;
        let missing = DecodeError::Fds {
            message: self.message,
            got: 0,
            want: 1,
        };
        self.fds.pop().ok_or(missing)
    }

    /// Exactly `want` descriptors, in the order of arrival.
    pub(crate) fn all_fds(&mut self, want: usize) -> Result<Vec<OwnedFd>, DecodeError> {
        self.fd_count(want)?;
        Ok(std::mem::take(&mut self.fds))
    }

    pub(crate) fn empty(&self) -> Result<(), DecodeError> {
        self.fields(0)?;
        self.no_fds()
    }

    pub(crate) fn number(&self) -> Result<u64, DecodeError> {
        let mut fields = self.fields(8)?;
        self.no_fds()?;
        Ok(fields.u64())
    }

    pub(crate) fn vring_state(&self) -> Result<VringState, DecodeError> {
        let mut fields = self.fields(8)?;
        self.no_fds()?;
        Ok(VringState {
            index: fields.u32(),
            num: fields.u32(),
        })
    }

    pub(crate) fn vring_addr(&self) -> Result<VringAddr, DecodeError> {
        let mut fields = self.fields(40)?;
        self.no_fds()?;
        let addr = VringAddr {
            index: fields.u32(),
            flags: fields.u32(),
            descriptor: fields.u64(),
            used: fields.u64(),
            available: fields.u64(),
            log: fields.u64(),
        };
        if addr.flags & !VringAddr::LOG != 0 {
            let flags = u64::from(addr.flags);
            return Err(self.value("flags", flags, "0 or 1"));
        }
        Ok(addr)
    }

    pub(crate) fn value(
        &self,
        field: &'static str,
        value: u64,
        right: &'static str,
    ) -> DecodeError {
        DecodeError::Value {
            message: self.message,
            field,
            value,
            right,
        }
    }

    pub(crate) fn iotlb(&self) -> Result<Iotlb, DecodeError> {
        // The structure in C ends with padding up to 32 bytes; both forms are sent.
        let mut fields = self.fields(if self.bytes.len() == 26 { 26 } else { 32 })?;
        self.no_fds()?;
        Ok(Iotlb {
            iova: fields.u64(),
            size: fields.u64(),
            user: fields.u64(),
            permissions: fields.u8(),
            kind: fields.u8(),
        })
    }

    pub(crate) fn inflight(&self) -> Result<Inflight, DecodeError> {
        // Likewise padded up to 24 bytes by some.
        let mut fields = self.fields(if self.bytes.len() == 24 { 24 } else { 20 })?;
        Ok(Inflight {
            size: fields.u64(),
            offset: fields.u64(),
            queues: fields.u16(),
            queue_size: fields.u16(),
        })
    }

    pub(crate) fn config(&self) -> Result<ConfigSpace, DecodeError> {
        self.no_fds()?;
        if self.bytes.len() < 12 {
            return Err(self.size(12));
        }
        let mut fields = Fields(self.bytes);
        let (offset, size, flags) = (fields.u32(), fields.u32(), fields.u32());
        if usize::try_from(size) != Ok(fields.0.len()) {
            return Err(self.value("size", u64::from(size), "the number of bytes that follow"));
        }
        Ok(ConfigSpace {
            offset,
            flags,
            bytes: fields.0.to_vec(),
        })
    }

    pub(crate) fn area(&self) -> Result<VringArea, DecodeError> {
        let mut fields = self.fields(24)?;
        Ok(VringArea {
            index_and_flags: fields.u64(),
            size: fields.u64(),
            offset: fields.u64(),
        })
    }
}

pub(crate) fn region(fields: &mut Fields<'_>) -> MemoryRegion {
    MemoryRegion {
        guest: fields.u64(),
        size: fields.u64(),
        user: fields.u64(),
        offset: fields.u64(),
    }
}

pub(crate) fn log_area(fields: &mut Fields<'_>) -> LogArea {
    LogArea {
        size: fields.u64(),
        offset: fields.u64(),
    }
}

/// Writes fields one after another.
#[derive(Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn u8(mut self, v: u8) -> Self {
        self.0.push(v);
        self
    }

    pub(crate) fn u16(mut self, v: u16) -> Self {
        self.0.extend(v.to_ne_bytes());
        self
    }

    pub(crate) fn u32(mut self, v: u32) -> Self {
        self.0.extend(v.to_ne_bytes());
        self
    }

    pub(crate) fn u64(mut self, v: u64) -> Self {
        self.0.extend(v.to_ne_bytes());
        self
    }

    pub(crate) fn bytes(mut self, v: &[u8]) -> Self {
        self.0.extend(v);
        self
    }

    pub(crate) fn state(self, state: VringState) -> Self {
        self.u32(state.index).u32(state.num)
    }

    pub(crate) fn addr(self, addr: &VringAddr) -> Self {
        self.u32(addr.index)
            .u32(addr.flags)
            .u64(addr.descriptor)
            .u64(addr.used)
            .u64(addr.available)
            .u64(addr.log)
    }

    pub(crate) fn region(self, region: &MemoryRegion) -> Self {
        self.u64(region.guest)
            .u64(region.size)
            .u64(region.user)
            .u64(region.offset)
    }

    pub(crate) fn iotlb(self, iotlb: &Iotlb) -> Self {
        self.u64(iotlb.iova)
            .u64(iotlb.size)
            .u64(iotlb.user)
            .u8(iotlb.permissions)
            .u8(iotlb.kind)
            .bytes(&[0; 6])
    }

    pub(crate) fn inflight(self, inflight: &Inflight) -> Self {
        self.u64(inflight.size)
            .u64(inflight.offset)
            .u16(inflight.queues)
            .u16(inflight.queue_size)
    }

    pub(crate) fn config(self, config: &ConfigSpace) -> Self {
        self.u32(config.offset)
            .u32(config.bytes.len() as u32)
            .u32(config.flags)
            .bytes(&config.bytes)
    }
}
