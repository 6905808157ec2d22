//! The committed corpora, and the short form of fuzzing: mutations of them from a fixed seed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::TARGETS;

/// Per file of a corpus.
const MUTATIONS: usize = 2000;

fn folder(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(part)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    paths.sort();
    paths
}

/// Marsaglia's xorshift, so that a failure comes again.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end.max(1)
    }
}

fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut data = seed.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(data.len());
        match random.below(5) {
            0 => data.truncate(at),
            1 if !data.is_empty() => data[at] ^= 1 << random.below(8),
            2 if !data.is_empty() => {
                data[at] = [0, 1, 0x7f, 0x80, 0xff, b',', b'=', b' '][random.below(8)]
            }
            3 => data.insert(at, random.below(256) as u8),
            _ => {
                let piece = data[at..].to_vec();
                data.extend(piece);
            }
        }
    }
    data
}

#[test]
fn corpora_and_mutations_of_them_hold() {
    for (name, target) in TARGETS {
        let seeds = files(&folder("corpus").join(name));
        assert!(!seeds.is_empty(), "the corpus of {name} is empty");
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for path in seeds {
            let seed =
                fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            target(&seed);
            for _ in 0..MUTATIONS {
                target(&mutate(&seed, &mut random));
            }
        }
    }
}

#[test]
fn every_target_has_a_program_and_every_program_a_target() {
    let names: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let stem = |path: PathBuf| {
        path.file_stem()
            .expect("a file name")
            .to_string_lossy()
            .into_owned()
    };
    let programs: BTreeSet<String> = files(&folder("src/bin")).into_iter().map(stem).collect();
    assert_eq!(names, programs);
}
