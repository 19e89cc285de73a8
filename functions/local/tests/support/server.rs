//! A running `quarry serve`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

use super::Quarry;

/// The server; it ends when dropped.
pub struct Server {
    pub child: Child,
    pub url: String,
    pub client: Client,
}

impl Server {
    pub fn start(quarry: &Quarry, more: &[&str]) -> Self {
        let mut child = quarry
            .command()
            .args(["serve", "--port", "0", "--json"])
            .args(more)
            .env("QUARRY_LOG", "error")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut text = String::new();
        let url = loop {
            text.push_str(&lines.next().expect("the server says where it is").unwrap());
            if let Ok(said) = serde_json::from_str::<Value>(&text) {
                break said["url"].as_str().unwrap().to_owned();
            }
        };
        Self { child, url, client: Client::new() }
    }

    pub fn at(&self, path: &str) -> String {
        format!("{}/v1{path}", self.url)
    }

    pub async fn get(&self, path: &str) -> (StatusCode, Value) {
        let response = self.client.get(self.at(path)).send().await.unwrap();
        (response.status(), response.json().await.unwrap())
    }

    pub async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        let response = self.client.post(self.at(path)).json(&body).send().await.unwrap();
        (response.status(), response.json().await.unwrap())
    }

    pub async fn put(&self, job: &Value, bytes: &str) -> reqwest::Response {
        let mut put = self.client.put(job["upload_url"].as_str().unwrap()).body(bytes.to_owned());
        for (name, value) in job["upload_headers"].as_object().unwrap() {
            put = put.header(name, value.as_str().unwrap());
        }
        put.send().await.unwrap()
    }

    pub async fn ended(&self, job: &str) -> Value {
        let began = Instant::now();
        while began.elapsed() < Duration::from_mins(1) {
            let (_, body) = self.get(&format!("/jobs/{job}")).await;
            if matches!(body["status"].as_str(), Some("done" | "failed")) {
                return body;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("job {job} does not end");
    }

    pub async fn found(&self, query: &str) -> Value {
        let (status, body) = self.post("/retrieval/query", json!({ "query": query })).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        body
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
