//! `quarry debug`: what one stage sees.

mod agentic;
mod bench;
mod hierarchy;
mod parse;
mod profile;
mod reading;
mod road;
mod search;

use quarry_runtime::Config;
use quarry_store_local::PublicBase;

use crate::cli::{Common, Debug};
use crate::engine::Engine;
use crate::exit::{Exit, Failure};

/// Profile, parse and hierarchy touch no data folder; the others open one.
pub(crate) fn run(common: &Common, config: Config, what: Debug) -> Result<Exit, Failure> {
    let json = common.json;
    match what {
        Debug::Profile { file } => profile::run(&config, &file, json),
        Debug::Parse { file, out } => parse::run(&config, &file, &out, json),
        Debug::Bench { files, rounds } => bench::run(&config, &files, rounds),
        Debug::Hierarchy { file } => hierarchy::run(&config, &file, json),
        Debug::Search(args) => {
            let engine = Engine::open(&common.data, config, PublicBase::default())?;
            super::multi(search::run(&engine, args))
        }
        Debug::Agentic(args) => {
            let engine = Engine::open(&common.data, config, PublicBase::default())?;
            super::multi(agentic::run(&engine, args, json))
        }
        Debug::Road { file, query } => super::multi(road::run(config, &file, query)),
    }
}
