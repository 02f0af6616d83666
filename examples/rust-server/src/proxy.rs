//! Hands requests on to the upstream, with connections kept open.
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue, CONNECTION, HOST, TRANSFER_ENCODING, UPGRADE};
use hyper::{Request, StatusCode, Uri, Version};
use hyper_util::client::legacy::{connect::HttpConnector, Client};
use hyper_util::rt::TokioExecutor;

use crate::reply::{pieces, text, Reply};
use crate::Error;

/// Headers that belong to one connection and are not handed on.
static HOP_BY_HOP: [HeaderName; 3] = [CONNECTION, TRANSFER_ENCODING, UPGRADE];
static FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

pub struct Proxy {
    client: Client<HttpConnector, Incoming>,
    upstream: String,
}

impl Proxy {
    pub fn new(upstream: &str) -> Proxy {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Proxy {
            client,
            upstream: upstream.to_string(),
        }
    }

    pub async fn answer(
        &self,
        mut request: Request<Incoming>,
        path: &str,
        peer: std::net::IpAddr,
    ) -> Result<Reply, Error> {
        let query = request
            .uri()
            .query()
            .map(|q| format!("?{q}"))
            .unwrap_or_default();
        *request.uri_mut() = format!("http://{}{path}{query}", self.upstream).parse::<Uri>()?;
        *request.version_mut() = Version::HTTP_11;
        let headers = request.headers_mut();
        for name in &HOP_BY_HOP {
            headers.remove(name);
        }
        headers.insert(HOST, HeaderValue::from_str(&self.upstream)?);
        headers.append(&FORWARDED_FOR, HeaderValue::from_str(&peer.to_string())?);
        match self.client.request(request).await {
            Ok(answer) => {
                let mut reply = answer.map(pieces);
                for name in &HOP_BY_HOP {
                    reply.headers_mut().remove(name);
                }
                Ok(reply)
            }
            Err(e) if e.is_connect() => Ok(text(StatusCode::BAD_GATEWAY, "no upstream\n")),
            Err(_) => Ok(text(StatusCode::BAD_GATEWAY, "the upstream failed\n")),
        }
    }
}
