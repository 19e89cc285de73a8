//! Packing the units of one section into chunks.

use quarry_model::Limits;

use super::unit::{Joint, Unit};

/// Groups units, in order, each group at most `chunk_tokens`: a group is closed where that brings it nearest to
/// `chunk_target_tokens` (a third of `chunk_tokens` inside a paragraph), and one under `chunk_tail_tokens` joins its
/// predecessor where it fits. A page's end closes a group too: what is cited by page is read by page. So does an asset that
/// stands between paragraphs, so that a table is read before the text that follows it; one that no text comes before
/// stands alone.
pub(super) fn pack<'a>(units: Vec<Unit<'a>>, limits: &Limits) -> Vec<Vec<Unit<'a>>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for unit in units {
        match groups.last_mut() {
            Some(group) if group.takes(&unit, limits) => group.push(unit),
            _ => groups.push(Group::of(unit)),
        }
    }
    let mut joined: Vec<Group<'a>> = Vec::with_capacity(groups.len());
    for group in groups {
        let small = group.tokens < limits.chunk_tail_tokens || !group.has_text;
        match joined.last_mut() {
            // The other way round for a predecessor that is small itself: the first of its section, or after an asset.
            Some(before)
                if !before.is_closed_to(group.units.first())
                    && (small || before.tokens < limits.chunk_tail_tokens)
                    && before.shares_page(group.page)
                    && before.fits(&group, limits) =>
            {
                before.append(group);
            }
            _ => joined.push(group),
        }
    }
    joined.into_iter().map(|group| group.units).collect()
}

struct Group<'a> {
    units: Vec<Unit<'a>>,
    tokens: u32,
    has_text: bool,
    /// The page its first text begins on.
    page: Option<u32>,
}

impl<'a> Group<'a> {
    fn of(unit: Unit<'a>) -> Self {
        Self { tokens: unit.tokens, has_text: unit.has_text(), page: unit.page, units: vec![unit] }
    }

    fn shares_page(&self, page: Option<u32>) -> bool {
        self.page.is_none() || page.is_none() || self.page == page
    }

    fn push(&mut self, unit: Unit<'a>) {
        self.tokens = self.tokens.saturating_add(cost(&unit));
        self.has_text |= unit.has_text();
        self.page = self.page.or(unit.page);
        self.units.push(unit);
    }

    fn append(&mut self, group: Self) {
        for unit in group.units {
            self.push(unit);
        }
    }

    /// Whether text may not follow any more: an asset stands between it and the text of this group. Text that goes on
    /// with its own paragraph does follow.
    fn is_closed_to(&self, next: Option<&Unit<'a>>) -> bool {
        let ends_with_asset = self.units.last().is_some_and(|unit| !unit.has_text());
        ends_with_asset && next.is_some_and(|unit| unit.has_text() && unit.joint != Joint::Continue)
    }

    fn takes(&self, unit: &Unit<'a>, limits: &Limits) -> bool {
        if self.is_closed_to(Some(unit)) {
            return false;
        }
        let sum = self.tokens.saturating_add(cost(unit));
        if sum > limits.chunk_tokens || !self.shares_page(unit.page) {
            return false;
        }
        // A picture belongs to the text it follows.
        // Parts of one paragraph that is too large belong together more than paragraphs do.
        let target = match unit.joint {
            Joint::Continue => limits.chunk_target_tokens.max(limits.chunk_tokens / 3),
            Joint::Paragraph | Joint::Line => limits.chunk_target_tokens,
        };
        if !unit.has_text() || !self.has_text || sum <= target {
            return true;
        }
        self.tokens < target && target.abs_diff(sum) < target.abs_diff(self.tokens)
    }

    fn fits(&self, group: &Self, limits: &Limits) -> bool {
        let first = group.units.first().map_or(0, cost).saturating_sub(group.units.first().map_or(0, |u| u.tokens));
        self.tokens.saturating_add(group.tokens).saturating_add(first) <= limits.chunk_tokens
    }
}

/// Tokens a unit adds to a chunk: its own and what separates it. Separators that tokens swallow make the sum too high,
/// never too low.
fn cost(unit: &Unit<'_>) -> u32 {
    let separator = match unit.joint {
        Joint::Paragraph | Joint::Line => 1,
        Joint::Continue => 0,
    };
    unit.tokens.saturating_add(separator)
}
