//! The ports on S3, SQS and DynamoDB; the only room that sees the SDKs.
