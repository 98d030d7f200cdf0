//! Whom to believe: the system's certificate authorities, or those of one file. There is no way to
//! believe everybody.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

use crate::error::{Error, ErrorKind};

/// The authorities, shared by all connections.
#[derive(Clone)]
pub struct Trust(Arc<ClientConfig>);

impl Trust {
    /// The system's authorities (`SSL_CERT_FILE` and `SSL_CERT_DIR` are heeded).
    pub fn system() -> Result<Self, Error> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(Error::new(
                ErrorKind::Tls,
                "this system has no certificate authorities. Try: install ca-certificates, or name \
                 a file of them (ca_file)",
            ));
        }
        Ok(Self::from_roots(roots))
    }

    /// The authorities in a PEM file.
    pub fn file(path: &Path) -> Result<Self, Error> {
        let wrong = |why: &dyn std::fmt::Display| {
            let message = format!("cannot use the authorities in {}: {why}", path.display());
            Error::new(ErrorKind::Settings, message)
        };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))? {
            let certificate = certificate.map_err(|error| wrong(&error))?;
            roots.add(certificate).map_err(|error| wrong(&error))?;
        }
        if roots.is_empty() {
            return Err(wrong(&"it holds no certificate"));
        }
        Ok(Self::from_roots(roots))
    }

    fn from_roots(roots: RootCertStore) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring knows TLS 1.2 and 1.3")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self(Arc::new(config))
    }

    /// The configuration for a connection.
    pub(super) fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0)
    }
}

impl std::fmt::Debug for Trust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Trust")
    }
}
