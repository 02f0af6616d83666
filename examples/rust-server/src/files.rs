//! Files from disk: whole, 304, one range; small ones in one piece, large ones streamed.
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use bytes::Bytes;
use http_body_util::StreamBody;
use hyper::body::Frame;
use hyper::header::{
    HeaderMap, HeaderValue, ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG,
    LAST_MODIFIED,
};
use hyper::{Method, Response, StatusCode};
use tokio::io::AsyncReadExt;
use tokio_util::io::ReaderStream;

use crate::conditional::{etag, freshness, span, Freshness, Span};
use crate::reply::{not_allowed, pieces, text, whole, Body, Reply};
use crate::site::media_type_of;
use crate::Error;

/// Up to this size a file is read in one piece.
const SMALL: u64 = 256 * 1024;

struct Found {
    file: std::fs::File,
    size: u64,
    changed: std::time::SystemTime,
}

/// The path below the folder, or None when it would leave it.
fn below(folder: &Path, path: &str) -> Option<PathBuf> {
    let relative = Path::new(path);
    let plain = relative
        .components()
        .all(|c| matches!(c, Component::Normal(_)));
    (plain && !path.is_empty()).then(|| folder.join(relative))
}

fn find(path: &Path) -> std::io::Result<Option<Found>> {
    let file = std::fs::File::open(path)?;
    let meta = file.metadata()?;
    Ok(meta.is_file().then_some(Found {
        file,
        size: meta.len(),
        changed: meta.modified()?,
    }))
}

async fn body_of(mut file: std::fs::File, first: u64, n: u64) -> Result<Body, Error> {
    if n <= SMALL {
        let content = tokio::task::spawn_blocking(move || -> std::io::Result<Vec<u8>> {
            let mut content = vec![0; n as usize];
            file.seek(SeekFrom::Start(first))?;
            file.read_exact(&mut content)?;
            Ok(content)
        });
        return Ok(whole(Bytes::from(content.await??)));
    }
    file.seek(SeekFrom::Start(first))?;
    let part = tokio::fs::File::from_std(file).take(n);
    Ok(pieces(StreamBody::new(Frames(
        ReaderStream::with_capacity(part, 64 * 1024),
    ))))
}

/// Wraps the pieces of a reader into body frames.
struct Frames<R>(ReaderStream<R>);

impl<R: tokio::io::AsyncRead + Unpin> futures_core::Stream for Frames<R> {
    type Item = Result<Frame<Bytes>, std::io::Error>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::pin::Pin::new(&mut self.0)
            .poll_next(cx)
            .map(|p| p.map(|r| r.map(Frame::data)))
    }
}

pub async fn answer(
    folder: &Path,
    method: &Method,
    path: &str,
    headers: &HeaderMap,
) -> Result<Reply, Error> {
    if method != Method::GET && method != Method::HEAD {
        return Ok(not_allowed("GET, HEAD"));
    }
    let Some(path) = below(folder, path) else {
        return Ok(text(StatusCode::NOT_FOUND, "not found\n"));
    };
    let media = media_type_of(&path);
    let found = match tokio::task::spawn_blocking(move || find(&path)).await? {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(text(StatusCode::NOT_FOUND, "not found\n")),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return Ok(text(StatusCode::NOT_FOUND, "not found\n"))
        }
        Err(e) => return Err(e.into()),
    };
    send(found, media, method, headers).await
}

async fn send(
    found: Found,
    media: HeaderValue,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Reply, Error> {
    let etag = etag(found.changed, found.size)?;
    let mut reply = Response::new(whole(Bytes::new()));
    let out = reply.headers_mut();
    out.insert(
        LAST_MODIFIED,
        HeaderValue::from_str(&httpdate::fmt_http_date(found.changed))?,
    );
    let known = freshness(headers, &etag, Some(found.changed));
    out.insert(ETAG, etag);
    if known == Freshness::NotModified {
        *reply.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(reply);
    }
    let (status, first, n) = match span(headers, found.size) {
        Span::Whole => (StatusCode::OK, 0, found.size),
        Span::Part(first, n) => (StatusCode::PARTIAL_CONTENT, first, n),
        Span::Unsatisfiable => {
            let range = HeaderValue::from_str(&format!("bytes */{}", found.size))?;
            out.insert(CONTENT_RANGE, range);
            *reply.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
            return Ok(reply);
        }
    };
    out.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    out.insert(CONTENT_TYPE, media);
    out.insert(CONTENT_LENGTH, HeaderValue::from(n));
    if status == StatusCode::PARTIAL_CONTENT {
        let range = format!("bytes {first}-{}/{}", first + n - 1, found.size);
        out.insert(CONTENT_RANGE, HeaderValue::from_str(&range)?);
    }
    *reply.status_mut() = status;
    if method == Method::GET {
        *reply.body_mut() = body_of(found.file, first, n).await?;
    }
    Ok(reply)
}
