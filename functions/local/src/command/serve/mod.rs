//! `quarry serve`: the HTTP API, and the road behind it.

mod objects;
mod watch;

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use anyhow::Context;
use quarry_retrieval::tools::Tools;
use quarry_runtime::Config;
use quarry_runtime::http::{Access, Authenticator, Options, app};
use quarry_search::Search;
use quarry_search::api::InProcess;
use quarry_store_local::PublicBase;
use quarry_upload::{Pages, Upload};
use serde_json::json;
use tokio::net::TcpListener;

use crate::cli::{Common, Serve};
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::worker::ChildDrawer;
use crate::{output, wait};

/// Pages drawn at once; who asks for more waits.
const PAGES_AT_ONCE: usize = 2;

pub(crate) async fn run(common: &Common, config: Config, args: Serve) -> Result<Exit, Failure> {
    let wanted = SocketAddr::new(args.host, args.port);
    let listener = TcpListener::bind(wanted).await.map_err(|error| {
        let hint = if error.kind() == ErrorKind::AddrInUse { "; --port chooses another, 0 any that is free" } else { "" };
        anyhow::anyhow!("cannot listen on {wanted}: {error}{hint}")
    })?;
    let address = listener.local_addr()?;
    let base = config.public_url.clone().unwrap_or_else(|| reachable(address));
    let engine = Arc::new(Engine::open(&common.data, config, PublicBase::new(&base))?);
    let scope = engine.scope(&args.place.namespace)?;
    let watched = watch::Watched::new(&engine, scope, &args.watch)?;
    let router = router(&engine, args.host)?;
    // Heard from before the first word: whoever reads it may ask us to stop at once.
    let asked_to_stop = asked_to_stop();
    if common.json {
        output::json(&json!({ "url": base, "data": engine.data }))?;
    } else {
        output::text(format!("serving {base} from {}", engine.data.display()))?;
    }
    let serving = async {
        let server = axum::serve(listener, router).with_graceful_shutdown(asked_to_stop);
        tokio::select! {
            served = async { server.await } => Ok(served.context("the server failed")?),
            failure = watched.run() => Err(failure),
        }
    };
    wait::keep_road(&engine, serving).await?;
    output::note("stopped");
    Ok(Exit::Ok)
}

/// The same routers as the functions', and the local store's signed addresses.
fn router(engine: &Arc<Engine>, host: IpAddr) -> Result<axum::Router, Failure> {
    let access = if host.is_loopback() { Access::LoopbackUnlessKeys } else { Access::Keys };
    let served = Served::new(engine, access)?;
    let routes = quarry_upload::routes(served.upload).merge(quarry_search::routes(served.search));
    let root = quarry_upload::root().merge(objects::routes(Arc::clone(engine))).merge(quarry_search::mcp::routes(served.tools));
    Ok(app(routes, root, served.authenticator, Options { metrics: engine.config.log.metrics, ..Options::named("serve") }))
}

/// The functions' handlers over one engine.
pub(crate) struct Served {
    pub(crate) upload: Arc<Upload>,
    pub(crate) search: Arc<Search>,
    pub(crate) tools: Arc<Tools>,
    pub(crate) authenticator: Arc<Authenticator>,
}

impl Served {
    pub(crate) fn new(engine: &Engine, access: Access) -> Result<Self, Failure> {
        let authenticator = Arc::new(Authenticator::new(engine.records.clone(), engine.clock.clone(), access, &engine.config));
        let upload = Arc::new(Upload {
            pages: Pages { objects: engine.objects.clone(), drawer: Arc::new(ChildDrawer::new(PAGES_AT_ONCE)?) },
            objects: engine.objects.clone(),
            queue: engine.queue.clone(),
            jobs: engine.jobs.clone(),
            authenticator: Arc::clone(&authenticator),
            outbound: engine.outbound()?,
            webhooks: engine.config.webhooks,
            limits: Arc::clone(&engine.limits),
            direct_upload_bytes: engine.config.direct_upload_bytes,
            environment: engine.config.environment.clone(),
        });
        // The tools that hand documents in use the same handlers as everybody, without a socket.
        let intake = app(quarry_upload::routes(upload.clone()), axum::Router::new(), authenticator.clone(), Options::named("tools"));
        let retriever = Arc::new(engine.retriever());
        let (records, objects, limits) = (engine.records.clone(), engine.objects.clone(), engine.limits.clone());
        let tools = Arc::new(Tools::new(retriever.clone(), records, objects, limits.clone(), Some(Arc::new(InProcess(intake)))));
        Ok(Self { upload, search: Arc::new(Search { retriever, tools: tools.clone(), limits }), tools, authenticator })
    }
}

/// The address under which a client on this machine reaches a listener.
fn reachable(address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        return format!("http://127.0.0.1:{}", address.port());
    }
    format!("http://{address}")
}

/// Ctrl-C, or the signal that service managers send; that one is heard from this call on.
fn asked_to_stop() -> impl Future<Output = ()> + Send + 'static {
    #[cfg(unix)]
    let terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate());
    async move {
        #[cfg(unix)]
        if let Ok(mut terminate) = terminate {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
        if tokio::signal::ctrl_c().await.is_err() {
            // Without a way to hear the signal the process ends by it.
            std::future::pending::<()>().await;
        }
    }
}
