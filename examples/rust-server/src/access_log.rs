//! A line for each request, written in blocks.
use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Mutex;
use std::time::SystemTime;

use hyper::{Method, StatusCode, Version};

use crate::Error;

pub struct AccessLog(Option<Mutex<BufWriter<File>>>);

/// What a line says of a request; kept while it is answered.
pub struct Entry {
    peer: SocketAddr,
    method: Method,
    path: String,
    version: Version,
}

impl AccessLog {
    pub fn open(path: &Path) -> Result<AccessLog, Error> {
        if path.as_os_str().is_empty() {
            return Ok(AccessLog(None));
        }
        let file = File::options().create(true).append(true).open(path);
        let file = file.map_err(|e| format!("cannot write '{}': {e}", path.display()))?;
        Ok(AccessLog(Some(Mutex::new(BufWriter::with_capacity(
            32 * 1024,
            file,
        )))))
    }

    pub fn begin<B>(&self, peer: SocketAddr, request: &hyper::Request<B>) -> Option<Entry> {
        self.0.as_ref()?;
        Some(Entry {
            peer,
            method: request.method().clone(),
            path: request.uri().path().to_string(),
            version: request.version(),
        })
    }

    pub fn end(&self, entry: Entry, status: StatusCode) {
        let Some(Ok(mut out)) = self.0.as_ref().map(|file| file.lock()) else {
            return;
        };
        let now = httpdate::HttpDate::from(SystemTime::now());
        let Entry {
            peer,
            method,
            path,
            version,
        } = entry;
        let ip = peer.ip();
        // A full disk must not stop the service.
        let _ = writeln!(
            out,
            "{ip} [{now}] \"{method} {path} {version:?}\" {}",
            status.as_u16()
        );
    }

    pub fn flush(&self) {
        if let Some(Ok(mut out)) = self.0.as_ref().map(|file| file.lock()) {
            let _ = out.flush();
        }
    }
}
