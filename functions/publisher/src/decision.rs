//! What a message means for a document as it stands: a pure function, so that every order of arrival can be tested.

use std::cmp::Ordering;

use quarry_model::message::{PublishAction, PublishMessage};
use quarry_model::record::{DocumentRecord, DocumentStatus};
use quarry_model::{JobId, Revision, SkipReason};

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The revision becomes the active one.
    Activate,
    /// The revision is active already, but by an older source: only the document's record moves on.
    Renew,
    /// The document leaves the index with this status.
    Withdraw(DocumentStatus),
    /// Nothing changes.
    Skip(SkipReason),
}

/// Decides for one message. `record` is the document as the head's readers know it, or as earlier messages of the same
/// group will have left it.
///
/// Older sources never replace newer ones, whichever comes first; of two with the same order the one with the larger
/// job id counts as newer, so that the end does not depend on delivery. A delete leaves a mark that only a source
/// created after it can lift.
pub(crate) fn decide(record: Option<&DocumentRecord>, message: &PublishMessage) -> Decision {
    match &message.action {
        PublishAction::Publish { job_id, revision } => activate(record, message, job_id, revision),
        PublishAction::Archive => withdraw(record, message, DocumentStatus::Archived),
        PublishAction::Delete => withdraw(record, message, DocumentStatus::Deleted),
    }
}

fn activate(record: Option<&DocumentRecord>, message: &PublishMessage, job: &JobId, revision: &Revision) -> Decision {
    let Some(record) = record else {
        return Decision::Activate;
    };
    let active = record.status == DocumentStatus::Active;
    let newer = match message.order.compare(&record.order) {
        Ordering::Greater => true,
        Ordering::Less => false,
        Ordering::Equal => active && record.active_job.as_ref().is_none_or(|current| job >= current),
    };
    let same = active && record.active_revision.as_ref() == Some(revision);
    match (same, newer) {
        (true, true) if record.active_job.as_ref() != Some(job) || record.order != message.order => Decision::Renew,
        (true, _) => Decision::Skip(SkipReason::Duplicate),
        (false, true) => Decision::Activate,
        (false, false) if record.status == DocumentStatus::Deleted => Decision::Skip(SkipReason::Gone),
        (false, false) => Decision::Skip(SkipReason::Older),
    }
}

fn withdraw(record: Option<&DocumentRecord>, message: &PublishMessage, into: DocumentStatus) -> Decision {
    let Some(record) = record else {
        // A delete that overtakes the first publication must still win over it; an archive has nothing to keep.
        return if into == DocumentStatus::Deleted { Decision::Withdraw(into) } else { Decision::Skip(SkipReason::Gone) };
    };
    let order = message.order.compare(&record.order);
    match (record.status, into) {
        (DocumentStatus::Active, _) if order == Ordering::Less => Decision::Skip(SkipReason::Older),
        (DocumentStatus::Active, _) | (DocumentStatus::Archived, DocumentStatus::Deleted) => Decision::Withdraw(into),
        (DocumentStatus::Deleted, DocumentStatus::Archived) => Decision::Skip(SkipReason::Gone),
        // Asked again later: sources created in between are older than this, so the mark moves on.
        (DocumentStatus::Archived | DocumentStatus::Deleted, _) if order == Ordering::Greater => Decision::Withdraw(into),
        (DocumentStatus::Archived | DocumentStatus::Deleted, _) => Decision::Skip(SkipReason::Duplicate),
    }
}

#[cfg(test)]
mod tests {
    use quarry_model::record::Order;
    use quarry_model::{DocumentId, Namespace, Owner, Scope, Timestamp};
    use serde_json::Map;

    use super::*;

    fn scope() -> Scope {
        Scope::new(Owner::local(), Namespace::default())
    }

    fn order(millis: i64) -> Order {
        Order { created_millis: millis, sequencer: None }
    }

    fn job(n: u8) -> JobId {
        JobId::from_random([n; 6])
    }

    fn revision(n: u8) -> Revision {
        Revision::of(&n.to_string(), "test", "{}")
    }

    fn record(status: DocumentStatus, millis: i64, revision: Option<Revision>) -> DocumentRecord {
        DocumentRecord {
            schema_version: 1,
            document_id: DocumentId::from_random([9; 6]),
            scope: scope(),
            status,
            active_revision: revision,
            active_job: Some(job(5)),
            source_file_name: "a.md".into(),
            source_sha256: None,
            metadata: Map::new(),
            order: order(millis),
            chunk_count: 1,
            summary: String::new(),
            created_at: Timestamp::default(),
            updated_at: Timestamp::default(),
            archived_at: None,
        }
    }

    fn message(millis: i64, action: PublishAction) -> PublishMessage {
        PublishMessage { scope: scope(), document_id: DocumentId::from_random([9; 6]), order: order(millis), action }
    }

    fn publish(millis: i64, by: u8, what: u8) -> PublishMessage {
        message(millis, PublishAction::Publish { job_id: job(by), revision: revision(what) })
    }

