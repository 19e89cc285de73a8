//! One group of messages of one namespace, from reading what stands to the commit.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use futures::stream::{self, StreamExt};
use quarry_model::message::PublishMessage;
use quarry_model::record::{CompactionDue, DocumentRecord, DocumentStatus, GraphNode, Occurrence, OpenPublication, SupersededRevision};
use quarry_model::{DocumentId, JobId, ObjectKey, Outcome, RecordKey, Revision, Scope, SkipReason, Timestamp};
use quarry_ports::{Condition, Item, TransactError, Write};

use crate::Publisher;
use crate::decision::Decision;
use crate::error::PublishError;
use crate::plan::{Change, Plan, Standing, job_of, revision_of};
use crate::splits::{self, Succession};
use crate::{consequences, jobs, rows};
use quarry_publication::folder::{self, Folder, FolderError};
use quarry_publication::head::{Head, put_new};
use quarry_publication::postings::{self, Arriving};
use quarry_publication::{PublicationError, erase};

/// Revision folders read at once.
const FOLDERS_AT_ONCE: usize = 8;

type Reading = (DocumentId, Revision);

/// The group, with what has been read and written for it so far: a lost race starts over without doing it again.
pub(crate) struct Group<'a> {
    publisher: &'a Publisher,
    scope: &'a Scope,
    messages: Vec<&'a PublishMessage>,
    /// Messages that cannot be published, by index.
    refused: BTreeMap<usize, Outcome<()>>,
    folders: BTreeMap<Reading, Folder>,
    /// Revisions whose records are written, with the duplicates that were told of then.
    written: BTreeMap<Reading, Vec<Option<Occurrence>>>,
    /// A split that was stored before this group built it again.
    found: Option<(ObjectKey, Bytes)>,
}

