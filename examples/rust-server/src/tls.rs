//! What the server offers to clients that speak TLS: its certificate, HTTP/2 and HTTP/1.1.
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::ServerConfig;
use tokio_rustls::TlsAcceptor;

use crate::config::Tls;
use crate::Error;

pub fn acceptor(tls: &Tls) -> Result<TlsAcceptor, Error> {
    let named = |path: &std::path::Path, e| format!("{}: {e}", path.display());
    let chain = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(|certificates| certificates.collect::<Result<Vec<_>, _>>())
        .map_err(|e| named(&tls.certificate, e))?;
    let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(|e| named(&tls.key, e))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config.ticketer = rustls::crypto::ring::Ticketer::new()?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
