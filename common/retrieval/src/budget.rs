//! One token budget for everything a query may spend: reserve, then commit what was used or refund. It cannot be
//! exceeded, by whatever mixture of steps, failures and concurrency.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use quarry_model::retrieval::{BudgetReport, OmittedPart};

/// What a share of the budget is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Decomposing the query.
    Planner,
    /// Choosing sections.
    Navigator,
    /// What the answer shows.
    Evidence,
}

impl Phase {
    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Navigator => "navigator",
            Self::Evidence => "evidence",
        }
    }
}

#[derive(Debug, Default)]
struct State {
    used: u64,
    reserved: u64,
    by_phase: BTreeMap<Phase, u64>,
}

/// The budget of one query. Shared by its steps.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    state: Mutex<State>,
}

/// Tokens set aside; given back when dropped without a commit.
#[derive(Debug)]
pub struct Reservation<'a> {
    budget: &'a Budget,
    phase: Phase,
    tokens: u64,
}

impl Budget {
    /// A budget of `limit` tokens.
    pub fn new(limit: u64) -> Self {
        Self { limit, state: Mutex::default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was allowed.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Neither used nor set aside.
    pub fn left(&self) -> u64 {
        let state = self.state();
        self.limit - state.used - state.reserved
    }

    /// Sets tokens aside; `None` when there are not so many left.
    pub fn reserve(&self, phase: Phase, tokens: u64) -> Option<Reservation<'_>> {
        let mut state = self.state();
        if tokens > self.limit - state.used - state.reserved {
            return None;
        }
        state.reserved += tokens;
        Some(Reservation { budget: self, phase, tokens })
    }

    /// Sets aside all that is left.
    pub fn reserve_rest(&self, phase: Phase) -> Reservation<'_> {
        let mut state = self.state();
        let tokens = self.limit - state.used - state.reserved;
        state.reserved += tokens;
        Reservation { budget: self, phase, tokens }
    }

    /// What was spent, and what did not fit.
    pub fn report(&self, omitted: Vec<OmittedPart>) -> BudgetReport {
        let state = self.state();
        BudgetReport {
            limit: self.limit,
            used: state.used,
            by_phase: state.by_phase.iter().map(|(phase, tokens)| (phase.name().to_owned(), *tokens)).collect(),
            truncated: !omitted.is_empty(),
            omitted,
        }
    }
}

impl Reservation<'_> {
    /// Tokens set aside.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Counts what was used (never more than was set aside) and gives the rest back, both under one lock: between the two
    /// other steps would see the same tokens used and set aside, and more spent than the limit.
    pub fn commit(mut self, used: u64) {
        let tokens = std::mem::take(&mut self.tokens);
        let used = used.min(tokens);
        let mut state = self.budget.state();
        state.reserved -= tokens;
        state.used += used;
        *state.by_phase.entry(self.phase).or_default() += used;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.budget.state().reserved -= self.tokens;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_committed_comes_back() {
        let budget = Budget::new(100);
        let first = budget.reserve(Phase::Planner, 80).unwrap();
        assert!(budget.reserve(Phase::Evidence, 21).is_none());
        first.commit(30);
        assert_eq!(budget.left(), 70);
        drop(budget.reserve(Phase::Navigator, 70).unwrap());
        let rest = budget.reserve_rest(Phase::Evidence);
        assert_eq!(rest.tokens(), 70);
        rest.commit(1_000);
        let report = budget.report(vec![]);
        assert_eq!((report.used, report.limit), (100, 100));
        assert_eq!(report.by_phase, [("evidence".to_owned(), 70), ("planner".to_owned(), 30)].into());
    }

    /// Tokens being committed were for a moment counted twice, and what was left fell below nothing.
    #[test]
    fn a_commit_is_seen_whole() {
        for _ in 0..2_000 {
            let budget = Budget::new(10);
            std::thread::scope(|scope| {
                scope.spawn(|| budget.reserve(Phase::Evidence, 10).expect("all of it is left").commit(10));
                scope.spawn(|| while budget.left() > 0 {});
            });
            assert_eq!(budget.report(vec![]).used, 10);
        }
    }

    proptest! {
        #[test]
        fn never_exceeded_by_any_mixture(limit in 0_u64..500, steps in prop::collection::vec((0_u64..200, 0_u64..300, any::<bool>()), 0..40)) {
            let budget = Budget::new(limit);
            std::thread::scope(|scope| {
                for half in steps.chunks(steps.len().div_ceil(2).max(1)) {
                    let budget = &budget;
                    scope.spawn(move || {
                        for &(ask, used, keep) in half {
                            if let Some(reservation) = budget.reserve(Phase::Navigator, ask)
                                && keep { reservation.commit(used) }
                            assert!(budget.left() <= limit);
                        }
                    });
                }
            });
            let report = budget.report(vec![]);
            prop_assert!(report.used <= limit);
            prop_assert_eq!(report.used + budget.left(), limit);
        }
    }
}
