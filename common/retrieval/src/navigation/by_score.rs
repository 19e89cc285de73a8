//! The choices that scores make.

use async_trait::async_trait;

use super::{Action, Navigator, View};
use crate::spending::Spending;

/// A hit as strong as this is worth naming its neighbours for.
const STRONG: f32 = 0.5;
/// A title and summary that carry this much of the query are worth naming.
const SAYS: f32 = 0.25;

/// Takes what holds hits, looks below where hits are, and names what its title speaks for or what stands beside a strong
/// hit.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScoreNavigator;

#[async_trait]
impl Navigator for ScoreNavigator {
    fn name(&self) -> String {
        "score".into()
    }

    async fn choose(&self, view: &View<'_>, _: &Spending<'_>) -> Result<Vec<String>, &'static str> {
        Ok(choose(view))
    }
}

/// The ids chosen.
pub(super) fn choose(view: &View<'_>) -> Vec<String> {
    let sections = &view.tree.sections;
    let hit = |at: Option<usize>| at.and_then(|at| sections.get(at)).map_or(0.0, |section| section.hit);
    let wanted = |action: Action| match action {
        Action::Collect(at) => sections[at].hit > 0.0,
        Action::Outline(at) => {
            let beside = hit(at.checked_sub(1)).max(hit(Some(at + 1))) >= STRONG;
            sections[at].hit <= 0.0 && (sections[at].says >= SAYS || beside)
        }
        Action::Expand(at) => sections[at].below > 0.0,
        Action::Back | Action::FindTables | Action::FindImages | Action::Finish => false,
    };
    let mut chosen: Vec<String> = view.offers.iter().filter(|offer| wanted(offer.action)).map(|offer| offer.id.clone()).collect();
    if !view.offers.iter().any(|offer| matches!(offer.action, Action::Expand(at) if sections[at].below > 0.0)) {
        chosen.extend(view.offers.iter().find(|offer| offer.action == Action::Finish).map(|offer| offer.id.clone()));
    }
    chosen
}
