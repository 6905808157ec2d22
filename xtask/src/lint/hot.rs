//! No call inside a hot loop: a call a packet is what a vector kernel that didn't inline gives, and no test shows it but
//! a slow one. The release program is disassembled; in every function marked as hot, a call that can come again (there is
//! a way from behind it back to it) may only be to what is named as cold.

use std::process::Command;

use super::{Finding, Tree};
use crate::shell;

/// Functions that hold a packet loop begin their name with this and are never inlined.
const MARK: &str = "hot_";
/// Functions of a trait can't choose their name: these hold a packet loop too.
const HOT: &[&str] = &[
    "<mpps_pmd_null::NullRx as",
    "<mpps_pmd_null::NullTx as",
    "<mpps_pmd_ring::Rx<R> as",
    "<mpps_pmd_ring::Tx<R> as",
    "macswap::vector::sse_burst",
    "macswap::vector::x4_burst",
    "<mpps_engines::io::Io as",
    "<mpps_engines::mac::Mac as",
    "<mpps_engines::macswap::MacSwap as",
    "<mpps_engines::rxonly::RxOnly as",
    "<mpps_engines::txonly::TxOnly as",
    "<mpps_engines::flowgen::FlowGen as",
    "<mpps_engines::csum::Csum as",
];
/// What a hot loop may call: the rare ways out, each a function of its own, or one that serves many packets at once.
const COLD: &[&str] = &[
    "cold_",
    "mpps_mbuf::cache::Cache::refill",
    "mpps_mbuf::cache::Cache::spill",
    "mpps_mbuf::cache::Caches::free_slowly",
    "mpps_mbuf::mbuf::Mbuf::reclaim_exclusive",
    "mpps_ring::mpmc::Side::wait_for",
];
/// What never comes back.
const FATAL: &[&str] = &[
    "core::panicking::",
    "core::slice::index::",
    "core::option::",
    "core::result::",
    "handle_alloc_error",
    "_fail",
];

/// One instruction of a function.
#[derive(Debug, PartialEq, Eq)]
struct Instruction {
    address: u64,
    kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// To an address, always.
    Jump(u64),
    /// To an address, or on.
    Branch(u64),
    /// Nowhere in this function.
    End,
    /// To a name, or to nowhere known: through a register or table.
    Call(String),
    Other,
}

#[derive(Debug)]
struct Function {
    name: String,
    body: Vec<Instruction>,
}

pub(super) fn run(tree: &Tree) -> Result<Vec<Finding>, String> {
    let program = match std::env::var_os("MPPS_BIN_DIR") {
        Some(folder) => std::path::PathBuf::from(folder).join("testpmd"),
        None => tree.workspace.target.join("release/testpmd"),
    };
    let missing = if !program.is_file() {
        format!(
            "there is no {} (cargo build --release makes it)",
            program.display()
        )
    } else if !shell::has_program("objdump") {
        "objdump is not installed".to_owned()
    } else {
        String::new()
    };
    if !missing.is_empty() {
        // CI builds the program and installs objdump first.
        if std::env::var_os("MPPS_CI").is_some() {
            return Ok(vec![Finding::new("hot loops", missing)]);
        }
        println!("hot: skipped, {missing}");
        return Ok(Vec::new());
    }
    let mut objdump = Command::new("objdump");
    objdump
        .args([
            "--disassemble",
            "--demangle",
            "--no-show-raw-insn",
            "--wide",
        ])
        .arg(&program);
    let functions = parse(&shell::output(&mut objdump)?);
    let hot: Vec<&Function> = functions
        .iter()
        .filter(|function| is_hot(&function.name))
        .collect();
    if hot.is_empty() {
        return Ok(vec![Finding::new(
            program.display().to_string(),
            "no function is marked as hot, so nothing was judged",
        )]);
    }
    Ok(hot.into_iter().flat_map(judge).collect())
}

/// Marked in any part of its path: a closure belongs to the function around it.
fn is_hot(name: &str) -> bool {
    HOT.iter().any(|hot| name.contains(hot)) || name.split("::").any(|part| part.starts_with(MARK))
}

fn is_cold(name: &str) -> bool {
    COLD.iter().any(|mark| name.contains(mark))
}

fn judge(function: &Function) -> Vec<Finding> {
    let calls = function
        .body
        .iter()
        .enumerate()
        .filter_map(|(at, instruction)| match &instruction.kind {
            Kind::Call(to) if !is_cold(to) && !is_fatal(to) && comes_again(function, at) => {
                Some((instruction.address, to))
            }
            _ => None,
        });
    calls
        .map(|(at, to)| {
            Finding::new(
                format!("{} at {at:x}", function.name),
                format!("calls {to} inside a loop"),
            )
        })
        .collect()
}

fn is_fatal(name: &str) -> bool {
    FATAL.iter().any(|mark| name.contains(mark))
}

/// Whether there is a way from behind an instruction back to it.
fn comes_again(function: &Function, start: usize) -> bool {
    let mut seen = vec![false; function.body.len()];
    let mut next = successors(function, start);
    while let Some(at) = next.pop() {
        if at == start {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            next.extend(successors(function, at));
        }
    }
    false
}

