//! Objects in S3.

use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_s3::Client;
use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{ChecksumMode, EncodingType};
use bytes::{Bytes, BytesMut};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use quarry_model::{ObjectKey, ObjectPrefix};
use quarry_ports::{ObjectError, ObjectMeta, ObjectPage, ObjectStore, PresignedPut, PutCondition, PutOptions};

use crate::AwsError;
use crate::backoff::Backoff;

/// Tries of a read that breaks off, and of a write that meets another.
const TRIES: u32 = 6;
/// What RFC 5987 leaves as it is in a file name.
const NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The object port.
pub(crate) struct Bucket {
    pub(crate) client: Client,
    /// Signs addresses without the checksums that only an SDK would send.
    pub(crate) presigner: Client,
    pub(crate) name: String,
}

/// What a read asks for: the whole, or bytes `start..end` with `start < end`.
type Wanted = Option<Range<u64>>;

#[async_trait]
impl ObjectStore for Bucket {
    async fn put(&self, key: &ObjectKey, body: Bytes, options: PutOptions) -> Result<ObjectMeta, ObjectError> {
        let size = body.len() as u64;
        let mut backoff = Backoff::new("PutObject", TRIES);
        loop {
            match self.try_put(key, body.clone(), &options).await {
                Ok(etag) => return Ok(ObjectMeta { key: key.clone(), size, etag }),
                // Somebody wrote at the same moment: once that is over, the condition has an answer.
                Err(error) if error.status() == Some(409) => backoff.wait(error).await?,
                Err(error) if error.status() == Some(412) || matches!(options.condition, PutCondition::IfMatch(_)) && is_absent(&error) => {
                    return Err(ObjectError::Precondition(key.clone()));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn get(&self, key: &ObjectKey) -> Result<(Bytes, ObjectMeta), ObjectError> {
        self.read(key, None).await
    }

    async fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> Result<Bytes, ObjectError> {
        if range.start > range.end {
            return Err(ObjectError::Range(key.clone()));
        }
        if range.is_empty() {
            // HTTP has no way to ask for no bytes.
            let meta = self.head(key).await?;
            return if range.end <= meta.size { Ok(Bytes::new()) } else { Err(ObjectError::Range(key.clone())) };
        }
        self.read(key, Some(range)).await.map(|(body, _)| body)
    }

    async fn head(&self, key: &ObjectKey) -> Result<ObjectMeta, ObjectError> {
        let sent = self.client.head_object().bucket(&self.name).key(key.as_str()).send().await;
        let head = sent.map_err(AwsError::of("HeadObject")).map_err(|error| absent_or(key, error))?;
        Ok(ObjectMeta { key: key.clone(), size: length(head.content_length())?, etag: tag(head.e_tag())? })
    }

    async fn delete(&self, key: &ObjectKey) -> Result<(), ObjectError> {
        let sent = self.client.delete_object().bucket(&self.name).key(key.as_str()).send().await;
        match sent.map_err(AwsError::of("DeleteObject")) {
            Err(error) if !is_absent(&error) => Err(error.into()),
            _ => Ok(()),
        }
    }

    async fn list(&self, prefix: &ObjectPrefix, cursor: Option<&str>, limit: usize) -> Result<ObjectPage, ObjectError> {
        let sent = self
            .client
            .list_objects_v2()
            .bucket(&self.name)
            .prefix(prefix.as_str())
            .set_start_after(cursor.map(str::to_owned))
            .max_keys(limit.clamp(1, 1_000) as i32)
            .encoding_type(EncodingType::Url)
            .send()
            .await;
        let listed = sent.map_err(AwsError::of("ListObjectsV2"))?;
        // XML cannot carry every key, so we ask for encoded ones; a service that ignores that sends them as they are.
        let encoded = listed.encoding_type() == Some(&EncodingType::Url);
        let mut objects = Vec::with_capacity(listed.contents().len());
        for object in listed.contents() {
            let name = object.key().ok_or(AwsError::Answer("a listed object has no key"))?;
            let key = ObjectKey::from_event(&if encoded { decoded(name)? } else { name.to_owned() });
            objects.push(ObjectMeta { key, size: length(object.size())?, etag: tag(object.e_tag())? });
        }
        let more = listed.is_truncated() == Some(true);
        let cursor = objects.last().filter(|_| more).map(|last| last.key.as_str().to_owned());
        Ok(ObjectPage { objects, cursor })
    }

    async fn presign_get(&self, key: &ObjectKey, life: Duration, file_name: Option<&str>) -> Result<String, ObjectError> {
        let disposition = file_name.map(|name| format!("attachment; filename*=UTF-8''{}", utf8_percent_encode(name, NAME)));
        let presigned = self
            .presigner
            .get_object()
            .bucket(&self.name)
            .key(key.as_str())
            .set_response_content_disposition(disposition)
            .presigned(lasting(life)?)
            .await
            .map_err(AwsError::of("presign GetObject"))?;
        Ok(presigned.uri().to_owned())
    }

    async fn presign_put(&self, key: &ObjectKey, life: Duration, content_type: &str) -> Result<PresignedPut, ObjectError> {
        // The condition makes the address good once: it is part of the signature, and the upload must carry it.
        let presigned = self
            .presigner
            .put_object()
            .bucket(&self.name)
            .key(key.as_str())
            .content_type(content_type)
            .if_none_match("*")
            .presigned(lasting(life)?)
            .await
            .map_err(AwsError::of("presign PutObject"))?;
        let headers = presigned.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Ok(PresignedPut { url: presigned.uri().to_owned(), headers, expires_in: life.as_secs() })
    }
}

impl Bucket {
    async fn try_put(&self, key: &ObjectKey, body: Bytes, options: &PutOptions) -> Result<String, AwsError> {
        let put = self.client.put_object().bucket(&self.name).key(key.as_str()).set_content_type(options.content_type.clone());
        let put = match &options.condition {
            PutCondition::Always => put,
            PutCondition::IfAbsent => put.if_none_match("*"),
            PutCondition::IfMatch(tag) => put.if_match(format!("\"{tag}\"")),
        };
        let written = put.body(ByteStream::from(body)).send().await.map_err(AwsError::of("PutObject"))?;
        tag(written.e_tag())
    }

    /// Reads to the last byte. A body that breaks off is gone on with where it ended, from the same content or not at
    /// all; a checksum that does not fit throws everything away and begins again. The SDK verifies checksums, we verify
    /// the length.
    async fn read(&self, key: &ObjectKey, wanted: Wanted) -> Result<(Bytes, ObjectMeta), ObjectError> {
        let mut backoff = Backoff::new("GetObject", TRIES);
        'anew: loop {
            let mut answer = self.request(key, wanted.clone(), None).await?;
            let total = length(answer.content_length())?;
            if wanted.as_ref().is_some_and(|range| range.end - range.start != total) {
                return Err(ObjectError::Range(key.clone()));
            }
            let meta = ObjectMeta { key: key.clone(), size: total, etag: tag(answer.e_tag())? };
            let begin = wanted.as_ref().map_or(0, |range| range.start);
            let mut body = BytesMut::with_capacity(usize::try_from(total).map_err(|_| AwsError::Answer("an object larger than memory"))?);
            loop {
                let broken = drain(answer.body, &mut body).await;
                let got = body.len() as u64;
                match broken {
                    None if got == total => return Ok((body.freeze(), meta)),
                    None if got < total => backoff.wait(format!("{got} of {total} bytes")).await?,
                    Some(error) if got < total => backoff.wait(error).await?,
                    // Everything came and something is wrong with it.
                    _ => {
                        backoff.wait("the checksum or the length does not fit").await?;
                        continue 'anew;
                    }
                }
                let rest = begin + got..begin + total;
                answer = match self.request(key, Some(rest), Some(&meta.etag)).await {
                    // Replaced while we read: what we have is of no use.
                    Err(ObjectError::Precondition(_)) => {
                        backoff.wait("the object changed while it was read").await?;
                        continue 'anew;
                    }
                    other => other?,
                };
            }
        }
    }

    async fn request(&self, key: &ObjectKey, wanted: Wanted, same: Option<&str>) -> Result<GetObjectOutput, ObjectError> {
        let sent = self
            .client
            .get_object()
            .bucket(&self.name)
            .key(key.as_str())
            .set_range(wanted.map(|range| format!("bytes={}-{}", range.start, range.end - 1)))
            .set_if_match(same.map(|tag| format!("\"{tag}\"")))
            .checksum_mode(ChecksumMode::Enabled)
            .send()
            .await;
        sent.map_err(AwsError::of("GetObject")).map_err(|error| match error.status() {
            Some(416) => ObjectError::Range(key.clone()),
            Some(412) => ObjectError::Precondition(key.clone()),
            _ => absent_or(key, error),
        })
    }
}

/// Appends a body; what broke it off, if anything did.
async fn drain(mut stream: ByteStream, body: &mut BytesMut) -> Option<String> {
    loop {
        match stream.next().await {
            Some(Ok(bytes)) => body.extend_from_slice(&bytes),
            Some(Err(error)) => return Some(error.to_string()),
            None => return None,
        }
    }
}

fn is_absent(error: &AwsError) -> bool {
    error.status() == Some(404) && error.code() != "NoSuchBucket"
}

fn absent_or(key: &ObjectKey, error: AwsError) -> ObjectError {
    if is_absent(&error) { ObjectError::NotFound(key.clone()) } else { error.into() }
}

fn length(length: Option<i64>) -> Result<u64, AwsError> {
    length.and_then(|length| u64::try_from(length).ok()).ok_or(AwsError::Answer("an object without a length"))
}

fn tag(tag: Option<&str>) -> Result<String, AwsError> {
    tag.map(|tag| tag.trim_matches('"').to_owned()).ok_or(AwsError::Answer("an object without a tag"))
}

fn decoded(name: &str) -> Result<String, AwsError> {
    let spaces = name.replace('+', " ");
    let decoded = percent_decode_str(&spaces).decode_utf8().map_err(|_| AwsError::Answer("a listed key is no UTF-8"))?;
    Ok(decoded.into_owned())
}

fn lasting(life: Duration) -> Result<PresigningConfig, AwsError> {
    PresigningConfig::expires_in(life).map_err(|_| AwsError::Misuse("an address lives at most a week"))
}
