//! One file for each command.

mod ask;
mod debug;
mod doctor;
mod draw_page;
mod ingest;
mod jobs;
mod list;
mod mcp;
mod measure_pdf;
mod outline;
mod page;
mod parse_worker;
mod redrive;
mod search;
mod serve;
mod show;
mod trace;
mod withdraw;

use std::future::Future;
use std::io;

use clap::CommandFactory;
use quarry_model::message::PublishAction;
use quarry_runtime::{Config, logs};
use quarry_store_local::PublicBase;

use crate::cli::{Cli, Command, Common};
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::output;

/// Does what the arguments say.
pub(crate) fn run(cli: Cli) -> Result<Exit, Failure> {
    let Cli { common, command } = cli;
    if let Command::Completions { shell } = command {
        clap_complete::generate(shell, &mut Cli::command(), "quarry", &mut io::stdout());
        return Ok(Exit::Ok);
    }
    let mut config = Config::from_env().map_err(Failure::usage)?;
    // Standard output belongs to results: log lines go to standard error as text, and of the commands that end by
    // themselves only what went wrong.
    config.log.format = quarry_runtime::config::LogFormat::Text;
    config.log.metrics = false;
    if !matches!(command, Command::Serve(_)) && std::env::var_os("QUARRY_LOG").is_none() {
        config.log.filter = "error".to_owned();
    }
    logs::init(&config.log);
    match command {
        Command::ParseWorker => single(parse_worker::run(&common, config)),
        Command::DrawPage { page } => draw_page::run(&config, page),
        Command::MeasurePdf => measure_pdf::run(&config),
        Command::Debug(what) => debug::run(&common, config, what),
        Command::Serve(serve) => multi(serve::run(&common, config, serve)),
        // A server's jobs need no data folder.
        Command::Jobs(jobs) if jobs.url.is_some() => {
            let url = jobs.url.clone().unwrap_or_default();
            multi(jobs::of_server(&url, &jobs, common.json))
        }
        Command::Redrive(mut args) if args.stage.is_some() => {
            let stage = args.stage.take().unwrap_or_default();
            multi(redrive::deployed(&stage, args, common.json))
        }
        other => {
            let nothing_yet = reads(&other) && !common.data.exists();
            let engine = Engine::open(&common.data, config, PublicBase::default())?;
            if nothing_yet {
                let hint = "`quarry ingest PATH` fills it; --data or QUARRY_DATA names another";
                output::note(format!("there was no data folder at {}: {hint}", common.data.display()));
            }
            multi(on_engine(engine, common, other))
        }
    }
}

/// Whether a command only makes sense where something has been read before.
fn reads(command: &Command) -> bool {
    matches!(
        command,
        Command::Search(_) | Command::Outline(_) | Command::Show(_) | Command::List(_) | Command::Archive(_) | Command::Delete(_)
    )
}

async fn on_engine(engine: Engine, common: Common, command: Command) -> Result<Exit, Failure> {
    let json = common.json;
    match command {
        Command::Ask(ask) => ask::run(&engine, ask, json).await,
        Command::Ingest(ingest) => ingest::run(&engine, ingest, json).await,
        Command::Search(search) => search::run(&engine, search, json).await,
        Command::Outline(document) => outline::run(&engine, document, json).await,
        Command::Show(show) => show::run(&engine, show, json).await,
        Command::List(list) => list::run(&engine, list, json).await,
        Command::Jobs(jobs) => Box::pin(jobs::run(&engine, jobs, json)).await,
        Command::Archive(document) => withdraw::run(&engine, document, PublishAction::Archive, json).await,
        Command::Delete(document) => withdraw::run(&engine, document, PublishAction::Delete, json).await,
        Command::Redrive(args) => redrive::run(&engine, args, json).await,
        Command::Mcp(args) => mcp::run(&engine, args).await,
        Command::Doctor(doctor) => doctor::run(&engine, doctor, json).await,
        Command::Serve(_)
        | Command::Debug(_)
        | Command::ParseWorker
        | Command::MeasurePdf
        | Command::DrawPage { .. }
        | Command::Completions { .. } => Ok(Exit::Ok),
    }
}

/// Runs on as many threads as there are cores.
fn multi(work: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}

/// Runs on this thread.
fn single(work: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}