impl<'a> Group<'a> {
    pub(crate) fn new(publisher: &'a Publisher, scope: &'a Scope, messages: &[&'a PublishMessage]) -> Self {
        Self {
            publisher,
            scope,
            messages: messages.to_vec(),
            refused: BTreeMap::new(),
            folders: BTreeMap::new(),
            written: BTreeMap::new(),
            found: None,
        }
    }

    /// How many messages the group holds; fewer than it was given when they do not fit into one commit.
    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    /// One try, in the order of index.md §3. `None` when somebody else published in between: nothing is visible, try again.
    pub(crate) async fn attempt(&mut self) -> Result<Option<Vec<Outcome<()>>>, PublishError> {
        let publisher = self.publisher;
        let now = publisher.clock.now();
        let head = Head::load(&*publisher.stores.objects, &*publisher.stores.records, self.scope).await?;
        let standing = Standing::load(&*publisher.stores.records, self.scope, &self.messages).await?;
        self.messages.truncate(standing.fitting(&self.messages));

        let refused = self.refused.clone();
        let mut plan = self.plan(&standing, now);
        while self.read_folders(&plan).await {
            plan = self.plan(&standing, now);
        }
        if self.refused.len() > refused.len() && self.has_moved(&head).await? {
            // A delete that was published meanwhile may have removed the folder: what the message means is to be asked again.
            self.refused = refused;
            return Ok(None);
        }
        self.complete(&mut plan);
        if plan.changes.is_empty() {
            return Ok(Some(self.outcomes(&plan)));
        }
        self.write_records(&plan, &head).await?;
        let next = self.next_manifest(&plan, &head, now).await?;
        self.found = next.found;
        let succession = head.succession(&*publisher.stores.objects, self.scope, next.manifest, now).await?;
        let writes = self.commit_writes(&plan, &standing, succession, head.version + 1, now)?;
        match publisher.stores.records.transact(writes).await {
            Ok(()) => Ok(Some(self.outcomes(&plan))),
            Err(TransactError::Conditions(_) | TransactError::Conflict) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn has_moved(&self, head: &Head) -> Result<bool, PublishError> {
        let stores = &self.publisher.stores;
        Ok(Head::load(&*stores.objects, &*stores.records, self.scope).await?.version != head.version)
    }

    /// After the commit: what is not part of it but follows from it. A failure here undoes nothing and loses nothing, for
    /// the commit has left a mark; only a job that could not be ended brings its message back.
    pub(crate) async fn finish(&mut self, mut ends: Vec<Outcome<()>>) -> Vec<Outcome<()>> {
        let publisher = self.publisher;
        if let Some((key, bytes)) = self.found.take()
            && let Err(error) = put_new(&*publisher.stores.objects, &key, bytes, "application/octet-stream").await
        {
            tracing::warn!(%key, %error, "split not stored again; it is rebuilt by the next publication if it was removed");
        }
        for (message, end) in self.messages.iter().zip(&mut ends) {
            let (Some(job), Some(revision)) = (job_of(message), revision_of(message)) else { continue };
            let done = match end {
                Outcome::Skipped(SkipReason::Duplicate | SkipReason::Older) => {
                    jobs::end(publisher, self.scope, &message.document_id, job, revision).await
                }
                Outcome::Skipped(SkipReason::Gone) => self.erase_late(message, revision).await,
                _ => Ok(()),
            };
            match done {
                Ok(()) => {}
                // A delete between this revision and the one that is served has removed it.
                Err(PublishError::Publication(PublicationError::Folder(FolderError::Missing(_))))
                    if *end == Outcome::Skipped(SkipReason::Older) =>
                {
                    *end = Outcome::Skipped(SkipReason::Gone);
                }
                Err(error) => *end = error.outcome(),
            }
        }
        if let Err(error) = consequences::settle(publisher, self.scope).await {
            tracing::warn!(scope = %self.scope, %error, "consequences of a publication are left to the next one");
        }
        ends
    }

    /// A reading of a document that was deleted meanwhile leaves nothing behind.
    async fn erase_late(&self, message: &PublishMessage, revision: &Revision) -> Result<(), PublishError> {
        let key = RecordKey::document(self.scope, &message.document_id);
        let record: Option<DocumentRecord> = self.publisher.stores.records.get(&key).await?.map(|item| item.read()).transpose()?;
        let deleted = record.is_some_and(|record| record.status == DocumentStatus::Deleted && record.order.compare(&message.order).is_ge());
        if deleted {
            erase::late(&self.publisher.stores, self.scope, &message.document_id, revision).await?;
        }
        Ok(())
    }

    fn plan(&self, standing: &Standing, now: Timestamp) -> Plan {
        let refused: BTreeSet<usize> = self.refused.keys().copied().collect();
        Plan::of(&self.messages, &refused, standing, now)
    }

    /// Reads the folders of revisions that become active. Whether a message was refused by that, so that the plan has to
    /// be made again without it.
    async fn read_folders(&mut self, plan: &Plan) -> bool {
        let wanted: Vec<(usize, Reading)> = self
            .messages
            .iter()
            .enumerate()
            .filter(|(index, _)| matches!(plan.decisions.get(*index), Some(Decision::Activate | Decision::Renew)))
            .filter_map(|(index, message)| Some((index, (message.document_id.clone(), revision_of(message)?.clone()))))
            .filter(|(_, reading)| !self.folders.contains_key(reading))
            .collect();
        let (objects, scope) = (&self.publisher.stores.objects, self.scope);
        let read: Vec<(usize, Reading, Result<Folder, FolderError>)> = stream::iter(wanted)
            .map(|(index, reading)| async move {
                let folder = folder::read(&**objects, scope, &reading.0, &reading.1).await;
                (index, reading, folder)
            })
            .buffered(FOLDERS_AT_ONCE)
            .collect()
            .await;
        let before = self.refused.len();
        for (index, reading, folder) in read {
            match folder {
                Ok(folder) => {
                    self.folders.insert(reading, folder);
                }
                Err(error) => {
                    let error = PublishError::from(error);
                    tracing::warn!(document = %reading.0, revision = %reading.1, %error, "revision folder refused");
                    self.refused.insert(index, error.outcome());
                }
            }
        }
        self.refused.len() > before
    }

    /// Fills in what the folders know of the documents.
    fn complete(&self, plan: &mut Plan) {
        for (document, change) in &mut plan.changes {
            let Some(folder) = change.after.active_revision.clone().and_then(|revision| self.folders.get(&(document.clone(), revision)))
            else {
                continue;
            };
            let record: &mut DocumentRecord = &mut change.after;
            record.source_file_name.clone_from(&folder.manifest.source_file_name);
            record.source_sha256 = Some(folder.manifest.source.sha256.clone());
            record.chunk_count = u32::try_from(folder.chunks.len()).unwrap_or(u32::MAX);
            record.summary = rows::summary(folder);
        }
    }

    /// The folders of revisions that have to be written: into the index, or as the revision of an archived document.
    fn arriving<'p>(&'p self, plan: &'p Plan, head: &Head) -> Vec<(&'p Change, &'p Folder)> {
        let live = head.live();
        let of = |(document, change): (&'p DocumentId, &'p Change)| {
            let revision = change.after.active_revision.as_ref()?;
            let known = live.get(document) == Some(revision);
            let folder = self.folders.get(&(document.clone(), revision.clone()))?;
            (!known).then_some((change, folder))
        };
        plan.changes.iter().filter_map(of).collect()
    }

    /// Steps 2 to 5: duplicates, sections, chunks, node and postings, all under (document, revision).
    async fn write_records(&mut self, plan: &Plan, head: &Head) -> Result<(), PublishError> {
        let (records, scope) = (&*self.publisher.stores.records, self.scope);
        let arriving = self.arriving(plan, head);
        let occurrences: Vec<Arriving<'_>> = arriving
            .iter()
            .map(|(change, folder)| Arriving {
                document: &folder.manifest.document_id,
                revision: &folder.manifest.revision,
                since: change.after.created_at,
                chunks: &folder.chunks,
            })
            .collect();
        let duplicates = postings::duplicates(records, scope, &head.live(), &occurrences).await?;

        let mut items: Vec<Item> = Vec::new();
        let mut written = Vec::new();
        for (((_, folder), occurrence), duplicates) in arriving.iter().zip(&occurrences).zip(duplicates) {
            let reading = (occurrence.document.clone(), occurrence.revision.clone());
            let earlier = self.written.get(&reading);
            if earlier.is_none() {
                let node: GraphNode = rows::node(folder);
                items.extend(rows::structure(scope, folder, &node)?);
                items.extend(postings::of_contents(scope, occurrence)?);
                items.extend(postings::of_keywords(scope, &node)?);
            }
            for (at, (chunk, duplicate)) in folder.chunks.iter().zip(&duplicates).enumerate() {
                if earlier.is_none_or(|earlier| earlier.get(at) != Some(duplicate)) {
                    items.push(rows::chunk(occurrence.document, occurrence.revision, chunk, duplicate.as_ref())?);
                }
            }
            written.push((reading, duplicates));
        }
        records.write_many(items, Vec::new()).await?;
        self.written.extend(written);
        Ok(())
    }

    /// Step 6: the manifest after this group, its split uploaded.
    async fn next_manifest(&self, plan: &Plan, head: &Head, now: Timestamp) -> Result<Succession, PublishError> {
        let live = head.live();
        let served: Vec<&Folder> =
            self.arriving(plan, head).into_iter().filter(|(change, _)| change.served().is_some()).map(|(_, folder)| folder).collect();
        let gone: BTreeSet<DocumentId> = plan
            .changes
            .iter()
            .filter(|(document, change)| live.get(*document).is_some_and(|revision| change.served() != Some(revision)))
            .map(|(document, _)| document.clone())
            .collect();
        splits::succeed(self.publisher, self.scope, &head.manifest, &gone, &served, now).await
    }

    /// Step 7: everything that becomes true at once.
    fn commit_writes(
        &self,
        plan: &Plan,
        standing: &Standing,
        succession: Write,
        version: u64,
        now: Timestamp,
    ) -> Result<Vec<Write>, PublishError> {
        let open = OpenPublication { documents: plan.changes.keys().cloned().collect(), at: now };
        let due = CompactionDue { scope: self.scope.clone(), version };
        let mut writes = vec![
            succession,
            Write::Put(Item::of(RecordKey::publication(self.scope, version), &open)?, Condition::None),
            Write::Put(Item::of(RecordKey::compaction(self.scope), &due)?, Condition::None),
        ];
        for (document, change) in &plan.changes {
            let key = RecordKey::document(self.scope, document);
            writes.push(Write::Put(Item::of(key, &change.after)?, Condition::None));
            if let Some(old) = change.superseded() {
                let mark = SupersededRevision { document_id: document.clone(), revision: old.clone(), at: now, postings_removed: false };
                writes.push(Write::Put(Item::of(RecordKey::superseded(self.scope, document, old), &mark)?, Condition::None));
            }
            if let Some(revision) = change.after.active_revision.as_ref().filter(|_| change.before.is_some()) {
                writes.push(Write::Delete(RecordKey::superseded(self.scope, document, revision), Condition::None));
            }
        }
        let mut ended: BTreeSet<&JobId> = BTreeSet::new();
        for (message, decision) in self.messages.iter().zip(&plan.decisions) {
            if !matches!(decision, Decision::Activate | Decision::Renew) || !job_of(message).is_some_and(|job| ended.insert(job)) {
                continue;
            }
            let Some(job) = job_of(message).and_then(|job| standing.jobs.get(job)).filter(|job| job.state.is_active()) else {
                continue;
            };
            let Some(folder) = revision_of(message).and_then(|r| self.folders.get(&(message.document_id.clone(), r.clone()))) else {
                continue;
            };
            let done = self.publisher.jobs.done_writes(job, &folder.manifest.revision, Some(&folder.result_sha256), folder.progress())?;
            writes.extend(done);
        }
        Ok(writes)
    }

    fn outcomes(&self, plan: &Plan) -> Vec<Outcome<()>> {
        let of = |(index, decision): (usize, &Decision)| {
            if let Some(outcome) = self.refused.get(&index) {
                return outcome.clone();
            }
            let overtaken = self.messages.get(index).is_some_and(|message| {
                let stands = plan.changes.get(&message.document_id).map(|change| &change.after);
                matches!(decision, Decision::Activate) && stands.is_some_and(|after| after.active_revision.as_ref() != revision_of(message))
            });
            match decision {
                // Published and replaced within one commit: nobody has seen it.
                _ if overtaken => Outcome::Skipped(SkipReason::Older),
                Decision::Activate | Decision::Withdraw(_) => Outcome::Done(()),
                Decision::Renew => Outcome::Skipped(SkipReason::Duplicate),
                Decision::Skip(reason) => Outcome::Skipped(*reason),
            }
        };
        plan.decisions.iter().enumerate().map(of).collect()
    }
}
