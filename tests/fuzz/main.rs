//! A fuzz target for each parser, on stable Rust and without an engine from outside: files are changed at random, structure
//! included, and everything a parser offers is asked of them. A panic, a hang or an abort is a find: the input is kept in
//! `target/fuzz-finds`, and what is mended moves to `tests/fuzz/finds/<target>`, which every run reads first.
//!
//! ```text
//! QUARRY_FUZZ_SECONDS=300 QUARRY_FUZZ_TARGETS=docx,pdf cargo test --release -p quarry-tests --test fuzz
//! ```
//!
//! The seconds are for each target; without them every target runs for a moment, so that it is known to run, and without
//! targets all do. `QUARRY_FUZZ_SEED` repeats a run.

mod change;
mod formats;
mod pdf;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use change::{Chance, changed};
use quarry_tests::repository;

const STACK_BYTES: usize = 64 << 20;
/// Longest reading of one input: far above what any of the small files needs.
const PATIENCE: Duration = Duration::from_secs(20);
/// A run that only shows that it runs.
const MOMENT: Duration = Duration::from_millis(150);

type Input = Box<dyn Fn(&mut Chance) -> Vec<u8>>;
/// Reads an input; of every sixteenth more is asked.
type Exercise = Arc<dyn Fn(&[u8], bool) + Send + Sync>;

struct Target {
    name: String,
    input: Input,
    exercise: Exercise,
}

fn targets() -> Vec<Target> {
    let corpus = pdf::corpus();
    let pdf = Target {
        name: "pdf".into(),
        input: Box::new(move |chance| changed(&corpus, pdf::TOKENS, chance)),
        exercise: Arc::new(pdf::exercise),
    };
    let others = formats::targets().into_iter().map(|target| {
        let target = Arc::new(target);
        let read = Arc::clone(&target);
        Target {
            name: target.format.name().to_owned(),
            input: Box::new(move |chance| target.input(chance)),
            exercise: Arc::new(move |bytes, _| read.exercise(bytes)),
        }
    });
    std::iter::once(pdf).chain(others).collect()
}

/// Whether an input is read without a panic and in time.
fn survives(exercise: &Exercise, bytes: &[u8], more: bool) -> Result<(), String> {
    let (send, receive) = mpsc::channel();
    let (input, exercise) = (bytes.to_vec(), Arc::clone(exercise));
    let work = move || {
        let ended = catch_unwind(AssertUnwindSafe(|| exercise(&input, more)));
        let _ = send.send(ended.map_err(|panic| {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
        }));
    };
    thread::Builder::new().stack_size(STACK_BYTES).spawn(work).map_err(|error| error.to_string())?;
    match receive.recv_timeout(PATIENCE) {
        Ok(ended) => ended.map_err(|panic| format!("panic: {panic}")),
        Err(_) => Err(format!("no end after {PATIENCE:?}")),
    }
}

/// How many inputs a target was given, and how many of them are finds.
fn run(target: &Target, seed: u64, time: Duration) -> (u64, u64) {
    let (mended, found) = (repository().join("tests/fuzz/finds").join(&target.name), repository().join("target/fuzz-finds"));
    let mut finds = 0;
    let mut known: Vec<PathBuf> = std::fs::read_dir(&mended).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    known.sort();
    for path in known {
        let bytes = std::fs::read(&path).expect("a find");
        if let Err(what) = survives(&target.exercise, &bytes, true) {
            eprintln!("{}: {what}", path.display());
            finds += 1;
        }
    }
    std::fs::create_dir_all(&found).expect("a folder for finds");
    let mut chance = Chance(seed);
    let (begun, mut tried) = (Instant::now(), 0u64);
    while begun.elapsed() < time {
        let bytes = (target.input)(&mut chance);
        tried += 1;
        // What takes the whole process down is found here afterwards.
        let current = found.join(format!("current.{}", target.name));
        std::fs::write(&current, &bytes).expect("the input is kept");
        if let Err(what) = survives(&target.exercise, &bytes, tried.is_multiple_of(16)) {
            finds += 1;
            let kept = found.join(format!("{seed}-{tried}.{}", target.name));
            std::fs::rename(&current, &kept).expect("the find is kept");
            eprintln!("{}: {what}", kept.display());
        }
    }
    (tried, finds)
}

fn main() -> ExitCode {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let time = number("QUARRY_FUZZ_SECONDS").map_or(MOMENT, Duration::from_secs);
    let seed = number("QUARRY_FUZZ_SEED").unwrap_or(1);
    let wanted = std::env::var("QUARRY_FUZZ_TARGETS").unwrap_or_default();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.split(',').any(|one| one.trim() == name);
    let (mut ran, mut all) = (0, 0);
    for target in targets().iter().filter(|target| is_wanted(&target.name)) {
        let (tried, finds) = run(target, seed, time);
        eprintln!("{}: {tried} inputs from seed {seed} in {time:?}: {finds} finds", target.name);
        (ran, all) = (ran + 1, all + finds);
    }
    eprintln!("{ran} targets, {all} finds");
    if all > 0 || ran == 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
