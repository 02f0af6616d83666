//! The cached site: every file in memory, with its headers made once.
use std::collections::HashMap;
use std::path::Path;

use bytes::Bytes;
use hyper::header::{HeaderMap, HeaderValue, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG};
use hyper::{Method, Response, StatusCode};

use crate::conditional::{self, Freshness};
use crate::reply::{not_allowed, whole, Reply};
use crate::Error;

include!(concat!(env!("OUT_DIR"), "/media_types.rs"));

struct Document {
    content: Bytes,
    etag: HeaderValue,
    media: HeaderValue,
}

pub struct Site {
    documents: HashMap<String, Document>,
}

pub fn media_type_of(path: &Path) -> HeaderValue {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    HeaderValue::from_static(media_type(ending))
}

impl Site {
    pub fn load(folder: &Path) -> Result<Site, Error> {
        let mut site = Site {
            documents: HashMap::new(),
        };
        site.add_folder(folder, "")
            .map_err(|e| format!("cannot read the site '{}': {e}", folder.display()))?;
        Ok(site)
    }

    fn add_folder(&mut self, folder: &Path, prefix: &str) -> Result<(), Error> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = format!("{prefix}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                self.add_folder(&entry.path(), &name)?;
                continue;
            }
            let content = Bytes::from(std::fs::read(entry.path())?);
            let etag = conditional::etag(entry.metadata()?.modified()?, content.len() as u64)?;
            let media = media_type_of(&entry.path());
            self.documents.insert(
                name,
                Document {
                    content,
                    etag,
                    media,
                },
            );
        }
        Ok(())
    }

    pub fn answer(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<Reply> {
        let path = if path == "/" { "/index.html" } else { path };
        let document = self.documents.get(path)?;
        if method != Method::GET && method != Method::HEAD {
            return Some(not_allowed("GET, HEAD"));
        }
        let known = conditional::freshness(headers, &document.etag, None);
        let head = method == Method::HEAD;
        let content = match known {
            Freshness::NotModified => Bytes::new(),
            Freshness::Send if head => Bytes::new(),
            Freshness::Send => document.content.clone(),
        };
        let mut reply = Response::new(whole(content));
        let out = reply.headers_mut();
        out.insert(ETAG, document.etag.clone());
        out.insert(
            CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=60"),
        );
        if known == Freshness::NotModified {
            *reply.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            out.insert(CONTENT_TYPE, document.media.clone());
            out.insert(CONTENT_LENGTH, HeaderValue::from(document.content.len()));
        }
        Some(reply)
    }
}
