//! A program of its own for each test: two null ports, started, text captured.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use mpps_console::Session;
use testpmd::app::{App, Output, Which};
use testpmd::app_args::NamesArgs;
use testpmd::command_line;
use testpmd::commands;
use testpmd::plan::{Plan, PlannedDevice};

const NAMES: NamesArgs<'static> = NamesArgs {
    engines: &["io", "mac", "csum", "txonly"],
    macswap: &["auto"],
    copy: &["auto"],
};

fn plan(devices: &str, options: &str) -> Plan {
    let cpus = mpps_cpu::current_affinity().expect("affinity");
    let cpu = cpus.first().expect("a CPU");
    let line = format!(
        "testpmd --no-huge -m 64 --lcores 0@{cpu},1@{cpu},2@{cpu} {devices} -- -i --no-mlockall --total-num-mbufs=2048 {options}"
    );
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let parsed = command_line::parse(&words, NAMES).expect("command line");
    Plan::new(&parsed).expect("plan")
}

/// The program and its console.
pub(crate) struct Rig {
    pub(crate) app: App,
    session: Session<App>,
}

/// What a line was answered with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Rig {
    /// Two null ports, and these options of testpmd.
    pub(crate) fn new(options: &str) -> Self {
        Self::with_devices("--vdev net_null0 --vdev net_null1", options)
    }

    /// These devices and options; lcore 0 is the console's, 1 and 2 forward.
    pub(crate) fn with_devices(devices: &str, options: &str) -> Self {
        Self::start(plan(devices, options))
    }

    /// These devices, whose drivers needn't be in the table.
    pub(crate) fn with_planned(devices: Vec<PlannedDevice>) -> Self {
        Self::with_planned_options(devices, "")
    }

    /// The same with options of testpmd.
    pub(crate) fn with_planned_options(devices: Vec<PlannedDevice>, options: &str) -> Self {
        let mut plan = plan("", options);
        plan.devices = devices;
        Self::start(plan)
    }

    fn start(plan: Plan) -> Self {
        let mut app = App::with_output(plan, Output::captured()).expect("program");
        assert!(app.start_ports(Which::All), "{:?}", app.out.take());
        app.out.take();
        Self {
            app,
            session: commands::session(),
        }
    }

    /// Runs a line.
    pub(crate) fn run(&mut self, line: &str) -> Answer {
        self.session
            .execute(&mut self.app, line)
            .expect("captured output takes everything");
        let text = self.app.out.take();
        Answer {
            out: text.out,
            err: text.err,
        }
    }

    /// Runs lines that are to be silent.
    pub(crate) fn quiet(&mut self, lines: &[&str]) {
        for line in lines {
            let answer = self.run(line);
            assert_eq!(
                (answer.out.as_str(), answer.err.as_str()),
                ("", ""),
                "{line}"
            );
        }
    }

    /// What a line says on standard output; nothing on standard error.
    pub(crate) fn out(&mut self, line: &str) -> String {
        let answer = self.run(line);
        assert_eq!(answer.err, "", "{line}");
        answer.out
    }

    /// What a line says on standard error; nothing on standard output.
    pub(crate) fn err(&mut self, line: &str) -> String {
        let answer = self.run(line);
        assert_eq!(answer.out, "", "{line}");
        answer.err
    }

    /// Stops all ports, runs lines that are to be silent, and starts the ports again.
    pub(crate) fn stopped(&mut self, lines: &[&str]) {
        self.run("port stop all");
        self.quiet(lines);
        let answer = self.run("port start all");
        assert!(answer.out.ends_with("Done\n"), "{answer:?}");
    }

    /// Waits until something is so; workers of other tests may keep the CPU for a while.
    pub(crate) fn until(&mut self, what: &str, mut so: impl FnMut(&mut Self) -> bool) {
        let start = Instant::now();
        while !so(self) {
            assert!(start.elapsed() < Duration::from_secs(20), "never: {what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// A counter of `show port xstats`.
    pub(crate) fn counter(&mut self, port: u16, name: &str) -> u64 {
        let stats = self
            .app
            .port(port)
            .map(|slot| slot.dev.xstats())
            .unwrap_or_default();
        let found = stats.iter().find(|stat| stat.name == name);
        found
            .map(|stat| stat.value)
            .unwrap_or_else(|| panic!("port {port} has no {name}"))
    }

    /// Waits until a counter moves.
    pub(crate) fn until_counted(&mut self, port: u16, name: &str) {
        let before = self.counter(port, name);
        self.until(name, |rig| rig.counter(port, name) > before);
    }

    /// The console's grammar.
    pub(crate) fn session(&self) -> &Session<App> {
        &self.session
    }

    /// Everything that commands configure, as text.
    pub(crate) fn configuration(&mut self) -> String {
        let app = &mut self.app;
        let mut text = format!("{:?}\n", app.args);
        let f = &app.forwarding;
        let _ = writeln!(
            text,
            "{} {} {:?} {:?} {} {:?} {} {:?} {} {} {} {:?} {:?} {} {} {} {:?} {:?} {}",
            f.engine.name,
            f.retry,
            f.retry_figures,
            f.ports,
            f.nb_ports,
            f.lcores,
            f.nb_cores,
            f.topology,
            f.burst,
            f.rxq,
            f.txq,
            f.rxd,
            f.txd,
            f.flush_rx,
            f.record_cycles,
            f.record_bursts,
            f.peers,
            f.layout,
            f.running.is_some(),
        );
        let e = &app.engines;
        let _ = writeln!(
            text,
            "{:?} {:?} {:?} {:?}",
            e.txonly, e.flowgen, e.noisy, e.tunnel_ports
        );
        let _ = writeln!(text, "{} {:?}", app.watch.level(), app.xstats);
        for slot in app.ports.iter_mut().flatten() {
            let _ = writeln!(
                text,
                "{} {} {:#x} {:#x} {:#x} {:?} {:?} {:?}",
                slot.id,
                slot.is_started(),
                slot.rx_offloads,
                slot.tx_offloads,
                slot.rss_types,
                slot.checksum,
                slot.tx_vlan,
                slot.wishes,
            );
            let port = slot.dev.port();
            let queues = port.config().rx.len().max(port.config().tx.len());
            let running: Vec<_> = (0..queues)
                .map(|n| (port.rx_started(n), port.tx_started(n)))
                .collect();
            let modes = (port.promiscuous(), port.allmulticast());
            let _ = writeln!(
                text,
                "{:?} {} {:?} {running:?} {modes:?}",
                port.macs(),
                port.mtu(),
                slot.dev.link()
            );
            if let Some(rss) = slot.dev.rss() {
                let _ = writeln!(text, "{:#x} {:?} {:?}", rss.types(), rss.key(), rss.reta());
            }
        }
        text
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.app.shut_down();
    }
}
