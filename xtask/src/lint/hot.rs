//! No call inside a hot loop: a call a packet is what a vector kernel that didn't inline gives, and no test shows it but
//! a slow one. The release program is disassembled; in every function marked as hot, each loop may call only what is
//! named as cold. A loop is what lies between a backward jump and its target.

use std::collections::BTreeSet;
use std::process::Command;

use super::{Finding, Tree};
use crate::shell;

/// Functions that hold a packet loop carry this in their name and are never inlined.
const HOT: &[&str] = &["hot_"];
/// What a hot loop may call: the rare ways out, each a function of its own.
const COLD: &[&str] = &[
    "cold_",
    "core::panicking::",
    "core::slice::index::",
    "alloc::alloc::handle_alloc_error",
];

/// One instruction of a function.
#[derive(Debug, PartialEq, Eq)]
struct Instruction {
    address: u64,
    kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// To an address.
    Jump(u64),
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
    HOT.iter()
        .any(|mark| name.split("::").any(|part| part.starts_with(mark)))
}

fn is_cold(name: &str) -> bool {
    COLD.iter().any(|mark| name.contains(mark))
}

fn judge(function: &Function) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    for (low, high) in loops(function) {
        for instruction in &function.body {
            let Kind::Call(to) = &instruction.kind else {
                continue;
            };
            if (low..=high).contains(&instruction.address) && !is_cold(to) {
                seen.insert((instruction.address, to));
            }
        }
    }
    let findings = seen.into_iter();
    findings
        .map(|(at, to)| {
            Finding::new(
                format!("{} at {at:x}", function.name),
                format!("calls {to} inside a loop"),
            )
        })
        .collect()
}

/// Address ranges between backward jumps and their targets.
fn loops(function: &Function) -> Vec<(u64, u64)> {
    let Some(first) = function.body.first() else {
        return Vec::new();
    };
    let backward = function
        .body
        .iter()
        .filter_map(|instruction| match instruction.kind {
            Kind::Jump(to) if (first.address..=instruction.address).contains(&to) => {
                Some((to, instruction.address))
            }
            _ => None,
        });
    backward.collect()
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
    let jump = word.starts_with('j')
        || word == "b"
        || word.starts_with("b.")
        || word.starts_with("cb")
        || word.starts_with("tb");
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
        Some(to) if jump => Kind::Jump(to),
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
    fn other_processors_read_alike() {
        assert_eq!(kind("b.ne\t1006 <x+0x6>  // b.any"), Kind::Jump(0x1006));
        assert_eq!(kind("cbnz\tx1, 1006 <x+0x6>"), Kind::Jump(0x1006));
        assert_eq!(kind("bl\t3000 <memcpy>"), Kind::Call("memcpy".to_owned()));
    }
}
