//! Why a call to AWS fails, before a port's own error says it by meaning.

use aws_sdk_s3::config::http::HttpResponse;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use quarry_ports::{ObjectError, QueueError, RecordError};

/// A failure of an AWS call.
#[derive(Debug, thiserror::Error)]
pub enum AwsError {
    /// A name is missing from the environment.
    #[error("{0} is not set")]
    NotConfigured(String),
    /// The service refused, or could not be reached.
    #[error("{operation}: {code}: {message}")]
    Service {
        /// What was tried: `GetObject`.
        operation: &'static str,
        /// The service's own code, or what broke on the way to it.
        code: String,
        /// The service's words.
        message: String,
        /// HTTP status, when there was an answer.
        status: Option<u16>,
        /// The SDK's error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Trying again did not help.
    #[error("{operation}: gave up after {tries} tries: {last}")]
    GaveUp {
        /// What was tried.
        operation: &'static str,
        /// How often.
        tries: u32,
        /// What the last try ended with.
        last: String,
    },
    /// The call itself is wrong.
    #[error("{0}")]
    Misuse(&'static str),
    /// What came back does not have the form we write.
    #[error("{0}")]
    Answer(&'static str),
}

/// Codes of refusals that trying again can help.
const TRANSIENT: [&str; 17] = [
    "ConditionalRequestConflict",
    "InternalError",
    "InternalFailure",
    "InternalServerError",
    "KmsThrottled",
    "OperationAborted",
    "OverLimit",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestTimeout",
    "ServiceUnavailable",
    "SlowDown",
    "ThrottlingException",
    "TransactionConflictException",
    "TransactionInProgressException",
    "on the way",
];

impl AwsError {
    /// For `map_err` on a call: keeps code, words and status.
    pub(crate) fn of<E>(operation: &'static str) -> impl FnOnce(SdkError<E, HttpResponse>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    {
        move |error| {
            let status = error.raw_response().map(|response| response.status().as_u16());
            let (code, message) = match &error {
                SdkError::ServiceError(refusal) => {
                    let meta = refusal.err().meta();
                    (meta.code().unwrap_or("unnamed").to_owned(), meta.message().unwrap_or_default().to_owned())
                }
                SdkError::ConstructionFailure(_) => ("call".to_owned(), "the request could not be built".to_owned()),
                other => ("on the way".to_owned(), other.to_string()),
            };
            Self::Service { operation, code, message, status, source: Box::new(error) }
        }
    }

    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Service { code, .. } => code,
            _ => "",
        }
    }

    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Service { status, .. } => *status,
            _ => None,
        }
    }

    /// The service's words.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Service { message, .. } => message,
            _ => "",
        }
    }

    /// Whether trying again can help.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Service { code, status, .. } => TRANSIENT.contains(&code.as_str()) || status.is_some_and(|status| status >= 500),
            Self::GaveUp { .. } => true,
            Self::NotConfigured(_) | Self::Misuse(_) | Self::Answer(_) => false,
        }
    }
}

macro_rules! into_port {
    ($port:ident) => {
        impl From<AwsError> for $port {
            fn from(error: AwsError) -> Self {
                if error.is_transient() { Self::Unavailable(Box::new(error)) } else { Self::Other(Box::new(error)) }
            }
        }
    };
}

into_port!(ObjectError);
into_port!(QueueError);
into_port!(RecordError);
