//! `quarry parse-worker`: reads documents for the process that started it.

use quarry_document::ParseStage;
use quarry_model::message::ParseMessage;
use quarry_model::{DocumentCode, Outcome};
use quarry_ports::{Stage, trace};
use quarry_runtime::Config;
use quarry_store_local::PublicBase;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::runtime::Handle;

use crate::cli::Common;
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::parsers::parser_with;
use crate::worker::Told;

pub(crate) async fn run(common: &Common, config: Config) -> Result<Exit, Failure> {
    let engine = Engine::open(&common.data, config, PublicBase::default())?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut answers = tokio::io::stdout();
    // The end of the input is the end of the work.
    while let Some(line) = lines.next_line().await? {
        let Told { message, trace } = serde_json::from_str(&line)?;
        #[cfg(debug_assertions)]
        fault::inject(&message.file_name);
        let parsing = parse(&engine, message);
        let outcome = match trace {
            Some(trace) => trace::within(trace, parsing).await,
            None => parsing.await,
        };
        let mut answer = serde_json::to_string(&outcome)?;
        answer.push('\n');
        answers.write_all(answer.as_bytes()).await?;
        answers.flush().await?;
        if matches!(&outcome, Outcome::Rejected(failure) if failure.code == DocumentCode::TimedOut) {
            // The parser's thread cannot be stopped: it ends with this process.
            break;
        }
    }
    Ok(Exit::Ok)
}

async fn parse(engine: &Engine, message: ParseMessage) -> Outcome<()> {
    let again = |cause: &str| Outcome::Retry { cause: cause.to_owned(), delay_seconds: 1 };
    let Some(family) = message.profile.format.row().family else { return again("no parser for this format") };
    let (objects, queue, clock) = (engine.objects.clone(), engine.queue.clone(), engine.clock.clone());
    let parser = parser_with(family, quarry_ocr::configured(&engine.model, &Handle::current()));
    let stage = ParseStage::new(parser, objects, queue, clock, (*engine.limits).clone()).with_model(engine.model.clone());
    let outcomes = stage.run(vec![message]).await;
    outcomes.into_iter().next().unwrap_or_else(|| again("the parser gave no outcome"))
}

/// Faults for the program's own tests, in builds made for testing only: documents that kill or hang their parser
/// cannot be had otherwise, since every one we know of is fixed.
#[cfg(debug_assertions)]
mod fault {
    /// Fails as the file's name asks, if `QUARRY_TEST_FAULTS` is set.
    pub(super) fn inject(file_name: &str) {
        if std::env::var_os("QUARRY_TEST_FAULTS").is_none() {
            return;
        }
        match file_name {
            "abort.md" => std::process::abort(),
            "loop.md" => loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            },
            _ => {}
        }
    }
}
