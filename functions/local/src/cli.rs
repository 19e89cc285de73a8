//! The command line.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    something went wrong
  2    wrong call
  3    done, but some documents could not be read; a followed job has failed
  4    nothing found
  130  interrupted; the next call goes on where this one stopped

Data is kept in ./.quarry unless --data or QUARRY_DATA says otherwise.";

/// Reads documents and answers questions with cited evidence from them. Everything stays on this machine.
#[derive(Debug, Parser)]
#[command(name = "quarry", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Folder that holds all data
    #[arg(long, global = true, env = "QUARRY_DATA", default_value = ".quarry", value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// Write JSON instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct InNamespace {
    /// The corpus to use
    #[arg(long, short, default_value = "default")]
    pub(crate) namespace: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read what is new or changed in folders and files, then answer a question with cited evidence
    Ask(Ask),
    /// Read files and folders
    Ingest(Ingest),
    /// Find the best passages for a query
    Search(Search),
    /// Show the sections of a document
    Outline(OneDocument),
    /// Show a document (as Markdown), one of its chunks, or the image of a page
    Show(Show),
    /// List documents
    List(List),
    /// List jobs, show one with its history, or follow them to their end
    Jobs(Jobs),
    /// Take a document out of search but keep it
    Archive(OneDocument),
    /// Remove a document and everything made from it
    Delete(OneDocument),
    /// Move dead letters, messages that were given up, back into the queues they came from
    Redrive(Redrive),
    /// Serve the HTTP API
    Serve(Serve),
    /// Serve one MCP client over standard input and output
    Mcp(Mcp),
    /// Check the data folder, the index, the parsers and the configuration
    Doctor(Doctor),
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Show what one stage sees
    #[command(subcommand)]
    Debug(Debug),
    /// Read documents for another quarry process: parse messages on standard input, outcomes on standard output
    #[command(hide = true)]
    ParseWorker,
    /// Measure a PDF for another quarry process: the document on standard input, JSON on standard output
    #[command(hide = true)]
    MeasurePdf,
    /// Draw a page for another quarry process: the document on standard input, the image on standard output
    #[command(hide = true)]
    DrawPage {
        /// From 1
        page: u32,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    #[command(flatten)]
    pub(crate) place: InNamespace,
}

#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// Files and folders to answer from, then the question; the question alone asks what has been read before
    #[arg(required = true, num_args = 1.., value_name = "PATH… QUESTION")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) place: InNamespace,
    /// Most tokens of evidence
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u32>,
    /// Most results
    #[arg(long, value_name = "N")]
    pub(crate) top_k: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Ingest {
    /// Files and folders
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) place: InNamespace,
    /// Wait for the end even when a running `quarry serve` does the work
    #[arg(long)]
    pub(crate) wait: bool,
    /// Read unchanged files again
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What to look for
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) place: InNamespace,
    /// Most results
    #[arg(long, short = 'k', default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) top_k: u32,
    /// Only these kinds of chunk: text, image, table
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// Only in these documents: id, path or file name
    #[arg(long = "in", value_name = "DOC")]
    pub(crate) documents: Vec<String>,
    /// Divide the question, follow names, walk the documents, and print the evidence
    #[arg(long)]
    pub(crate) agentic: bool,
    /// Say what was done: plan, steps, budget
    #[arg(long)]
    pub(crate) trace: bool,
    /// Most tokens of everything: model calls and evidence
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct OneDocument {
    /// Its id, its path, or its file name
    #[arg(value_name = "DOC")]
    pub(crate) document: String,
    #[command(flatten)]
    pub(crate) place: InNamespace,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// A document (id, path or file name), a chunk of it (DOC:ORDINAL), or a chunk id
    #[arg(value_name = "DOC|CHUNK")]
    pub(crate) target: String,
    /// Write this page (from 1) as a PNG; with a chunk its place on the page is marked. For a chunk without a number: its first page
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "0")]
    pub(crate) page: Option<u32>,
    /// Where to write the page's image, instead of NAME-page-N.png in this folder
    #[arg(long, value_name = "FILE", requires = "page")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: InNamespace,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) place: InNamespace,
    /// Archived documents as well
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Jobs {
    /// One job
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Most jobs, newest first
    #[arg(long, default_value_t = 20)]
    pub(crate) limit: usize,
    /// Write a line for each step until the job has ended (0 when it is done, 3 when it has failed); without an ID all jobs at work
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Jobs of a server instead of the data folder's
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Key for the server
    #[arg(long, env = "QUARRY_API_KEY", hide_env_values = true, value_name = "KEY")]
    pub(crate) key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Redrive {
    /// Only of these queues: profile, parse-docx and the other parsers, publish
    #[arg(value_name = "QUEUE")]
    pub(crate) queues: Vec<String>,
    /// Only of this job
    #[arg(long, value_name = "ID")]
    pub(crate) job: Option<String>,
    /// Most letters
    #[arg(long, default_value_t = 1000)]
    pub(crate) limit: usize,
    /// Only say what would be moved
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// On the installation of this name on AWS (the template's Stage) instead of the data folder
    #[arg(long, value_name = "STAGE", hide = cfg!(not(feature = "aws")))]
    pub(crate) stage: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Port to listen on; 0 lets the system choose
    #[arg(long, default_value_t = 8080)]
    pub(crate) port: u16,
    /// Address to listen on; with any but a loopback address callers need a key
    #[arg(long, default_value = "127.0.0.1", value_parser = host)]
    pub(crate) host: IpAddr,
    /// Read every new or changed file of this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) watch: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) place: InNamespace,
}

/// An address of this machine.
fn host(text: &str) -> Result<IpAddr, String> {
    if text.eq_ignore_ascii_case("localhost") {
        return Ok(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));
    }
    text.parse().map_err(|_| "must be an IP address of this machine, or localhost".to_owned())
}

#[derive(Debug, Subcommand)]
pub(crate) enum Debug {
    /// What a file is, and which parser reads it
    Profile {
        /// The file
        file: PathBuf,
    },
    /// Read a file and write its revision folder, and nothing else
    Parse {
        /// The file
        file: PathBuf,
        /// Where to; made when it is not there
        #[arg(long)]
        out: PathBuf,
    },
    /// What reading files costs: documents, bytes, processor time, memory
    #[command(hide = true)]
    Bench {
        /// The files
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// How often each is read, after once to warm up
        #[arg(long, default_value_t = 5)]
        rounds: u32,
    },
    /// The heading tree of a file with what made each heading one
    Hierarchy {
        /// The file
        file: PathBuf,
    },
    /// What each channel finds, how they are fused, and every step of the answer
    Search(Search),
    /// Every prompt and decision of an agentic answer
    Agentic(Search),
    /// Take one file through all stages in a data folder of its own and show what each sees
    Road {
        /// The file
        file: PathBuf,
        /// A query to end with
        #[arg(long)]
        query: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Mend what is wrong: finish what broke off, merge and sweep, build damaged indexes again from the revision folders
    #[arg(long)]
    pub(crate) repair: bool,
}
