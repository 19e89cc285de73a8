//! Just enough HTTP to use a presigned address: one request over a plain connection.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer.
pub(super) struct Answer {
    pub(super) status: u16,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Sends one request to an `http://` address; `None` for other addresses. HTTP/1.0, so that no answer comes in chunks.
pub(super) async fn request(method: &str, url: &str, headers: &[(String, String)], body: &[u8]) -> Option<Answer> {
    let rest = url.strip_prefix("http://")?;
    let at = rest.find('/').unwrap_or(rest.len());
    let (host, target) = rest.split_at(at);
    let mut head = format!("{method} {target} HTTP/1.0\r\nHost: {host}\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head.extend([name.as_str(), ": ", value.as_str(), "\r\n"]);
    }
    head.push_str("\r\n");
    let mut connection = TcpStream::connect(host).await.expect("the address can be reached");
    connection.write_all(head.as_bytes()).await.expect("the request can be sent");
    connection.write_all(body).await.expect("the body can be sent");
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).await.expect("the answer can be read");
    Some(parsed(&answer))
}

fn parsed(answer: &[u8]) -> Answer {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("an answer has a head");
    let head = String::from_utf8_lossy(&answer[..end]);
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
    let headers =
        lines.filter_map(|line| line.split_once(':')).map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    Answer { status: status.expect("an answer has a status"), headers, body: answer[end + 4..].to_vec() }
}
