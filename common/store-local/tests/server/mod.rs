//! The signed route, as small as it can be, so that signed addresses are really used over HTTP.

use std::path::Path;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use quarry_ports::{Clock, ObjectError, SystemClock};
use quarry_store_local::{LocalStore, PublicBase};

/// A store whose signed addresses reach a server of this test.
pub(crate) async fn serve(folder: &Path) -> LocalStore {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = PublicBase::new(&format!("http://{}", listener.local_addr().unwrap()));
    let store = LocalStore::open(folder, base).unwrap();
    let router = Router::new().fallback(answer).with_state(store.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    store
}

async fn answer(State(store): State<LocalStore>, request: Request) -> Response {
    let method = request.method().clone();
    let target = request.uri().path_and_query().unwrap().as_str().to_owned();
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let now = SystemClock.now();
    let Ok(key) = store.verify_signed(method.as_str(), &target, content_type.as_deref(), now) else {
        return StatusCode::FORBIDDEN.into_response();
    };
    if method == Method::PUT {
        let body: Bytes = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap();
        return match store.accept_signed_put(&key, body, &content_type.unwrap()).await {
            Ok(_) => StatusCode::OK.into_response(),
            Err(ObjectError::Precondition(_)) => StatusCode::PRECONDITION_FAILED.into_response(),
            Err(error) => panic!("{error}"),
        };
    }
    let name = store.signed_file_name(method.as_str(), &target, now).unwrap_or_default();
    let encoded = utf8_percent_encode(&name, NON_ALPHANUMERIC).to_string().replace("%2E", ".");
    let disposition = format!("attachment; filename*=UTF-8''{encoded}");
    let (body, _) = store.objects().get(&key).await.unwrap();
    ([(header::CONTENT_DISPOSITION, disposition)], body).into_response()
}
