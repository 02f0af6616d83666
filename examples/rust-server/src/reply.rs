//! Small answers and what all answers share.
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{combinators::UnsyncBoxBody, BodyExt, Full};
use hyper::body::{Frame, SizeHint};
use hyper::header::{HeaderValue, ALLOW, CONTENT_TYPE};
use hyper::{Response, StatusCode};

use crate::Error;

/// A body that is in memory, or one that arrives in pieces.
pub enum Body {
    Whole(Full<Bytes>),
    Pieces(UnsyncBoxBody<Bytes, io::Error>),
}

pub type Reply = Response<Body>;

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self.get_mut() {
            Body::Whole(body) => Pin::new(body).poll_frame(cx).map_err(|e| match e {}),
            Body::Pieces(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Body::Whole(body) => body.is_end_stream(),
            Body::Pieces(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Whole(body) => body.size_hint(),
            Body::Pieces(body) => body.size_hint(),
        }
    }
}

pub fn whole(bytes: Bytes) -> Body {
    Body::Whole(Full::new(bytes))
}

pub fn pieces<B>(body: B) -> Body
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Error>,
{
    Body::Pieces(body.map_err(|e| io::Error::other(e.into())).boxed_unsync())
}

pub fn text(status: StatusCode, content: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(whole(content.into()));
    *reply.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    reply.headers_mut().insert(CONTENT_TYPE, plain);
    reply
}

pub fn json(status: StatusCode, value: &impl serde::Serialize) -> Reply {
    let mut reply = text(status, serde_json::to_vec(value).unwrap_or_default());
    let media = HeaderValue::from_static("application/json");
    reply.headers_mut().insert(CONTENT_TYPE, media);
    reply
}

pub fn not_allowed(methods: &'static str) -> Reply {
    let mut reply = text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n");
    reply
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static(methods));
    reply
}
