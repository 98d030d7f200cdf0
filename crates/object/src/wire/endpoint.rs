//! Where a server is: scheme, host, port and a path before all others.

use std::fmt;
use std::net::IpAddr;

use crate::error::{Error, ErrorKind};

/// http or https.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Plain TCP.
    Http,
    /// TLS, verified.
    Https,
}

/// `http://host:port/path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// http or https.
    pub scheme: Scheme,
    /// Name or address, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Without a `/` at its end; often empty.
    pub path: String,
}

impl Endpoint {
    /// Reads a URL. User, password, query and fragment are refused: credentials have no place here.
    pub fn parse(url: &str) -> Result<Self, Error> {
        let wrong = |why: &str| {
            // The URL itself may hold a password, so it is not repeated.
            Error::new(ErrorKind::Settings, format!("the endpoint {why}. Try: http://host:port"))
        };
        let (scheme, rest) = match url.split_once("://") {
            Some(("http", rest)) => (Scheme::Http, rest),
            Some(("https", rest)) => (Scheme::Https, rest),
            _ => return Err(wrong("must begin with http:// or https://")),
        };
        if rest.contains(['?', '#']) || rest.chars().any(|c| c.is_control() || c == ' ') {
            return Err(wrong("may have no query, fragment or space"));
        }
        let (authority, path) = match rest.find('/') {
            Some(at) => (&rest[..at], rest[at..].trim_end_matches('/')),
            None => (rest, ""),
        };
        if authority.contains('@') {
            return Err(wrong("may hold no user and no password: these come from the environment"));
        }
        let (host, port) = split_port(authority).ok_or_else(|| wrong("has a port that is none"))?;
        let named = host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b));
        if host.is_empty() || !(named || host.parse::<IpAddr>().is_ok()) {
            return Err(wrong("names no host"));
        }
        let port = port.unwrap_or(match scheme {
            Scheme::Http => 80,
            Scheme::Https => 443,
        });
        Ok(Self { scheme, host: host.to_owned(), port, path: path.to_owned() })
    }

    /// The same server under another name in front, as virtual-host style wants it.
    pub fn under(&self, label: &str) -> Self {
        Self { host: format!("{label}.{}", self.host), ..self.clone() }
    }

    /// The `Host` header: the port only where it is not the scheme's own.
    pub fn host_header(&self) -> String {
        let host =
            if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match (self.scheme, self.port) {
            (Scheme::Http, 80) | (Scheme::Https, 443) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }
}

fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => match authority.find(':') {
            Some(at) => (&authority[..at], &authority[at..]),
            None => (authority, ""),
        },
    };
    match port.strip_prefix(':') {
        Some(number) => number.parse().ok().filter(|&n| n > 0).map(|n| (host, Some(n))),
        None => port.is_empty().then_some((host, None)),
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(f, "{scheme}://{}{}", self.host_header(), self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn endpoints_are_read_and_written() {
        for url in ["http://127.0.0.1:9050", "https://s3.example.org", "http://[::1]:8080/v1/A_b"] {
            assert_eq!(Endpoint::parse(url).unwrap().to_string(), url);
        }
        assert_eq!(Endpoint::parse("https://a/").unwrap().port, 443);
    }

    #[test]
    fn a_password_in_the_endpoint_is_refused_and_not_repeated() {
        let error = Endpoint::parse("http://user:hunter22@host").unwrap_err();
        assert!(
            error.to_string().contains("environment") && !error.to_string().contains("hunter22")
        );
    }

    proptest! {
        #[test]
        fn reading_anything_as_an_endpoint_does_not_panic(text in "(https?://)?\\PC*") {
            let _ = Endpoint::parse(&text);
        }
    }
}
