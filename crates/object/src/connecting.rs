//! From settings as a job writes them to clients of one store.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use crate::client::ObjectClient;
use crate::credentials::{S3Credentials, SwiftCredentials, Values};
use crate::error::{Error, ErrorKind};
use crate::retrying::{RetryPolicy, Retrying};
use crate::s3::{S3Settings, Style, S3};
use crate::swift::{AuthSettings, Joining, Session, Swift, SwiftSettings};
use crate::time::{Clock, SystemClock};
use crate::wire::{Endpoint, Limits, Scheme, Trust};

/// The protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// S3.
    S3,
    /// Swift.
    Swift,
}

/// S3's `style`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum StyleName {
    /// `http://host/bucket/key`.
    #[default]
    Path,
    /// `http://bucket.host/key`.
    VirtualHost,
}

/// Swift's `large_objects`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum LargeName {
    /// Static manifests.
    #[default]
    Static,
    /// Dynamic manifests.
    Dynamic,
}

/// Swift's `auth`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum AuthName {
    /// TempAuth and the like.
    #[default]
    V1,
    /// Keystone.
    V3,
}

/// A store. Has no credentials, on purpose.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// s3 or swift.
    pub protocol: Protocol,
    /// S3: the server. Swift: where tokens come from (v1: `http://host:8080/auth/v1.0`, v3:
    /// Keystone's URL, ending in `/v3`).
    pub endpoint: String,
    /// Bucket or container.
    pub container: String,
    /// S3's region to sign for (`us-east-1` if none), or Keystone's of the catalog.
    #[serde(default)]
    pub region: Option<String>,
    /// S3: where the bucket's name stands.
    #[serde(default)]
    pub style: StyleName,
    /// S3: hash payloads into the signature.
    #[serde(default)]
    pub sign_payload: bool,
    /// Swift: how tokens are had.
    #[serde(default)]
    pub auth: AuthName,
    /// Swift: the account's URL, where the token's own is not to be used.
    #[serde(default)]
    pub storage_url: Option<String>,
    /// Swift: how large objects are joined.
    #[serde(default)]
    pub large_objects: LargeName,
    /// Swift: where segments go.
    #[serde(default)]
    pub segment_container: Option<String>,
    /// A file of credentials; none takes the environment.
    #[serde(default)]
    pub credentials_file: Option<PathBuf>,
    /// Certificate authorities (PEM); none takes the system's.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// Deadline of a connection.
    #[serde(default = "default_connect_ns")]
    pub connect_timeout_ns: u64,
    /// Longest silence.
    #[serde(default = "default_silence_ns")]
    pub silence_timeout_ns: u64,
    /// Deadline of one attempt.
    #[serde(default = "default_request_ns")]
    pub request_timeout_ns: u64,
    /// Repeats of what is safe to repeat.
    #[serde(default = "default_retries")]
    pub retries: u32,
}

fn default_connect_ns() -> u64 {
    10_000_000_000
}

fn default_silence_ns() -> u64 {
    60_000_000_000
}

fn default_request_ns() -> u64 {
    300_000_000_000
}

fn default_retries() -> u32 {
    4
}

/// Makes clients.
pub struct Store {
    make: Box<dyn Fn() -> Result<Box<dyn ObjectClient>, Error> + Send + Sync>,
    policy: RetryPolicy,
    clock: Arc<dyn Clock>,
}

impl Store {
    /// A client that repeats what is safe to repeat. Its connection opens at the first request.
    pub fn client(&self, seed: u64) -> Result<Retrying<Box<dyn ObjectClient>>, Error> {
        Ok(Retrying::new((self.make)()?, self.policy, Arc::clone(&self.clock), seed))
    }
}

/// Reads credentials and authorities, and checks the settings. Sends nothing.
pub fn connect(settings: &Settings) -> Result<Store, Error> {
    let values = match &settings.credentials_file {
        Some(path) => Values::from_file(path)?,
        None => Values::from_environment()?,
    };
    connect_with(settings, &values, Arc::new(SystemClock::default()))
}

/// The same with credentials and a clock of the caller's.
pub fn connect_with(
    settings: &Settings,
    values: &Values,
    clock: Arc<dyn Clock>,
) -> Result<Store, Error> {
    let endpoint = Endpoint::parse(&settings.endpoint)?;
    let storage = settings.storage_url.as_deref().map(Endpoint::parse).transpose()?;
    let limits = limits(settings)?;
    let trust = match (&settings.ca_file, endpoint.scheme) {
        (Some(path), _) => Some(Trust::file(path)?),
        (None, Scheme::Https) => Some(Trust::system()?),
        // The token may come with an https URL; without authorities that is an error then.
        (None, Scheme::Http) => Trust::system().ok(),
    };
    let policy = RetryPolicy {
        retries: settings.retries,
        within: limits.request.saturating_mul(settings.retries.saturating_add(1)),
        ..RetryPolicy::default()
    };
    let own_clock = Arc::clone(&clock);
    let make: Box<dyn Fn() -> Result<Box<dyn ObjectClient>, Error> + Send + Sync> =
        match settings.protocol {
            Protocol::S3 => {
                let s3 = S3Settings {
                    endpoint,
                    bucket: settings.container.clone(),
                    region: settings.region.clone().unwrap_or_else(|| "us-east-1".to_owned()),
                    style: match settings.style {
                        StyleName::Path => Style::Path,
                        StyleName::VirtualHost => Style::VirtualHost,
                    },
                    sign_payload: settings.sign_payload,
                };
                let credentials = S3Credentials::new(values)?;
                Box::new(move || {
                    let clock = Arc::clone(&clock);
                    let (s3, key) = (s3.clone(), credentials.clone());
                    Ok(Box::new(S3::new(s3, key, trust.clone(), limits, clock)?))
                })
            }
            Protocol::Swift => {
                let swift = SwiftSettings {
                    container: settings.container.clone(),
                    segment_container: settings.segment_container.clone(),
                    joining: match settings.large_objects {
                        LargeName::Static => Joining::Static,
                        LargeName::Dynamic => Joining::Dynamic,
                    },
                };
                let credentials = match settings.auth {
                    AuthName::V1 => SwiftCredentials::v1(values)?,
                    AuthName::V3 => SwiftCredentials::v3(values)?,
                };
                let region = settings.region.clone();
                let auth = AuthSettings { url: endpoint, region, storage_url: storage };
                let session =
                    Session::new(auth, credentials, trust.clone(), limits, Arc::clone(&clock));
                let session = Arc::new(session);
                Box::new(move || {
                    let clock = Arc::clone(&clock);
                    let (swift, session) = (swift.clone(), Arc::clone(&session));
                    Ok(Box::new(Swift::new(swift, session, trust.clone(), limits, clock)?))
                })
            }
        };
    Ok(Store { make, policy, clock: own_clock })
}

fn limits(settings: &Settings) -> Result<Limits, Error> {
    let times = [
        ("connect_timeout_ns", settings.connect_timeout_ns),
        ("silence_timeout_ns", settings.silence_timeout_ns),
        ("request_timeout_ns", settings.request_timeout_ns),
    ];
    if let Some((name, _)) = times.iter().find(|(_, ns)| *ns == 0) {
        return Err(Error::new(ErrorKind::Settings, format!("{name} must be above 0")));
    }
    Ok(Limits {
        connect: Duration::from_nanos(settings.connect_timeout_ns),
        silence: Duration::from_nanos(settings.silence_timeout_ns),
        request: Duration::from_nanos(settings.request_timeout_ns),
        ..Limits::default()
    })
}
