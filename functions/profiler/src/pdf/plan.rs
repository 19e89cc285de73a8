//! How a long document is cut into runs of pages.

use quarry_model::pdf::Shard;

/// Fewest pages of a run, where the limit on its pages allows as many: opening the file costs as much as reading several.
const FEWEST_PAGES: u32 = 20;

/// Cuts `count` pages into runs of at most `most`. Each run ends where a part of the document ends: of the first level if
/// there is such a place at a fair distance, else of the second; where no part is known, runs are of one length.
pub(crate) fn plan(count: u32, first_level: &[u32], second_level: &[u32], most: u32) -> Vec<Shard> {
    let most = most.max(1);
    let fewest = FEWEST_PAGES.min(most.div_ceil(2));
    let mut shards = Vec::new();
    let (mut first, mut depth) = (1u32, u32::from(first_level.contains(&1)));
    while first <= count {
        let left = count.saturating_sub(first).saturating_add(1);
        let runs = left.div_ceil(most);
        if runs <= 1 {
            shards.push(Shard { first, last: count, depth });
            break;
        }
        // Runs of one length are the aim: they are read side by side, and the longest is waited for.
        let even = left.div_ceil(runs);
        let (least, longest) = ((even / 2).max(fewest), most.min(left.saturating_sub(fewest)).max(1));
        let fits = |page: &u32| page.checked_sub(first).is_some_and(|length| (least..=longest).contains(&length));
        let nearest = |pages: &[u32]| pages.iter().copied().filter(fits).min_by_key(|page| page.abs_diff(first.saturating_add(even)));
        let (next, next_depth) = match (nearest(first_level), nearest(second_level)) {
            (Some(page), _) => (page, 1),
            (None, Some(page)) => (page, 2),
            (None, None) => (first.saturating_add(even.min(longest)), 0),
        };
        shards.push(Shard { first, last: next.saturating_sub(1), depth });
        (first, depth) = (next, next_depth);
    }
    shards
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(shards: &[Shard]) -> Vec<(u32, u32, u32)> {
        shards.iter().map(|shard| (shard.first, shard.last, shard.depth)).collect()
    }

    #[test]
    fn without_parts_runs_are_of_one_length() {
        assert_eq!(runs(&plan(250, &[], &[], 200)), [(1, 125, 0), (126, 250, 0)]);
        assert_eq!(plan(1_500, &[], &[], 200).len(), 8);
    }

    #[test]
    fn runs_end_where_parts_end() {
        let chapters = [1, 40, 110, 205, 230];
        assert_eq!(runs(&plan(250, &chapters, &[120], 200)), [(1, 109, 1), (110, 250, 1)]);
        assert_eq!(runs(&plan(250, &[1], &[130, 240], 200)), [(1, 129, 1), (130, 250, 2)]);
        // Parts of the first level too near, or too far, for a run.
        assert_eq!(runs(&plan(250, &[1, 5, 245], &[], 200)), [(1, 125, 1), (126, 250, 0)]);
    }

    #[test]
    fn every_page_is_in_one_run_of_a_fair_length() {
        for count in [201, 202, 219, 220, 399, 400, 401, 777, 1_500] {
            for every in [1, 3, 17, 60, 190, 350] {
                let chapters: Vec<u32> = (1..=count).step_by(every).collect();
                for most in [1, 2, 25, 200] {
                    let shards = plan(count, &chapters, &[], most);
                    let mut next = 1;
                    for shard in &shards {
                        assert_eq!(shard.first, next, "{count} pages, chapters every {every}, at most {most}");
                        let pages = shard.last + 1 - shard.first;
                        assert!(pages <= most && pages >= FEWEST_PAGES.min(most / 2), "{shard:?} of {count}, {every}, {most}");
                        next = shard.last + 1;
                    }
                    assert_eq!(next, count + 1);
                }
            }
        }
    }
}
