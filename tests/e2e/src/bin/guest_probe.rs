//! What a guest runs to try its network card, and to say in numbers what it saw.
//!
//! ```text
//! guest_probe ping ADDRESS COUNT WINDOW PAUSE    echo requests of random sizes, WINDOW of them on their way at most,
//!                                                up to PAUSE microseconds apart; every reply is checked byte by byte
//! guest_probe serve PORT BYTES                   takes one TCP connection, checks BYTES and sends as many back
//! guest_probe transfer ADDRESS PORT BYTES        the other end of it
//! guest_probe flood ADDRESS                      datagrams for ever
//! ```
//! Ends with status 1 when something was lost or wrong. Made for each boot of a guest; the test that boots it owns it.
#![forbid(unsafe_code)]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketType, ipproto, socket};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A reply that takes longer is taken for one that doesn't come: a lost wake-up is for ever, a busy machine is not.
const PATIENCE: Duration = Duration::from_secs(5);

/// Payload of the largest echo request that isn't fragmented, at an MTU of 1500.
const LARGEST: u64 = 1472;

/// Length of an IPv4 header without options, which a raw socket delivers too.
const IP: usize = 20;

/// Length of an echo request's own header.
const ICMP: usize = 8;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["ping", address, count, window, pause] => ping(address, count, window, pause),
        ["serve", port, bytes] => serve(port, bytes),
        ["transfer", address, port, bytes] => transfer(address, port, bytes),
        ["flood", address] => flood(address),
        _ => Err("ping, serve, transfer or flood".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("failed: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Random numbers that both ends can make (Marsaglia's xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for piece in bytes.chunks_mut(8) {
            piece.copy_from_slice(&self.next().to_le_bytes()[..piece.len()]);
        }
    }
}

/// An echo request that is on its way.
struct Asked {
    sequence: u16,
    size: usize,
    at: Instant,
}

/// What became of the requests.
#[derive(Default)]
struct Seen {
    sent: u32,
    replies: u32,
    wrong: u32,
    late: u32,
    longest: Duration,
}

fn ping(address: &str, count: &str, window: &str, pause: &str) -> Outcome {
    let (count, window, pause): (u32, usize, u64) =
        (count.parse()?, window.parse()?, pause.parse()?);
    let raw = socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::ICMP))?;
    let raw = UdpSocket::from(raw);
    raw.connect((address.parse::<Ipv4Addr>()?, 0))?;
    raw.set_read_timeout(Some(PATIENCE))?;
    let (mut seen, mut asked, mut numbers) = (Seen::default(), Vec::new(), Numbers(0x4d70_7073));
    let begin = Instant::now();
    while seen.sent < count || !asked.is_empty() {
        if seen.sent < count && asked.len() < window {
            if pause > 0 {
                thread::sleep(Duration::from_micros(numbers.next() % pause));
            }
            let size = usize::try_from(numbers.next() % (LARGEST + 1))?;
            let sequence = u16::try_from(seen.sent % 0x1_0000)?;
            raw.send(&request(sequence, size))?;
            seen.sent += 1;
            asked.push(Asked {
                sequence,
                size,
                at: Instant::now(),
            });
        } else {
            take_reply(&raw, &mut asked, &mut seen)?;
        }
    }
    println!(
        "sent {} replies {} wrong {} late {} longest {} us, {} ms in all",
        seen.sent,
        seen.replies,
        seen.wrong,
        seen.late,
        seen.longest.as_micros(),
        begin.elapsed().as_millis()
    );
    if (seen.replies, seen.wrong, seen.late) == (count, 0, 0) {
        Ok(())
    } else {
        Err("not every request was answered as it was sent".into())
    }
}

