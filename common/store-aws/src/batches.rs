//! Many records at once, in batches the service takes. What it leaves unprocessed is asked again, after a wait.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::{DeleteRequest, KeysAndAttributes, PutRequest, WriteRequest};
use futures::{StreamExt, TryStreamExt, stream};
use quarry_model::RecordKey;

use crate::AwsError;
use crate::attribute::{Attributes, key_attributes};
use crate::backoff::Backoff;
use crate::records::Table;

/// Most keys of one read.
const READ_BATCH: usize = 100;
/// Most writes of one batch.
const WRITE_BATCH: usize = 25;
/// Batches under way at once.
const AT_ONCE: usize = 4;
/// Tries in a row that bring nothing forward.
const TRIES: u32 = 10;

impl Table {
    /// Reads distinct keys; the answer has no order.
    pub(crate) async fn get_batches(&self, keys: Vec<Attributes>) -> Result<Vec<Attributes>, AwsError> {
        let batches: Vec<Vec<Attributes>> = keys.chunks(READ_BATCH).map(<[_]>::to_vec).collect();
        let found: Vec<Vec<Attributes>> = stream::iter(batches).map(|batch| self.get_batch(batch)).buffered(AT_ONCE).try_collect().await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn get_batch(&self, mut left: Vec<Attributes>) -> Result<Vec<Attributes>, AwsError> {
        let mut found = Vec::with_capacity(left.len());
        let mut backoff = Backoff::new("BatchGetItem", TRIES);
        loop {
            let asked = left.len();
            let wanted = KeysAndAttributes::builder().set_keys(Some(left)).consistent_read(true).build();
            let wanted = wanted.map_err(|_| AwsError::Misuse("a read without keys"))?;
            let sent = self.client.batch_get_item().request_items(&self.table, wanted).send().await;
            let answer = sent.map_err(AwsError::of("BatchGetItem"))?;
            found.extend(answer.responses.unwrap_or_default().into_values().flatten());
            left = answer.unprocessed_keys.unwrap_or_default().into_values().flat_map(|rest| rest.keys).collect();
            if left.is_empty() {
                return Ok(found);
            }
            // Large answers come in parts; only a part that brings nothing is a reason to wait longer and longer.
            if left.len() < asked {
                backoff = Backoff::new("BatchGetItem", TRIES);
            }
            backoff.wait(format!("{} keys left", left.len())).await?;
        }
    }

    /// Puts (`Some`) and deletes (`None`) distinct records.
    pub(crate) async fn write_batches(&self, writes: BTreeMap<RecordKey, Option<Attributes>>) -> Result<(), AwsError> {
        let requests = writes.into_iter().map(|(key, attributes)| request(&key, attributes)).collect::<Result<Vec<_>, _>>()?;
        let batches: Vec<Vec<WriteRequest>> = requests.chunks(WRITE_BATCH).map(<[_]>::to_vec).collect();
        stream::iter(batches).map(|batch| self.write_batch(batch)).buffer_unordered(AT_ONCE).try_collect().await
    }

    async fn write_batch(&self, mut left: Vec<WriteRequest>) -> Result<(), AwsError> {
        let mut backoff = Backoff::new("BatchWriteItem", TRIES);
        loop {
            let asked = left.len();
            let sent = self.client.batch_write_item().set_request_items(Some(HashMap::from([(self.table.clone(), left)]))).send().await;
            let answer = sent.map_err(AwsError::of("BatchWriteItem"))?;
            left = answer.unprocessed_items.unwrap_or_default().into_values().flatten().collect();
            if left.is_empty() {
                return Ok(());
            }
            if left.len() < asked {
                backoff = Backoff::new("BatchWriteItem", TRIES);
            }
            backoff.wait(format!("{} writes left", left.len())).await?;
        }
    }
}

fn request(key: &RecordKey, attributes: Option<Attributes>) -> Result<WriteRequest, AwsError> {
    let request = WriteRequest::builder();
    let request = if let Some(attributes) = attributes {
        let put = PutRequest::builder().set_item(Some(attributes)).build();
        request.put_request(put.map_err(|_| AwsError::Misuse("a put without an item"))?)
    } else {
        let delete = DeleteRequest::builder().set_key(Some(key_attributes(key))).build();
        request.delete_request(delete.map_err(|_| AwsError::Misuse("a delete without a key"))?)
    };
    Ok(request.build())
}
