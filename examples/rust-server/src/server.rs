//! Accepts connections, finds the part that answers, and stops when told to.
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::access_log::AccessLog;
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
    old: Option<Proxy>,
    log: AccessLog,
    metrics: Metrics,
}

impl Server {
    pub fn new(config: Config) -> Result<Server, Error> {
        let site = Site::load(&config.site)?;
        let proxy = Proxy::new(&config.upstream);
        let old = config.old_upstream.as_deref().map(Proxy::new);
        let log = AccessLog::open(&config.access_log)?;
        Ok(Server {
            config,
            site,
            proxy,
            old,
            log,
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
        if let (Some(old), Some(rest)) = (&self.old, path.strip_prefix("/old")) {
            let rest = rest.to_string();
            return old.answer(request, &rest, peer.ip()).await;
        }
        Ok(text(StatusCode::NOT_FOUND, "not found\n"))
    }

    async fn answer(&self, request: Request<Incoming>, peer: SocketAddr) -> Reply {
        let entry = self.log.begin(peer, &request);
        let reply = self.route(request, peer).await.unwrap_or_else(|e| {
            eprintln!("{peer}: {e}");
            text(StatusCode::INTERNAL_SERVER_ERROR, "internal error\n")
        });
        self.metrics.answered(reply.status());
        if let Some(entry) = entry {
            self.log.end(entry, reply.status());
        }
        reply
    }

    /// Answers what comes over one connection, in the protocol that the client begins with.
    async fn connection<S>(self: Arc<Server>, stream: S, peer: SocketAddr, stop: CancellationToken)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        self.metrics.connection();
        let service = service_fn(move |request| {
            let server = self.clone();
            async move { Ok::<_, Infallible>(server.answer(request, peer).await) }
        });
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(Duration::from_secs(300));
        builder.http2().timer(TokioTimer::new());
        let connection = builder.serve_connection(TokioIo::new(stream), service);
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
            let expected = e
                .downcast_ref::<hyper::Error>()
                .is_some_and(|e| e.is_incomplete_message() || e.is_canceled());
            if !expected {
                eprintln!("{peer}: {e}");
            }
        }
    }

    async fn accepted(
        self: Arc<Server>,
        stream: TcpStream,
        peer: SocketAddr,
        tls: Option<TlsAcceptor>,
        stop: CancellationToken,
    ) {
        let _ = stream.set_nodelay(true);
        let Some(tls) = tls else {
            return self.connection(stream, peer, stop).await;
        };
        match tls.accept(stream).await {
            Ok(stream) => self.connection(stream, peer, stop).await,
            Err(e) => eprintln!("{peer}: no TLS: {e}"),
        }
    }

    /// Serves until SIGTERM or SIGINT, then lets running requests finish.
    pub async fn serve(
        self: Arc<Server>,
        plain: TcpListener,
        tls: Option<(TcpListener, TlsAcceptor)>,
    ) -> Result<(), Error> {
        use tokio::signal::unix::{signal, SignalKind};
        let (mut term, mut int) = (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        );
        let stop = CancellationToken::new();
        let connections = TaskTracker::new();
        let spawn = |accepted: std::io::Result<(TcpStream, SocketAddr)>, tls| match accepted {
            Ok((stream, peer)) => {
                let (server, stop) = (self.clone(), stop.clone());
                connections.spawn(server.accepted(stream, peer, tls, stop));
                true
            }
            // Out of descriptors, or the peer has gone: serving goes on.
            Err(e) => {
                eprintln!("accept: {e}");
                false
            }
        };
        loop {
            let well = tokio::select! {
                accepted = plain.accept() => spawn(accepted, None),
                accepted = accept_tls(&tls) => spawn(accepted, tls.as_ref().map(|t| t.1.clone())),
                _ = term.recv() => break,
                _ = int.recv() => break,
            };
            if !well {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
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
        self.log.flush();
        Ok(())
    }
}

/// The next connection to the TLS port; without one there is never any.
async fn accept_tls(
    tls: &Option<(TcpListener, TlsAcceptor)>,
) -> std::io::Result<(TcpStream, SocketAddr)> {
    match tls {
        Some((listener, _)) => listener.accept().await,
        None => std::future::pending().await,
    }
}
