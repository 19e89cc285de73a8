//! `quarry debug bench FILE…`: what reading files costs, in one process and on one thread. `tests/load/formats.py` runs it
//! once for each format.

use std::path::PathBuf;
use std::time::Instant;

use quarry_runtime::Config;
use serde_json::json;

use super::reading;
use crate::exit::{Exit, Failure};
use crate::output;

/// Ticks in which Linux counts processor time, per second: fixed by its interface to programs.
const TICKS: f64 = 100.0;

/// Reads every file once to warm up (dictionaries are loaded once a process), then `rounds` times.
pub(super) fn run(config: &Config, paths: &[PathBuf], rounds: u32) -> Result<Exit, Failure> {
    let sources = paths.iter().map(|path| reading::open(path)).collect::<Result<Vec<_>, _>>()?;
    let failures: Vec<String> = paths
        .iter()
        .zip(&sources)
        .filter_map(|(path, source)| {
            reading::parse(path, source, &config.limits).err().map(|failure| format!("{}: {}", source.name, failure.error))
        })
        .collect();
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    for _ in 0..rounds {
        for (path, source) in paths.iter().zip(&sources) {
            // A file that cannot be read was told of above; refusing it costs time, too.
            drop(reading::parse(path, source, &config.limits));
        }
    }
    let cpu_seconds = cpu_seconds().zip(cpu).map(|(after, before)| after - before);
    output::json(&json!({
        "documents": paths.len(),
        "rounds": rounds,
        "bytes": sources.iter().map(|source| source.bytes.len()).sum::<usize>(),
        "failures": failures,
        "cpu_seconds": cpu_seconds,
        "wall_seconds": wall.elapsed().as_secs_f64(),
        "peak_bytes": peak_bytes(),
    }))?;
    Ok(Exit::Ok)
}

/// Processor time of this process so far, where the system tells it: fields 14 and 15 of `/proc/self/stat`.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS)
}

/// The most memory this process ever held, where the system tells it.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