    #[test]
    fn newer_sources_replace_older_ones_and_never_the_other_way() {
        let active = record(DocumentStatus::Active, 10, Some(revision(1)));
        assert_eq!(decide(None, &publish(1, 1, 1)), Decision::Activate);
        assert_eq!(decide(Some(&active), &publish(11, 1, 2)), Decision::Activate);
        assert_eq!(decide(Some(&active), &publish(9, 1, 2)), Decision::Skip(SkipReason::Older));
        assert_eq!(decide(Some(&active), &publish(10, 6, 2)), Decision::Activate, "larger job id counts as newer");
        assert_eq!(decide(Some(&active), &publish(10, 4, 2)), Decision::Skip(SkipReason::Older));
        assert_eq!(decide(Some(&active), &publish(10, 5, 2)), Decision::Activate, "a retry of the same job by a newer parser");
    }

    #[test]
    fn the_same_revision_again_changes_nothing_but_a_newer_source_of_it_moves_the_order_on() {
        let active = record(DocumentStatus::Active, 10, Some(revision(1)));
        assert_eq!(decide(Some(&active), &publish(10, 5, 1)), Decision::Skip(SkipReason::Duplicate));
        assert_eq!(decide(Some(&active), &publish(9, 4, 1)), Decision::Skip(SkipReason::Duplicate));
        assert_eq!(decide(Some(&active), &publish(11, 6, 1)), Decision::Renew);
    }

    #[test]
    fn a_delete_is_lifted_only_by_what_was_created_after_it() {
        let deleted = record(DocumentStatus::Deleted, 10, None);
        assert_eq!(decide(Some(&deleted), &publish(9, 1, 1)), Decision::Skip(SkipReason::Gone));
        assert_eq!(decide(Some(&deleted), &publish(10, 9, 1)), Decision::Skip(SkipReason::Gone));
        assert_eq!(decide(Some(&deleted), &publish(11, 1, 1)), Decision::Activate);
        assert_eq!(decide(Some(&deleted), &message(10, PublishAction::Delete)), Decision::Skip(SkipReason::Duplicate));
        assert_eq!(decide(Some(&deleted), &message(12, PublishAction::Delete)), Decision::Withdraw(DocumentStatus::Deleted));
        assert_eq!(decide(Some(&deleted), &message(12, PublishAction::Archive)), Decision::Skip(SkipReason::Gone));
        assert_eq!(decide(None, &message(1, PublishAction::Delete)), Decision::Withdraw(DocumentStatus::Deleted));
    }

    #[test]
    fn an_archive_is_lifted_by_a_newer_source_and_always_by_a_delete() {
        let archived = record(DocumentStatus::Archived, 10, Some(revision(1)));
        assert_eq!(decide(Some(&archived), &publish(11, 1, 1)), Decision::Activate);
        assert_eq!(decide(Some(&archived), &publish(10, 9, 1)), Decision::Skip(SkipReason::Older));
        assert_eq!(decide(Some(&archived), &message(10, PublishAction::Archive)), Decision::Skip(SkipReason::Duplicate));
        assert_eq!(decide(Some(&archived), &message(5, PublishAction::Delete)), Decision::Withdraw(DocumentStatus::Deleted));
        assert_eq!(decide(None, &message(1, PublishAction::Archive)), Decision::Skip(SkipReason::Gone));
        let active = record(DocumentStatus::Active, 10, Some(revision(1)));
        assert_eq!(decide(Some(&active), &message(9, PublishAction::Delete)), Decision::Skip(SkipReason::Older));
        assert_eq!(decide(Some(&active), &message(10, PublishAction::Archive)), Decision::Withdraw(DocumentStatus::Archived));
    }

    #[test]
    fn every_order_of_arrival_ends_in_the_same_state() {
        // Three sources and a delete between the second and the third: whatever the order, the third is what stands.
        let messages = [publish(1, 1, 1), publish(2, 2, 2), message(3, PublishAction::Delete), publish(4, 4, 3)];
        for order in permutations(4) {
            let mut standing: Option<DocumentRecord> = None;
            for &n in &order {
                let message = &messages[n];
                match decide(standing.as_ref(), message) {
                    Decision::Activate | Decision::Renew => {
                        let PublishAction::Publish { job_id, revision } = &message.action else { unreachable!() };
                        let mut next = record(DocumentStatus::Active, message.order.created_millis, Some(revision.clone()));
                        next.active_job = Some(job_id.clone());
                        standing = Some(next);
                    }
                    Decision::Withdraw(status) => standing = Some(record(status, message.order.created_millis, None)),
                    Decision::Skip(_) => {}
                }
            }
            let end = standing.unwrap();
            assert_eq!((end.status, end.active_revision), (DocumentStatus::Active, Some(revision(3))), "{order:?}");
        }
    }

    fn permutations(n: usize) -> Vec<Vec<usize>> {
        if n == 0 {
            return vec![vec![]];
        }
        permutations(n - 1)
            .into_iter()
            .flat_map(|p| {
                (0..n).map(move |at| {
                    let mut q = p.clone();
                    q.insert(at, n - 1);
                    q
                })
            })
            .collect()
    }
}
