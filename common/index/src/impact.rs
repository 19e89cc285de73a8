//! Lists of what something adds to scores, and the best sums of several of them.
//!
//! Chunks are looked at in windows of 64. Every list knows the most it adds anywhere in a window, so the sum of these is
//! a bound for every chunk there: floating-point addition never falls when an operand grows, and both sums are made in
//! the same order. Windows of high bounds are added up first; what they give decides which of the others can be left
//! out. The result is that of adding up everything (the idea is *block-max pruning*: Ding and Suel 2011; Mallia, Suel and
//! Tonellotto 2024).

/// Chunks in a window: as many as a word has bits. Fewer give sharper bounds and more of them; 16 were slower.
const WINDOW: u32 = 64;
/// Steps of the bounds when windows are chosen.
const STEPS: usize = 64;
/// Scores closer than this are equal: sums of floating-point numbers differ by less.
const RESOLUTION: f32 = 1e4;

/// What chunks add to one channel's score, beside a list of the chunks.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    /// One for each chunk of the list, above 0.
    values: Vec<f32>,
    /// The largest in each window; empty for lists that are rarer than windows.
    maxima: Vec<f32>,
}

impl Scores {
    /// Scores of `docs` in a split of `chunks`.
    pub(crate) fn new(docs: &[u32], values: Vec<f32>, chunks: u32) -> Self {
        let windows = chunks.div_ceil(WINDOW) as usize;
        let mut maxima = Vec::new();
        if docs.len() > windows / 4 {
            maxima.resize(windows, 0.0_f32);
            for (&doc, &value) in docs.iter().zip(&values) {
                let most = &mut maxima[(doc / WINDOW) as usize];
                *most = most.max(value);
            }
        }
        Self { values, maxima }
    }

    /// Bytes held in memory.
    pub(crate) fn weight(&self) -> usize {
        4 * (self.values.len() + self.maxima.len())
    }
}

/// A list that takes part in a sum.
pub(crate) struct Part<'a> {
    /// Its chunks.
    pub(crate) docs: &'a [u32],
    /// What they add.
    pub(crate) scores: &'a Scores,
    /// Which of them may be found at all by this list; `None` for all.
    pub(crate) opens: Option<&'a [bool]>,
}

/// The best chunks of one split.
pub(crate) struct Best {
    limit: usize,
    /// Rounded score and chunk, and the score.
    found: Vec<(i64, u32, f32)>,
    /// Rounded scores below this are of no use.
    floor: i64,
    /// Scores below this are certainly none of those: what is cheap to ask first.
    least: f32,
}

impl Best {
    /// The `limit` best of those that reach `floor`.
    pub(crate) fn new(limit: usize, floor: i64) -> Self {
        let mut best = Self { limit, found: Vec::with_capacity(2 * limit.min(4096)), floor, least: 0.0 };
        best.raise(floor);
        best
    }

    fn raise(&mut self, floor: i64) {
        self.floor = self.floor.max(floor);
        // A step, and the error of the product that is rounded, below the floor.
        let least = (self.floor.max(0) as f64 - 1.0) / f64::from(RESOLUTION);
        self.least = (least * (1.0 - 1e-6)) as f32;
    }

    fn offer(&mut self, doc: u32, score: f32) {
        if score < self.least {
            return;
        }
        let key = rounded(score);
        if key >= self.floor {
            self.found.push((key, doc, score));
            if self.found.len() >= self.limit.saturating_mul(2) {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        if self.found.len() >= self.limit {
            // Within a split the order of chunks is the order of (document, ordinal).
            self.found.select_nth_unstable_by_key(self.limit - 1, |(key, doc, _)| (-key, *doc));
            self.found.truncate(self.limit);
            self.raise(self.found[self.limit - 1].0);
        }
    }

    /// What was found, in no order, and the floor it leaves for other splits.
    pub(crate) fn finish(mut self) -> (Vec<(i64, u32, f32)>, i64) {
        self.cut();
        (self.found, self.floor)
    }
}

/// A score in the steps that tell scores apart.
fn rounded(score: f32) -> i64 {
    (score * RESOLUTION).round() as i64
}

/// Adds up `parts` (in this order) over a split of `chunks`, and offers what the mask lets through.
pub(crate) fn add_up(parts: &[Part<'_>], chunks: u32, mask: Option<&[bool]>, best: &mut Best) {
    let bounds = bounds(parts, chunks);
    let most = bounds.iter().copied().fold(0.0, f32::max);
    if most <= 0.0 {
        return;
    }
    let scale = STEPS as f32 / most;
    let mut counts = [0_usize; STEPS];
    bounds.iter().for_each(|&bound| counts[((bound * scale) as usize).min(STEPS - 1)] += 1);
    // About as many windows first as could hold the best.
    let (mut first, mut windows) = (STEPS - 1, counts[STEPS - 1]);
    while windows < best.limit && first > 0 {
        first -= 1;
        windows += counts[first];
    }
    let high = first as f32 / scale;
    let mut places = vec![0; parts.len()];
    for is_first in [true, false] {
        places.fill(0);
        for (window, &bound) in bounds.iter().enumerate() {
            if bound >= best.least && bound > 0.0 && (bound >= high) == is_first {
                add_window(parts, &mut places, window as u32 * WINDOW, mask, best);
            }
        }
        best.cut();
    }
}

/// The most that the chunks of each window can have.
fn bounds(parts: &[Part<'_>], chunks: u32) -> Vec<f32> {
    let mut bounds = vec![0.0_f32; chunks.div_ceil(WINDOW) as usize];
    for part in parts {
        if part.scores.maxima.is_empty() {
            let mut entries = part.docs.iter().zip(&part.scores.values).map(|(&doc, &value)| (doc / WINDOW, value)).peekable();
            while let Some((window, mut most)) = entries.next() {
                while let Some((_, value)) = entries.next_if(|(next, _)| *next == window) {
                    most = most.max(value);
                }
                bounds[window as usize] += most;
            }
        } else {
            bounds.iter_mut().zip(&part.scores.maxima).for_each(|(bound, most)| *bound += most);
        }
    }
    bounds
}

fn add_window(parts: &[Part<'_>], places: &mut [usize], base: u32, mask: Option<&[bool]>, best: &mut Best) {
    let mut sums = [0.0_f32; WINDOW as usize];
    let (mut touched, mut open) = (0_u64, 0_u64);
    for (part, place) in parts.iter().zip(places) {
        *place += gallop(&part.docs[*place..], base);
        for at in *place..part.docs.len() {
            let offset = part.docs[at] - base;
            if offset >= WINDOW {
                break;
            }
            touched |= 1 << offset;
            open |= u64::from(part.opens.is_none_or(|opens| opens[at])) << offset;
            sums[offset as usize] += part.scores.values[at];
        }
    }
    let mut bits = touched & open;
    while bits != 0 {
        let offset = bits.trailing_zeros();
        bits &= bits - 1;
        let (doc, score) = (base + offset, sums[offset as usize]);
        if score > 0.0 && mask.is_none_or(|mask| mask[doc as usize]) {
            best.offer(doc, score);
        }
    }
}

/// How many of `docs` come before `doc`, found near the front first.
pub(crate) fn gallop(docs: &[u32], doc: u32) -> usize {
    let mut reach = 1;
    while docs.get(reach - 1).is_some_and(|&other| other < doc) {
        reach *= 2;
    }
    let from = reach / 2;
    from + docs[from..docs.len().min(reach)].partition_point(|&other| other < doc)
}
