//! Transactions: all writes or none, with the reason of each.

use std::collections::HashSet;

use aws_sdk_dynamodb::types::error::TransactionCanceledException;
use aws_sdk_dynamodb::types::{CancellationReason, ConditionCheck, Delete, Put, TransactWriteItem};
use quarry_model::RecordKey;
use quarry_ports::records::MAX_TRANSACTION;
use quarry_ports::{Condition, RecordError, TransactError, Write};

use crate::AwsError;
use crate::attribute::{key_attributes, to_attributes};
use crate::condition::expression;
use crate::records::{Table, is_size};

impl Table {
    pub(crate) async fn write_together(&self, writes: Vec<Write>, now: i64) -> Result<(), TransactError> {
        if writes.is_empty() {
            return Ok(());
        }
        let misuse = |what| Err(TransactError::Store(AwsError::Misuse(what).into()));
        if writes.len() > MAX_TRANSACTION {
            return misuse("a transaction has at most 100 writes");
        }
        let keys: Vec<RecordKey> = writes.iter().map(|write| target(write).clone()).collect();
        if keys.iter().collect::<HashSet<_>>().len() < keys.len() {
            return misuse("a transaction names each record once");
        }
        // A check of nothing is no check, and the service refuses it.
        let checked: Vec<bool> = writes.iter().map(|write| !matches!(write, Write::Check(_, Condition::None))).collect();
        let mut items = Vec::with_capacity(writes.len());
        for (write, checked) in writes.into_iter().zip(&checked) {
            if *checked {
                items.push(self.part(write, now)?);
            }
        }
        if items.is_empty() {
            return Ok(());
        }
        let sent = self.client.transact_write_items().set_transact_items(Some(items)).send().await;
        let Err(error) = sent else {
            return Ok(());
        };
        let reasons = error.as_service_error().and_then(|refusal| match refusal {
            aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError::TransactionCanceledException(cancelled) => {
                Some(aligned(cancelled, &checked))
            }
            _ => None,
        });
        let error = AwsError::of("TransactWriteItems")(error);
        Err(match reasons {
            Some(reasons) => cancelled(&keys, &reasons, error),
            None if error.code() == "TransactionInProgressException" => TransactError::Conflict,
            None => TransactError::Store(error.into()),
        })
    }

    fn part(&self, write: Write, now: i64) -> Result<TransactWriteItem, RecordError> {
        let part = TransactWriteItem::builder();
        let incomplete = |_| AwsError::Misuse("a write of a transaction is incomplete");
        Ok(match write {
            Write::Put(item, condition) => {
                let checked = expression(&condition, now);
                let put = Put::builder()
                    .table_name(&self.table)
                    .set_item(Some(to_attributes(&item)?))
                    .set_condition_expression(checked.text())
                    .set_expression_attribute_names(checked.names)
                    .set_expression_attribute_values(checked.values);
                part.put(put.build().map_err(incomplete)?)
            }
            Write::Delete(key, condition) => {
                let checked = expression(&condition, now);
                let delete = Delete::builder()
                    .table_name(&self.table)
                    .set_key(Some(key_attributes(&key)))
                    .set_condition_expression(checked.text())
                    .set_expression_attribute_names(checked.names)
                    .set_expression_attribute_values(checked.values);
                part.delete(delete.build().map_err(incomplete)?)
            }
            Write::Check(key, condition) => {
                let checked = expression(&condition, now);
                let check = ConditionCheck::builder()
                    .table_name(&self.table)
                    .set_key(Some(key_attributes(&key)))
                    .set_condition_expression(checked.text())
                    .set_expression_attribute_names(checked.names)
                    .set_expression_attribute_values(checked.values);
                part.condition_check(check.build().map_err(incomplete)?)
            }
        }
        .build())
    }
}

fn target(write: &Write) -> &RecordKey {
    match write {
        Write::Put(item, _) => &item.key,
        Write::Delete(key, _) | Write::Check(key, _) => key,
    }
}

/// One reason for each write, those left out included.
fn aligned(cancelled: &TransactionCanceledException, checked: &[bool]) -> Vec<CancellationReason> {
    let mut given = cancelled.cancellation_reasons().iter().cloned();
    let none = || CancellationReason::builder().build();
    checked.iter().map(|checked| if *checked { given.next().unwrap_or_else(none) } else { none() }).collect()
}

/// A conflict goes before a condition: while others write, not every condition has been looked at.
fn cancelled(keys: &[RecordKey], reasons: &[CancellationReason], error: AwsError) -> TransactError {
    let is = |reason: &CancellationReason, code: &str| reason.code() == Some(code);
    if reasons.iter().any(|reason| is(reason, "TransactionConflict")) {
        return TransactError::Conflict;
    }
    let at_fault: Vec<bool> = reasons.iter().map(|reason| is(reason, "ConditionalCheckFailed")).collect();
    if at_fault.contains(&true) {
        return TransactError::Conditions(at_fault);
    }
    let too_large = |reason: &CancellationReason| is(reason, "ValidationError") && is_size(reason.message().unwrap_or_default());
    if let Some((key, _)) = keys.iter().zip(reasons).find(|(_, reason)| too_large(reason)) {
        return TransactError::Store(RecordError::TooLarge(key.clone()));
    }
    let throttled = ["ThrottlingError", "ProvisionedThroughputExceeded"];
    if reasons.iter().any(|reason| throttled.iter().any(|code| is(reason, code))) {
        return TransactError::Store(RecordError::Unavailable(Box::new(error)));
    }
    TransactError::Store(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(code: &str, message: &str) -> CancellationReason {
        CancellationReason::builder().code(code).message(message).build()
    }

    fn judged(reasons: &[CancellationReason]) -> TransactError {
        let keys: Vec<RecordKey> = (0..reasons.len()).map(|n| RecordKey { pk: "P".into(), sk: n.to_string() }).collect();
        cancelled(&keys, reasons, AwsError::Answer("cancelled"))
    }

    #[test]
    fn reasons_are_read_in_order_and_by_weight() {
        let none = || reason("None", "");
        let failed = || reason("ConditionalCheckFailed", "");
        assert!(matches!(judged(&[none(), failed()]), TransactError::Conditions(at_fault) if at_fault == [false, true]));
        assert!(matches!(judged(&[failed(), reason("TransactionConflict", "")]), TransactError::Conflict));
        let throttled = judged(&[none(), reason("ThrottlingError", "")]);
        assert!(matches!(throttled, TransactError::Store(RecordError::Unavailable(_))));
        let large = judged(&[none(), reason("ValidationError", "Item size has exceeded the maximum allowed size")]);
        assert!(matches!(large, TransactError::Store(RecordError::TooLarge(key)) if key.sk == "1"));
        assert!(matches!(judged(&[none()]), TransactError::Store(RecordError::Other(_))));
    }

    #[test]
    fn a_write_left_out_has_no_reason() {
        let cancelled = TransactionCanceledException::builder().cancellation_reasons(reason("ConditionalCheckFailed", "")).build();
        let reasons = aligned(&cancelled, &[false, true]);
        assert_eq!(reasons.iter().map(|reason| reason.code()).collect::<Vec<_>>(), [None, Some("ConditionalCheckFailed")]);
    }
}
