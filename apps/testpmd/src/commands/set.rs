//! The forwarding configuration.

use mpps_console::{Command, Outcome};

use crate::app::App;
use crate::text::{Refusal, Reply};

pub(super) static COMMANDS: [Command<App>; 3] = [
    Command::new("config", "set fwd <mode:choice(modes)>", "Chooses the engine for the next start", |app, args| {
        fwd(app, args.word("mode"), false)
    }),
    Command::new(
        "config",
        "set fwd <mode:choice(modes)> retry",
        "Chooses the engine, and tries again to send what a queue doesn't take",
        |app, args| fwd(app, args.word("mode"), true),
    ),
    Command::new("config", "set burst <packets:u16>", "Sets the packets a burst, 1 to 512", |app, args| {
        let packets = args.u16("packets");
        if app.forwarding.running.is_some() {
            app.out.complain(Refusal::StopForwarding);
        } else if packets > 512 || packets == 0 {
            app.out.complain(Refusal::BurstTooLong(u32::from(packets)));
        } else {
            app.forwarding.burst = packets;
            app.out.line(Reply::Burst(u32::from(packets)));
        }
        Outcome::Done
    }),
];

fn fwd(app: &mut App, mode: &str, retry: bool) -> Outcome {
    match mpps_engines::find(mode) {
        Some(engine) => {
            app.forwarding.engine = engine;
            app.forwarding.retry = retry;
            app.out.line(Reply::FwdMode(engine.name, retry));
        }
        None => app.out.complain(Refusal::FwdMode(mode.to_owned())),
    }
    Outcome::Done
}
