//! Small answers and what all answers share.
use bytes::Bytes;
use http_body_util::{combinators::UnsyncBoxBody, BodyExt, Either, Full};
use hyper::header::{HeaderValue, ALLOW, CONTENT_TYPE};
use hyper::{Response, StatusCode};

use crate::Error;

/// A body that is in memory, or one that arrives in pieces.
pub type Body = Either<Full<Bytes>, UnsyncBoxBody<Bytes, Error>>;
pub type Reply = Response<Body>;

pub fn whole(bytes: Bytes) -> Body {
    Either::Left(Full::new(bytes))
}

pub fn pieces<B>(body: B) -> Body
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Error>,
{
    Either::Right(body.map_err(Into::into).boxed_unsync())
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
