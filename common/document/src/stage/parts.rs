//! Documents that are read in parts: one message for each run of pages, and whoever sees all parts first puts them
//! together.
//!
//! Nothing here needs a lock. A part is named by its pages and its content follows from the source, so that it does not
//! matter who writes it, or how often. Who finds all parts there writes the claim, once, with its own run of pages in it:
//! of all messages only that one merges, and when it is killed its redelivery finds its own claim and merges again. The
//! parts are removed once the manifest is there, before the publisher hears of it; who comes after that finds the manifest
//! and removes what it has itself written too late.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use quarry_model::message::ParseMessage;
use quarry_model::pdf::Shard;
use quarry_model::{DocumentCode, DocumentFailure, ObjectKey, ObjectPrefix, Revision};
use quarry_ports::{ObjectError, PutCondition, PutOptions};

use super::{ParseStage, StageError};
use crate::parser::{Parser, Source};
use crate::revision::RevisionRequest;

/// What a message has to do beyond its own part.
pub(super) enum Parts {
    /// All of it: the document is not read in parts.
    None,
    /// Nothing: other parts are missing, or another message puts them together.
    Waiting,
    /// Nothing: the revision is there.
    Finished,
    /// To put these together, in page order.
    All(Vec<Bytes>),
}

/// Where the parts of one reading lie.
struct Plan<'m> {
    message: &'m ParseMessage,
    revision: &'m Revision,
    name: String,
}

impl Plan<'_> {
    fn part(&self, shard: Shard) -> ObjectKey {
        ObjectKey::part(&self.message.scope, &self.message.document_id, self.revision, &self.name, shard)
    }

    fn claim(&self) -> ObjectKey {
        ObjectKey::part_claim(&self.message.scope, &self.message.document_id, self.revision, &self.name)
    }
}

impl<P: Parser> ParseStage<P> {
    /// Reads the message's own part, unless it is there, and looks whether it was the last.
    pub(super) async fn parts(
        &self,
        message: &ParseMessage,
        revision: &Revision,
        request: &Arc<RevisionRequest>,
        bytes: &Bytes,
        began: Instant,
    ) -> Result<Parts, StageError> {
        let Some((anatomy, own)) = message.part().filter(|_| self.parser.in_parts().is_some()) else { return Ok(Parts::None) };
        let plan = Plan { message, revision, name: anatomy.plan() };
        if !self.is_there(&plan.part(own)).await? {
            let part = self.read_part(Arc::clone(request), bytes.clone(), own, began).await?;
            self.put_once(&plan.part(own), part).await?;
        }
        for shard in &anatomy.shards {
            if !self.is_there(&plan.part(*shard)).await? {
                return self.waiting_or_finished(&plan).await;
            }
        }
        if !self.is_ours(&plan, own).await? {
            return self.waiting_or_finished(&plan).await;
        }
        let mut parts = Vec::with_capacity(anatomy.shards.len());
        for shard in &anatomy.shards {
            match self.objects.get(&plan.part(*shard)).await {
                Ok((part, _)) => parts.push(part),
                Err(ObjectError::NotFound(key)) => {
                    // Somebody finished, and removed it, since we looked. Otherwise the next delivery finds out.
                    return match self.waiting_or_finished(&plan).await? {
                        Parts::Finished => Ok(Parts::Finished),
                        _ => Err(ObjectError::NotFound(key).into()),
                    };
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Parts::All(parts))
    }

    /// Removes what was read in parts of a revision that is there. What cannot be removed now goes with the document.
    pub(super) async fn remove_parts(&self, message: &ParseMessage, revision: &Revision) {
        if message.part().is_none() {
            return;
        }
        let prefix = ObjectPrefix::parts(&message.scope, &message.document_id, revision);
        if let Err(error) = self.remove_all(&prefix).await {
            tracing::warn!(%error, document = %message.document_id, "parts of a document are left over");
        }
    }

    async fn remove_all(&self, prefix: &ObjectPrefix) -> Result<(), ObjectError> {
        let mut cursor = None;
        loop {
            let page = self.objects.list(prefix, cursor.as_deref(), 1_000).await?;
            for object in page.objects {
                self.objects.delete(&object.key).await?;
            }
            match page.cursor {
                Some(next) => cursor = Some(next),
                None => return Ok(()),
            }
        }
    }

    async fn waiting_or_finished(&self, plan: &Plan<'_>) -> Result<Parts, StageError> {
        Ok(if self.is_finished(plan.message, plan.revision).await? { Parts::Finished } else { Parts::Waiting })
    }

    async fn read_part(&self, request: Arc<RevisionRequest>, bytes: Bytes, shard: Shard, began: Instant) -> Result<Bytes, StageError> {
        let (parser, limits) = (Arc::clone(&self.parser), self.limits.clone());
        let work = move || {
            let Some(parser) = parser.in_parts() else {
                return Err(DocumentFailure::new(DocumentCode::Crashed, "the parser reads no parts"));
            };
            let source = Source { bytes: &bytes, file_name: &request.file_name, profile: &request.profile };
            parser.read_part(&source, shard, &limits).map(Bytes::from)
        };
        self.apart(self.left(began), work).await
    }

    /// Whether putting the parts together falls to this message: it has the claim, or gets it.
    async fn is_ours(&self, plan: &Plan<'_>, own: Shard) -> Result<bool, ObjectError> {
        let name = Bytes::from(format!("{}-{}\n", own.first, own.last));
        if self.put_once(&plan.claim(), name.clone()).await? {
            return Ok(true);
        }
        match self.objects.get(&plan.claim()).await {
            Ok((holder, _)) => Ok(holder == name),
            Err(ObjectError::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes an object unless there is one; answers whether it did.
    async fn put_once(&self, key: &ObjectKey, body: Bytes) -> Result<bool, ObjectError> {
        let options = PutOptions { condition: PutCondition::IfAbsent, content_type: Some("application/octet-stream".to_owned()) };
        match self.objects.put(key, body, options).await {
            Ok(_) => Ok(true),
            Err(ObjectError::Precondition(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn is_there(&self, key: &ObjectKey) -> Result<bool, ObjectError> {
        match self.objects.head(key).await {
            Ok(_) => Ok(true),
            Err(ObjectError::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
