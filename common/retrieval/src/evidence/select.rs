//! Chooses units for a budget: most worth per token first, a leaf's heading counted with its first unit.

use super::leaf::Leaf;
use super::units::Unit;
use super::{counts, render};

/// How much a unit's length counts against it: between not at all (0) and in full (1).
const DENSITY: f32 = 0.75;
/// Spacing and joining cost up to this many tokens per unit more than the unit itself.
const JOIN: u64 = 1;

/// The units that are shown, and those that are not, both in reading order.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub(super) units: Vec<Unit>,
    pub(super) taken: Vec<bool>,
}

/// Chooses units worth most for about `limit` tokens.
pub(super) fn choose(leaves: &[Leaf], units: Vec<Unit>, limit: u64) -> Choice {
    let heads: Vec<u64> =
        leaves.iter().map(|leaf| render::head_lines(leaf).iter().map(|line| u64::from(counts::line(line))).sum()).collect();
    let all: u64 = units.iter().map(|unit| u64::from(unit.tokens) + JOIN).sum::<u64>() + heads.iter().sum::<u64>();
    if all <= limit {
        let taken = vec![true; units.len()];
        return Choice { units, taken };
    }
    let mut order: Vec<usize> = (0..units.len()).collect();
    let worth = |unit: &Unit| unit.value / (unit.tokens as f32 + JOIN as f32).powf(DENSITY);
    order.sort_by(|&a, &b| worth(&units[b]).total_cmp(&worth(&units[a])).then(a.cmp(&b)));
    let mut taken = vec![false; units.len()];
    let mut begun = vec![false; leaves.len()];
    let mut used = 0;
    for index in order {
        let unit = &units[index];
        let head = if begun[unit.leaf] { 0 } else { heads[unit.leaf] };
        let cost = u64::from(unit.tokens) + JOIN + head;
        if used + cost <= limit {
            used += cost;
            taken[index] = true;
            begun[unit.leaf] = true;
        }
    }
    Choice { units, taken }
}
