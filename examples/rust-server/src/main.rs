//! An HTTP server: a cached site, files from disk, a proxy, uploads, health and metrics; HTTP/1.1 and
//! HTTP/2, with and without TLS.
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;

mod access_log;
mod conditional;
mod config;
mod files;
mod metrics;
mod proxy;
mod reply;
mod server;
mod site;
mod tls;
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

async fn listen(address: std::net::SocketAddr) -> Result<tokio::net::TcpListener, Error> {
    tokio::net::TcpListener::bind(address)
        .await
        .map_err(|e| format!("cannot listen on {address}: {e}").into())
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
        let plain = listen(config.listen).await?;
        let tls = match &config.tls {
            Some(tls) => Some((listen(tls.listen).await?, tls::acceptor(tls)?)),
            None => None,
        };
        Arc::new(server::Server::new(config)?)
            .serve(plain, tls)
            .await
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
