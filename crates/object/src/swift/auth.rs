//! Tokens: fetched when first needed, renewed before they end, shared by all connections.

use std::sync::{Arc, Mutex, PoisonError};

use hyper::Method;

use super::json::{keystone_request, read_keystone};
use crate::body::Body;
use crate::credentials::SwiftCredentials;
use crate::error::{Error, ErrorKind};
use crate::secret::{Redactor, Secret};
use crate::time::Clock;
use crate::wire::{Endpoint, Limits, Reply, Request, Trust, Wire};

/// A token is renewed this long before it ends, or after nine tenths of a shorter life.
const MARGIN_S: u64 = 60;
/// The life of a token whose end was not told.
const UNTOLD_LIFE_S: u64 = 3600;

/// A token and where it is good.
#[derive(Debug, Clone)]
pub struct Token {
    /// For `X-Auth-Token`.
    pub secret: Secret,
    /// Account's URL.
    pub storage: Endpoint,
    renew_at_unix_s: u64,
}

/// Who asks for tokens, and where.
#[derive(Debug, Clone)]
pub struct AuthSettings {
    /// v1: the whole URL (`http://host:8080/auth/v1.0`); v3: Keystone's, ending in `/v3`.
    pub url: Endpoint,
    /// Region of the catalog; none takes the first.
    pub region: Option<String>,
    /// The account's URL, where it is not to be the one that comes with the token.
    pub storage_url: Option<Endpoint>,
}

/// The one token of a process for one account.
pub struct Session {
    settings: AuthSettings,
    credentials: SwiftCredentials,
    trust: Option<Trust>,
    limits: Limits,
    clock: Arc<dyn Clock>,
    token: Mutex<Option<Token>>,
}

impl Session {
    /// No token yet.
    pub fn new(
        settings: AuthSettings,
        credentials: SwiftCredentials,
        trust: Option<Trust>,
        limits: Limits,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { settings, credentials, trust, limits, clock, token: Mutex::new(None) }
    }

    /// A token that is good for a while. Others wait while one fetches it.
    pub fn token(&self) -> Result<Token, Error> {
        let mut held = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = held.as_ref().filter(|t| self.clock.unix_s() < t.renew_at_unix_s) {
            return Ok(token.clone());
        }
        // A request that fails here never reached the store.
        let fresh = self.fetch().map_err(Error::not_performed)?;
        *held = Some(fresh.clone());
        Ok(fresh)
    }

    /// Forgets `token`, which the server refused, unless another is held already.
    pub fn forget(&self, token: &Secret) {
        let mut held = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if held.as_ref().is_some_and(|held| held.secret == *token) {
            *held = None;
        }
    }

    /// Hides the credentials.
    pub fn redactor(&self) -> Redactor {
        let mut redactor = Redactor::default();
        match &self.credentials {
            SwiftCredentials::V1 { key, .. } => redactor.hide(key),
            SwiftCredentials::V3Password { password, .. } => redactor.hide(password),
            SwiftCredentials::V3Application { id, secret } => {
                redactor.hide(id);
                redactor.hide(secret);
            }
        }
        redactor
    }

    fn fetch(&self) -> Result<Token, Error> {
        let mut answer = Vec::new();
        let mut wire = Wire::new(self.settings.url.clone(), self.trust.clone(), self.limits);
        let what = "asking for a token";
        let request = self.request();
        let reply = wire.exchange(&request, &mut answer).map_err(|error| error.within(what))?;
        if !(200..300).contains(&reply.status) {
            return Err(self.refused(&reply));
        }
        let token = match self.credentials {
            SwiftCredentials::V1 { .. } => self.read_v1(&reply),
            _ => self.read_v3(&reply, &answer),
        };
        token.map_err(|error| error.within(&format!("{what}: {}", self.settings.url)))
    }

