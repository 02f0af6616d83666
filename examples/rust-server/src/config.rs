//! The server's configuration file.
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::Error;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Address and port to listen on; the command line may override the port.
    #[serde(default = "default_listen")]
    pub listen: std::net::SocketAddr,
    /// TLS on a port of its own; without it there is none.
    pub tls: Option<Tls>,
    /// File that gets a line for each request; empty: none.
    #[serde(default)]
    pub access_log: PathBuf,
    /// Folder whose files are held in memory and served at `/`.
    pub site: PathBuf,
    /// Folder whose files are read from disk for each request, served at `/files/`.
    pub files: PathBuf,
    /// Server behind `/api/`, e.g. `127.0.0.1:8081`.
    pub upstream: String,
    /// Server behind `/old/`; without it the path is not found.
    pub old_upstream: Option<String>,
    #[serde(default = "default_workers")]
    pub workers: usize,
    #[serde(default)]
    pub uploads: Uploads,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    pub listen: std::net::SocketAddr,
    /// PEM files: the chain, the server's certificate first, and its key.
    pub certificate: PathBuf,
    pub key: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Uploads {
    pub max_bytes: usize,
    /// An upload that holds one of these (in any case) is refused.
    pub refused: Vec<String>,
}

impl Default for Uploads {
    fn default() -> Self {
        Uploads {
            max_bytes: 65536,
            refused: ["<script", "../", "union select"].map(String::from).into(),
        }
    }
}

fn default_listen() -> std::net::SocketAddr {
    ([127, 0, 0, 1], 8080).into()
}

fn default_workers() -> usize {
    1
}

pub fn read(path: &Path) -> Result<Config, Error> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| format!("cannot read '{}': {e}", path.display()))?;
    toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()).into())
}