/// Waits for one packet, and gives up on requests that are too old.
fn take_reply(raw: &UdpSocket, asked: &mut Vec<Asked>, seen: &mut Seen) -> Outcome {
    let mut packet = [0; 2048];
    match raw.recv(&mut packet) {
        Ok(length) => {
            let reply = packet.get(IP..length).unwrap_or_default();
            // Other messages come to a raw socket as well, our own requests to ourselves among them.
            if reply.first() == Some(&0) && reply.len() >= ICMP {
                let sequence = u16::from_be_bytes([reply[6], reply[7]]);
                if let Some(at) = asked.iter().position(|asked| asked.sequence == sequence) {
                    let asked = asked.remove(at);
                    seen.replies += 1;
                    seen.longest = seen.longest.max(asked.at.elapsed());
                    let mut expected = request(asked.sequence, asked.size);
                    expected[0] = 0;
                    fill_checksum(&mut expected);
                    seen.wrong += u32::from(reply != expected);
                }
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
        Err(error) => return Err(error.into()),
    }
    let before = asked.len();
    asked.retain(|asked| asked.at.elapsed() < PATIENCE);
    seen.late += u32::try_from(before - asked.len())?;
    Ok(())
}

/// Type 8, code 0, checksum, identifier, sequence number, and bytes that follow from the number.
fn request(sequence: u16, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; ICMP + size];
    bytes[0] = 8;
    bytes[4..6].copy_from_slice(b"Mp");
    bytes[6..ICMP].copy_from_slice(&sequence.to_be_bytes());
    Numbers(u64::from(sequence) + 1).fill(&mut bytes[ICMP..]);
    fill_checksum(&mut bytes);
    bytes
}

fn fill_checksum(bytes: &mut [u8]) {
    bytes[2..4].fill(0);
    let sum = bytes.chunks(2).fold(0u32, |sum, pair| {
        sum + u32::from(pair[0]) * 256 + u32::from(*pair.get(1).unwrap_or(&0))
    });
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    let [_, _, high, low] = (!folded).to_be_bytes();
    bytes[2..4].copy_from_slice(&[high, low]);
}

fn serve(port: &str, bytes: &str) -> Outcome {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port.parse::<u16>()?))?;
    let (mut stream, _) = listener.accept()?;
    let bytes = bytes.parse()?;
    check(&mut stream, bytes, 1)?;
    send(&mut stream, bytes, 2)
}

fn transfer(address: &str, port: &str, bytes: &str) -> Outcome {
    let (address, port) = (address.parse::<Ipv4Addr>()?, port.parse::<u16>()?);
    let end = Instant::now() + 6 * PATIENCE;
    let mut stream = loop {
        match TcpStream::connect_timeout(&(address, port).into(), PATIENCE) {
            Ok(stream) => break stream,
            Err(error) if Instant::now() > end => return Err(error.into()),
            // The other guest may still boot.
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    };
    let (bytes, begin) = (bytes.parse()?, Instant::now());
    send(&mut stream, bytes, 1)?;
    check(&mut stream, bytes, 2)?;
    println!(
        "{bytes} bytes each way in {} ms",
        begin.elapsed().as_millis()
    );
    Ok(())
}

fn send(stream: &mut TcpStream, mut left: usize, seed: u64) -> Outcome {
    let (mut numbers, mut chunk) = (Numbers(seed), vec![0; 1 << 16]);
    while left > 0 {
        let length = left.min(chunk.len());
        numbers.fill(&mut chunk[..length]);
        stream.write_all(&chunk[..length])?;
        left -= length;
    }
    Ok(())
}

fn check(stream: &mut TcpStream, bytes: usize, seed: u64) -> Outcome {
    stream.set_read_timeout(Some(6 * PATIENCE))?;
    let (mut numbers, mut chunk, mut expected) =
        (Numbers(seed), vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut at = 0;
    while at < bytes {
        let length = (bytes - at).min(chunk.len());
        stream.read_exact(&mut chunk[..length])?;
        numbers.fill(&mut expected[..length]);
        if chunk[..length] != expected[..length] {
            return Err(format!("the stream differs within {length} bytes of byte {at}").into());
        }
        at += length;
    }
    Ok(())
}

fn flood(address: &str) -> Outcome {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.connect((address.parse::<Ipv4Addr>()?, 9))?;
    let payload = [0x5a; 1024];
    loop {
        // A full queue or an unreachable port is no reason to stop.
        let _ = socket.send(&payload);
    }
}
