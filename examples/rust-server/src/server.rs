//! Accepts connections, finds the part that answers, and stops when told to.
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::config::Config;
use crate::metrics::Metrics;
use crate::proxy::Proxy;
use crate::reply::{not_allowed, text, Reply};
use crate::site::Site;
use crate::{files, uploads, Error};

pub struct Server {
    config: Config,
    site: Site,
    proxy: Proxy,
    metrics: Metrics,
}

impl Server {
    pub fn new(config: Config) -> Result<Server, Error> {
        let site = Site::load(&config.site)?;
        let proxy = Proxy::new(&config.upstream);
        Ok(Server {
            config,
            site,
            proxy,
            metrics: Metrics::default(),
        })
    }

    async fn route(&self, request: Request<Incoming>, peer: SocketAddr) -> Result<Reply, Error> {
        let path = request.uri().path();
        if let Some(reply) = self.site.answer(request.method(), path, request.headers()) {
            return Ok(reply);
        }
        if path == "/health" || path == "/metrics" {
            if request.method() != Method::GET {
                return Ok(not_allowed("GET"));
            }
            return Ok(match path {
                "/health" => text(StatusCode::OK, "ok\n"),
                _ => self.metrics.answer(),
            });
        }
        if path == "/upload" {
            return uploads::answer(&self.config.uploads, request).await;
        }
        if let Some(name) = path.strip_prefix("/files/") {
            let (method, headers) = (request.method(), request.headers());
            return files::answer(&self.config.files, method, name, headers).await;
        }
        if let Some(rest) = path.strip_prefix("/api") {
            let rest = rest.to_string();
            return self.proxy.answer(request, &rest, peer.ip()).await;
        }
        Ok(text(StatusCode::NOT_FOUND, "not found\n"))
    }

    async fn answer(&self, request: Request<Incoming>, peer: SocketAddr) -> Result<Reply, Error> {
        let reply = self.route(request, peer).await.unwrap_or_else(|e| {
            eprintln!("{peer}: {e}");
            text(StatusCode::INTERNAL_SERVER_ERROR, "internal error\n")
        });
        self.metrics.answered(reply.status());
        Ok(reply)
    }

    async fn connection(&self, stream: TcpStream, peer: SocketAddr, stop: CancellationToken) {
        let _ = stream.set_nodelay(true);
        self.metrics.connection();
        let service = service_fn(|request| self.answer(request, peer));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(Duration::from_secs(300))
            .serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = &mut connection => ended,
            () = stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        // A peer that goes away in the middle of a request is its own affair.
        if let Err(e) = ended {
            if !e.is_incomplete_message() && !e.is_canceled() {
                eprintln!("{peer}: {e}");
            }
        }
    }

    /// Serves until SIGTERM or SIGINT, then lets running requests finish.
    pub async fn serve(self: Arc<Server>, listener: TcpListener) -> Result<(), Error> {
        use tokio::signal::unix::{signal, SignalKind};
        let (mut term, mut int) = (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        );
        let stop = CancellationToken::new();
        let connections = TaskTracker::new();
        loop {
            let (stream, peer) = tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok(accepted) => accepted,
                    Err(e) => {
                        // Out of descriptors, or the peer has gone: serving goes on.
                        eprintln!("accept: {e}");
                        tokio::time::sleep(Duration::from_millis(10)).await;
                        continue;
                    }
                },
                _ = term.recv() => break,
                _ = int.recv() => break,
            };
            let (server, stop) = (self.clone(), stop.clone());
            connections.spawn(async move { server.connection(stream, peer, stop).await });
        }
        stop.cancel();
        connections.close();
        let all = connections.wait();
        if tokio::time::timeout(Duration::from_secs(10), all)
            .await
            .is_err()
        {
            eprintln!("some connections did not end within 10 s");
        }
        Ok(())
    }
}
