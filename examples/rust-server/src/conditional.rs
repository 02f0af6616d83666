//! Conditional and range requests.
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::header::{HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, RANGE};

use crate::Error;

/// The validator of a file: hexadecimal time of its last change, and size.
pub fn etag(changed: SystemTime, size: u64) -> Result<HeaderValue, Error> {
    let seconds = changed.duration_since(UNIX_EPOCH)?.as_secs();
    Ok(HeaderValue::from_str(&format!("\"{seconds:x}-{size:x}\""))?)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Freshness {
    NotModified,
    Send,
}

/// If-None-Match decides when present; If-Modified-Since otherwise.
pub fn freshness(
    headers: &HeaderMap,
    etag: &HeaderValue,
    changed: Option<SystemTime>,
) -> Freshness {
    if let Some(known) = headers.get(IF_NONE_MATCH) {
        let Ok(known) = known.to_str() else {
            return Freshness::Send;
        };
        let hit = known.split(',').map(|t| t.trim().trim_start_matches("W/"));
        return match hit
            .into_iter()
            .any(|t| t == "*" || t.as_bytes() == etag.as_bytes())
        {
            true => Freshness::NotModified,
            false => Freshness::Send,
        };
    }
    let since = headers.get(IF_MODIFIED_SINCE).and_then(|v| v.to_str().ok());
    match (
        since.and_then(|s| httpdate::parse_http_date(s).ok()),
        changed,
    ) {
        // HTTP dates are whole seconds.
        (Some(since), Some(changed)) if changed < since + Duration::from_secs(1) => {
            Freshness::NotModified
        }
        _ => Freshness::Send,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Span {
    Whole,
    /// First byte and length.
    Part(u64, u64),
    Unsatisfiable,
}

/// One byte range. Several ranges, or text that is no range, mean the whole file.
pub fn span(headers: &HeaderMap, size: u64) -> Span {
    let Some(text) = headers.get(RANGE).and_then(|v| v.to_str().ok()) else {
        return Span::Whole;
    };
    let Some((first, last)) = text.strip_prefix("bytes=").and_then(|r| r.split_once('-')) else {
        return Span::Whole;
    };
    match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) if last < first => Span::Whole,
        (Ok(first), _) if first >= size => Span::Unsatisfiable,
        (Ok(first), Ok(last)) => Span::Part(first, last.min(size - 1) - first + 1),
        (Ok(first), Err(_)) if last.is_empty() => Span::Part(first, size - first),
        (Err(_), Ok(0)) if first.is_empty() => Span::Unsatisfiable,
        (Err(_), Ok(n)) if first.is_empty() && size > 0 => {
            Span::Part(size - n.min(size), n.min(size))
        }
        _ => Span::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: hyper::header::HeaderName, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_str(value).unwrap());
        headers
    }

    #[test]
    fn spans() {
        let span_of = |text| span(&with(RANGE, text), 1000);
        assert_eq!(span(&HeaderMap::new(), 1000), Span::Whole);
        assert_eq!(span_of("bytes=0-99"), Span::Part(0, 100));
        assert_eq!(span_of("bytes=990-2000"), Span::Part(990, 10));
        assert_eq!(span_of("bytes=-10"), Span::Part(990, 10));
        assert_eq!(span_of("bytes=1000-"), Span::Unsatisfiable);
        assert_eq!(span_of("bytes=-0"), Span::Unsatisfiable);
        assert_eq!(span_of("bytes=9-1"), Span::Whole);
        assert_eq!(span_of("bytes=0-1,5-6"), Span::Whole);
    }

    #[test]
    fn etags() {
        let etag = HeaderValue::from_static("\"a\"");
        let known = |text| freshness(&with(IF_NONE_MATCH, text), &etag, None);
        assert_eq!(known("\"a\""), Freshness::NotModified);
        assert_eq!(known("\"b\", W/\"a\""), Freshness::NotModified);
        assert_eq!(known("\"b\""), Freshness::Send);
    }
}
