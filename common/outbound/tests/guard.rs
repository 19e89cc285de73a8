//! The guard against a real server on this machine and a resolver of the test's own.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use quarry_outbound::{Outbound, OutboundError, Resolver, Rules};
use reqwest::header::HeaderMap;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const SECOND: Duration = Duration::from_secs(1);

/// Names of the test; every question is counted, and a name can answer otherwise the second time.
#[derive(Default)]
struct Names {
    answers: HashMap<&'static str, Vec<Vec<IpAddr>>>,
    asked: Mutex<HashMap<String, usize>>,
}

#[async_trait]
impl Resolver for Names {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let mut asked = self.asked.lock().expect("lock");
        let times = asked.entry(host.to_owned()).or_default();
        let answers = self.answers.get(host).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let answer = answers[(*times).min(answers.len() - 1)].clone();
        *times += 1;
        Ok(answer)
    }
}

/// A server that gives each connection the next of these answers, and counts them.
async fn server(answers: Vec<String>) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((HERE, 0)).await.expect("a port");
    let port = listener.local_addr().expect("address").port();
    let seen = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&seen);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let answer = answers[counted.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1)].clone();
            tokio::spawn(async move {
                let mut request = [0_u8; 4096];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(answer.as_bytes()).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    (port, seen)
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn moved(to: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
}

fn public(names: Names) -> Outbound {
    Outbound::new(Arc::new(names), Rules::default()).expect("a client")
}

/// May reach this machine, as an operator's own service: the only way to show what works without the network.
fn open(names: Names) -> Outbound {
    Outbound::new(Arc::new(names), Rules { also: vec![HERE] }).expect("a client")
}

#[tokio::test]
async fn private_forms_are_refused_before_any_connection() {
    let (port, seen) = server(vec![ok("secret")]).await;
    let names = Names {
        answers: HashMap::from([
            ("inside.example", vec![vec![HERE]]),
            ("mixed.example", vec![vec!["8.8.8.8".parse().expect("ip"), HERE]]),
            ("mapped.example", vec![vec!["::ffff:127.0.0.1".parse().expect("ip")]]),
            ("localhost", vec![vec![HERE]]),
        ]),
        ..Names::default()
    };
    let outbound = public(names);
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "10.0.0.8",
        "169.254.169.254",
        "192.168.1.1",
        "[fe80::1]",
        "[fd00::1]",
        "inside.example",
        "mixed.example",
        "mapped.example",
        "localhost",
    ] {
        let refused = outbound.fetch(&format!("http://{host}:{port}/"), 100, SECOND).await;
        assert!(matches!(refused, Err(OutboundError::NotPublic)), "{host}: {refused:?}");
        let posted = outbound.post(&format!("http://{host}:{port}/"), HeaderMap::new(), Bytes::new(), SECOND).await;
        assert!(matches!(posted, Err(OutboundError::NotPublic)), "{host}: {posted:?}");
    }
    assert_eq!(seen.load(Ordering::SeqCst), 0, "nothing was connected to");
}

#[tokio::test]
async fn other_schemes_and_credentials_are_refused() {
    let outbound = public(Names::default());
    for address in ["file:///etc/passwd", "ftp://a.example/x", "gopher://a.example", "data:text/plain,x", "javascript:alert(1)"] {
        assert!(matches!(outbound.check(address), Err(OutboundError::Scheme)), "{address}");
    }
    assert!(matches!(outbound.check("http://user:pass@a.example/"), Err(OutboundError::Credentials)));
    for address in ["", "a.example", "http://", "http:///x y", "//a.example"] {
        assert!(matches!(outbound.check(address), Err(OutboundError::Malformed)), "{address:?}: {:?}", outbound.check(address));
    }
    let unknown = outbound.fetch("http://nowhere.example/", 100, SECOND).await;
    assert!(matches!(unknown, Err(OutboundError::Unresolved)), "{unknown:?}");
}

#[tokio::test]
async fn a_name_is_asked_once_and_the_connection_goes_where_it_was_checked() {
    let (port, seen) = server(vec![ok("first")]).await;
    // Rebinding: allowed when asked first, private from then on.
    let names = Names {
        answers: HashMap::from([("turning.example", vec![vec![HERE], vec!["10.0.0.1".parse().expect("ip")]])]),
        ..Names::default()
    };
    let outbound = open(names);
    let answer = outbound.fetch(&format!("http://turning.example:{port}/a.txt"), 100, SECOND).await.expect("an answer");
    assert_eq!(
        (&answer.bytes[..], answer.media_type.as_deref(), answer.file_name.as_deref()),
        (&b"first"[..], Some("text/plain"), Some("a.txt"))
    );
    let again = outbound.fetch(&format!("http://turning.example:{port}/"), 100, SECOND).await;
    assert!(matches!(again, Err(OutboundError::NotPublic)), "{again:?}");
    assert_eq!(seen.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn every_redirect_is_checked() {
    let names = || Names { answers: HashMap::from([("here.example", vec![vec![HERE]])]), ..Names::default() };
    for target in ["http://169.254.169.254/latest/meta-data/", "http://[::1]/", "http://10.1.1.1/", "http://2852039166/"] {
        let (port, _) = server(vec![moved(target)]).await;
        let refused = open(names()).fetch(&format!("http://here.example:{port}/"), 100, SECOND).await;
        assert!(matches!(refused, Err(OutboundError::NotPublic)), "{target}: {refused:?}");
    }
    let (port, _) = server(vec![moved("file:///etc/passwd")]).await;
    let refused = open(names()).fetch(&format!("http://here.example:{port}/"), 100, SECOND).await;
    assert!(matches!(refused, Err(OutboundError::Scheme)), "{refused:?}");

    let (port, seen) = server(vec![moved("/round")]).await;
    let refused = open(names()).fetch(&format!("http://here.example:{port}/"), 100, SECOND).await;
    assert!(matches!(refused, Err(OutboundError::Redirects)), "{refused:?}");
    assert_eq!(seen.load(Ordering::SeqCst), 6, "the first and five redirects");

    let (port, _) = server(vec![moved("/b/report.pdf"), ok("report")]).await;
    let answer = open(names()).fetch(&format!("http://here.example:{port}/a"), 100, SECOND).await.expect("an answer");
    assert_eq!(answer.file_name.as_deref(), Some("report.pdf"));
}

#[tokio::test]
async fn size_time_and_status_are_bounded() {
    let names = || Names { answers: HashMap::from([("here.example", vec![vec![HERE]])]), ..Names::default() };
    let fetch = |port: u16, max: u64| async move { open(names()).fetch(&format!("http://here.example:{port}/"), max, SECOND).await };
    let (port, _) = server(vec![ok(&"x".repeat(101))]).await;
    assert!(matches!(fetch(port, 100).await, Err(OutboundError::TooLarge(100))));
    // Without a length, or with a lying one: what comes is counted.
    let (port, _) = server(vec![format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}", "x".repeat(101))]).await;
    assert!(matches!(fetch(port, 100).await, Err(OutboundError::TooLarge(100))));
    let (port, _) = server(vec!["HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned()]).await;
    assert!(matches!(fetch(port, 100).await, Err(OutboundError::Status(404))));
    let (port, _) = server(vec!["HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nbroken".to_owned()]).await;
    assert!(matches!(fetch(port, 100).await, Err(OutboundError::Unreachable(_))));

    let slow = TcpListener::bind((HERE, 0)).await.expect("a port");
    let port = slow.local_addr().expect("address").port();
    let late = open(names()).fetch(&format!("http://here.example:{port}/"), 100, Duration::from_millis(200)).await;
    assert!(matches!(late, Err(OutboundError::TimedOut)), "{late:?}");
    drop(slow);
}