/// Where control can go from an instruction, as indices of the body.
fn successors(function: &Function, at: usize) -> Vec<usize> {
    let following = (at + 1 < function.body.len()).then_some(at + 1);
    let target = |to: u64| {
        function
            .body
            .binary_search_by_key(&to, |instruction| instruction.address)
            .ok()
    };
    match &function.body[at].kind {
        Kind::Jump(to) => target(*to).into_iter().collect(),
        Kind::Branch(to) => target(*to).into_iter().chain(following).collect(),
        Kind::End => Vec::new(),
        Kind::Call(to) if is_fatal(to) => Vec::new(),
        Kind::Call(_) | Kind::Other => following.into_iter().collect(),
    }
}

/// Reads objdump's listing: a line `0000000000001130 <name>:` begins a function, `    1130:<TAB>push   %rbp` is in it.
fn parse(listing: &str) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    for line in listing.lines() {
        if let Some((_, name)) = line
            .strip_suffix(">:")
            .and_then(|line| line.split_once(" <"))
        {
            functions.push(Function {
                name: name.to_owned(),
                body: Vec::new(),
            });
        } else if let (Some(function), Some((address, text))) =
            (functions.last_mut(), line.split_once(":\t"))
            && let Ok(address) = u64::from_str_radix(address.trim(), 16)
        {
            function.body.push(Instruction {
                address,
                kind: kind(text),
            });
        }
    }
    functions
}

/// Of `jne    1150 <name+0x20>`, `call   1040 <memcpy@plt>`, `call   *%rax` and the rest; x86-64 and AArch64.
fn kind(text: &str) -> Kind {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let call = word.starts_with("call") || matches!(word, "bl" | "blr");
    let always = matches!(word, "jmp" | "b");
    let branch = word.starts_with('j')
        || ["b.", "cb", "tb"]
            .iter()
            .any(|start| word.starts_with(start));
    if call {
        let name = rest
            .split_once('<')
            .map_or(rest, |(_, name)| name.strip_suffix('>').unwrap_or(name));
        return Kind::Call(name.to_owned());
    }
    let target = rest
        .split(" <")
        .next()
        .and_then(|operands| operands.rsplit([' ', ',']).next());
    match target.and_then(|word| u64::from_str_radix(word, 16).ok()) {
        Some(to) if always => Kind::Jump(to),
        Some(to) if branch => Kind::Branch(to),
        None if always => Kind::End,
        _ if word.starts_with("ret") || matches!(word, "ud2" | "br" | "udf") => Kind::End,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(call: &str) -> String {
        format!(
            "testpmd:     file format elf64-x86-64\n\n\
             0000000000001000 <mpps_kernels::hot_macswap_avx2>:\n    1000:\tpush   %rbp\n    1001:\tcall   2000 <setup>\n    \
             1006:\tmov    (%rdi),%rax\n    1009:\t{call}\n    100e:\tdec    %rcx\n    \
             1011:\tjne    1006 <mpps_kernels::hot_macswap_avx2+0x6>\n    1013:\tret\n\n\
             0000000000002000 <setup>:\n    2000:\tcall   *%rax\n    2002:\tjmp    2000 <setup>\n"
        )
    }

    fn verdict(call: &str) -> usize {
        let functions = parse(&listing(call));
        assert_eq!(functions.len(), 2);
        functions
            .iter()
            .filter(|function| is_hot(&function.name))
            .flat_map(judge)
            .count()
    }

    #[test]
    fn calls_outside_loops_and_cold_ones_are_fine() {
        assert_eq!(verdict("nop"), 0);
        assert_eq!(verdict("call   3000 <mpps_mbuf::cold_free>"), 0);
        assert_eq!(
            verdict("jmp    100e <mpps_kernels::hot_macswap_avx2+0xe>"),
            0
        );
    }

    #[test]
    fn calls_inside_loops_are_found() {
        assert_eq!(verdict("call   3000 <memcpy@plt>"), 1);
        assert_eq!(verdict("call   *0x10(%rax)"), 1);
    }

    #[test]
    fn a_way_out_behind_the_loop_is_no_part_of_it() {
        // The block at 2009 leaves the loop, calls, and never comes back, though a jump over it goes backward.
        let listing = "0000000000002000 <hot_x>:\n    2000:\tdec    %rcx\n    2003:\tje     2009 <hot_x+0x9>\n    \
            2005:\tjmp    200f <hot_x+0xf>\n    2009:\tcall   3000 <free>\n    200e:\tret\n    \
            200f:\tjmp    2000 <hot_x>\n";
        assert_eq!(parse(listing).iter().flat_map(judge).count(), 0);
        let again = listing.replace("200e:\tret", "200e:\tnop");
        assert_eq!(parse(&again).iter().flat_map(judge).count(), 1);
    }

    #[test]
    fn other_processors_read_alike() {
        assert_eq!(kind("b.ne\t1006 <x+0x6>  // b.any"), Kind::Branch(0x1006));
        assert_eq!(kind("cbnz\tx1, 1006 <x+0x6>"), Kind::Branch(0x1006));
        assert_eq!(kind("bl\t3000 <memcpy>"), Kind::Call("memcpy".to_owned()));
    }
}
