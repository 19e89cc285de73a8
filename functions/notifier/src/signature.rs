//! The signature of a webhook.

use hmac::{Hmac, KeyInit as _, Mac as _};
use quarry_runtime::config::SigningSecret;
use sha2::Sha256;

/// `t=<seconds since the epoch>,v1=<hex>`: HMAC-SHA256 (RFC 2104) over `<t>.` and exactly the bytes sent.
///
/// The receiver computes the same, compares in constant time, and refuses a `t` more than five minutes away from its clock:
/// that is what keeps a recorded request from being sent again.
pub(crate) fn header(secret: &SigningSecret, seconds: i64, body: &[u8]) -> String {
    // HMAC takes a key of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.bytes()) else {
        return String::new();
    };
    mac.update(format!("{seconds}.").as_bytes());
    mac.update(body);
    format!("t={seconds},v1={}", hex::encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by Python's `hmac.new(b"whsec", b"1700000000.{}", "sha256").hexdigest()`.
    #[test]
    fn as_other_implementations_compute_it() {
        assert_eq!(
            header(&SigningSecret::from("whsec"), 1_700_000_000, b"{}"),
            "t=1700000000,v1=7d44587dddbaf4c7f70fef20f48cd594834ffea1641e3ac227b84408298738af"
        );
    }
}