    fn request(&self) -> Request {
        let path = &self.settings.url.path;
        if let SwiftCredentials::V1 { user, key } = &self.credentials {
            return Request {
                method: Method::GET,
                target: if path.is_empty() { "/".to_owned() } else { path.clone() },
                headers: vec![
                    ("x-auth-user", user.reveal().to_owned()),
                    ("x-auth-key", key.reveal().to_owned()),
                ],
                body: Body::default(),
            };
        }
        Request {
            method: Method::POST,
            target: format!("{path}/auth/tokens"),
            headers: vec![("content-type", "application/json".to_owned())],
            body: keystone_request(&self.credentials).unwrap_or_default().into(),
        }
    }

    fn refused(&self, reply: &Reply) -> Error {
        let url = &self.settings.url;
        let status = reply.status;
        let (kind, why) = match status {
            401 | 403 => {
                let names = match self.credentials {
                    SwiftCredentials::V1 { .. } => "ST_USER and ST_KEY",
                    SwiftCredentials::V3Password { .. } => {
                        "OS_USERNAME, OS_PASSWORD, OS_PROJECT_NAME and their domains"
                    }
                    SwiftCredentials::V3Application { .. } => {
                        "OS_APPLICATION_CREDENTIAL_ID and its secret"
                    }
                };
                (ErrorKind::Credentials, format!("refused the credentials. Try: check {names}"))
            }
            429 => (ErrorKind::Busy, "asks for fewer requests".to_owned()),
            503 => (
                ErrorKind::Busy,
                "has no tokens to give now (TempAuth needs its memcached)".to_owned(),
            ),
            500.. => (ErrorKind::Server, "failed".to_owned()),
            _ => (ErrorKind::Refused, "gives no tokens. Try: check the URL".to_owned()),
        };
        let mut error =
            Error::new(kind, format!("asking for a token: {url} {why} (HTTP {status})"));
        error.status = Some(status);
        error.timing = reply.timing;
        error
    }

    fn read_v1(&self, reply: &Reply) -> Result<Token, Error> {
        let secret = reply.header("x-auth-token").ok_or_else(|| nonsense("no X-Auth-Token"))?;
        let life_s = reply.header("x-auth-token-expires").and_then(|text| text.parse().ok());
        let end = self.clock.unix_s().saturating_add(life_s.unwrap_or(UNTOLD_LIFE_S));
        self.made(secret, reply.header("x-storage-url"), end)
    }

    fn read_v3(&self, reply: &Reply, body: &[u8]) -> Result<Token, Error> {
        let secret = reply.header("x-subject-token");
        let secret = secret.ok_or_else(|| nonsense("no X-Subject-Token"))?;
        let told = read_keystone(body, self.settings.region.as_deref())
            .ok_or_else(|| nonsense("not the JSON of Keystone v3"))?;
        self.made(secret, told.storage_url.as_deref(), told.expires_unix_s)
    }

    fn made(&self, secret: &str, url: Option<&str>, end_unix_s: u64) -> Result<Token, Error> {
        let storage = match (&self.settings.storage_url, url) {
            (Some(chosen), _) => chosen.clone(),
            (None, Some(url)) => {
                Endpoint::parse(url).map_err(|_| nonsense("a storage URL that is none"))?
            }
            (None, None) => {
                let region = self.settings.region.as_deref().unwrap_or("any region");
                let why = format!("no object store in the catalog for {region}. Try: region");
                return Err(Error::new(ErrorKind::Region, why));
            }
        };
        let now = self.clock.unix_s();
        let life_s = end_unix_s.saturating_sub(now);
        let margin_s = MARGIN_S.min(life_s.div_ceil(10));
        let renew_at_unix_s = end_unix_s.saturating_sub(margin_s).max(now + 1);
        Ok(Token { secret: Secret::new(secret), storage, renew_at_unix_s })
    }
}

fn nonsense(what: &str) -> Error {
    Error::new(ErrorKind::Malformed, format!("the answer makes no sense ({what})"))
}
