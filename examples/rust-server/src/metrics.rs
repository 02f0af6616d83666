//! Counters in the text format that monitoring systems collect.
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hyper::StatusCode;

use crate::reply::{text, Reply};

#[derive(Default)]
pub struct Metrics {
    connections: AtomicU64,
    by_class: [AtomicU64; 6],
}

impl Metrics {
    pub fn connection(&self) {
        self.connections.fetch_add(1, Relaxed);
    }

    pub fn answered(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).min(self.by_class.len() - 1);
        self.by_class[class].fetch_add(1, Relaxed);
    }

    pub fn answer(&self) -> Reply {
        let mut out = String::from("# TYPE edge_requests_total counter\n");
        for (class, n) in self.by_class.iter().enumerate().skip(1) {
            let n = n.load(Relaxed);
            let _ = writeln!(out, "edge_requests_total{{class=\"{class}xx\"}} {n}");
        }
        let connections = self.connections.load(Relaxed);
        let _ = writeln!(out, "# TYPE edge_connections_total counter");
        let _ = writeln!(out, "edge_connections_total {connections}");
        text(StatusCode::OK, out)
    }
}
