//! An HTTP/1.1 server: a cached site, files from disk, a proxy, uploads, health and metrics.
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;

mod conditional;
mod config;
mod files;
mod metrics;
mod proxy;
mod reply;
mod server;
mod site;
mod uploads;

pub type Error = Box<dyn std::error::Error + Send + Sync>;

#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    /// Configuration file
    #[arg(long, default_value = "edge.toml")]
    config: PathBuf,
    /// Listen on this port instead of the configured one
    #[arg(long)]
    port: Option<u16>,
}

fn run(arguments: Arguments) -> Result<(), Error> {
    let mut config = config::read(&arguments.config)?;
    if let Some(port) = arguments.port {
        config.listen.set_port(port);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(config.workers)
        .max_blocking_threads(4)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(config.listen)
            .await
            .map_err(|e| format!("cannot listen on {}: {e}", config.listen))?;
        Arc::new(server::Server::new(config)?).serve(listener).await
    })
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("edge: {e}");
            ExitCode::FAILURE
        }
    }
}
