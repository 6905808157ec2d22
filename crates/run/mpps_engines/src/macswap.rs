//! Engine macswap: the two MAC addresses of every packet change places.

use mpps_dev::Lcore;
use mpps_kernels::{MacSwap as Kernel, Marks};

use crate::mac::{marks, tag_all};
use crate::private::make_private;
use crate::{Engine, EngineSpec, Needs, StreamIo, StreamSetup};

pub(crate) const SPEC: EngineSpec = EngineSpec {
    name: "macswap",
    needs: Needs::Both,
    min_frame: Kernel::MIN_FRAME,
    answers: false,
    help: "swap source and destination address of every packet",
    notice: None,
    make: |setup| Ok(Box::new(MacSwap::new(setup))),
};

pub(crate) struct MacSwap {
    kernel: Kernel,
    marks: Marks,
    vlan: (u16, u16),
}

impl MacSwap {
    pub(crate) fn new(setup: &StreamSetup) -> Self {
        Self {
            kernel: setup.settings.macswap,
            marks: marks(&setup.tx),
            vlan: setup.tx.tx_vlan,
        }
    }

    /// Swaps the addresses of all packets in hand.
    #[inline(always)]
    pub(crate) fn work(&mut self, lcore: &mut Lcore, io: &mut StreamIo) {
        let (kernel, marks) = (self.kernel, self.marks);
        if kernel.swap(io.burst.as_mut_slice(), marks) != 0 {
            let dropped = make_private(lcore, &mut io.burst, |packet| {
                kernel.swap(std::slice::from_mut(packet), marks);
            });
            io.stats.dropped.add(dropped);
        }
        tag_all(io.burst.as_mut_slice(), marks, self.vlan);
    }
}

impl Engine for MacSwap {
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool {
        if io.receive(lcore) == 0 {
            return false;
        }
        self.work(lcore, io);
        io.send(lcore);
        true
    }
}
