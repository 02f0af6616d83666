//! Accepts small uploads and refuses what is too large or holds a refused text.
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::CONTENT_LENGTH;
use hyper::{Method, Request, StatusCode};
use serde::Serialize;

use crate::config::Uploads;
use crate::reply::{json, not_allowed, text, Reply};
use crate::Error;

#[derive(Serialize)]
struct Receipt {
    accepted: bool,
    bytes: usize,
    lines: usize,
}

fn holds(content: &[u8], pattern: &[u8]) -> bool {
    !pattern.is_empty()
        && content
            .windows(pattern.len())
            .any(|w| w.eq_ignore_ascii_case(pattern))
}

pub async fn answer(rules: &Uploads, request: Request<Incoming>) -> Result<Reply, Error> {
    if request.method() != Method::POST {
        return Ok(not_allowed("POST"));
    }
    let length = request
        .headers()
        .get(CONTENT_LENGTH)
        .and_then(|v| v.to_str().ok()?.parse().ok());
    if length.is_some_and(|n: usize| n > rules.max_bytes) {
        // Taking the rest keeps the connection usable; hyper stops reading when it is too long.
        let _ = Limited::new(request.into_body(), 4 * rules.max_bytes)
            .collect()
            .await;
        return Ok(text(StatusCode::PAYLOAD_TOO_LARGE, "too large\n"));
    }
    let content = match Limited::new(request.into_body(), rules.max_bytes)
        .collect()
        .await
    {
        Ok(all) => all.to_bytes(),
        Err(e) if e.is::<LengthLimitError>() => {
            return Ok(text(StatusCode::PAYLOAD_TOO_LARGE, "too large\n"))
        }
        Err(e) => return Err(e),
    };
    if rules.refused.iter().any(|p| holds(&content, p.as_bytes())) {
        return Ok(text(StatusCode::FORBIDDEN, "refused\n"));
    }
    let lines = content.iter().filter(|&&b| b == b'\n').count();
    Ok(json(
        StatusCode::OK,
        &Receipt {
            accepted: true,
            bytes: content.len(),
            lines,
        },
    ))
}
