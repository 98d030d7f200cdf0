//! Credentials, from the environment or a file; never from a command line or a job.
//!
//! A file holds `NAME = value` lines: shell exports (`export OS_PASSWORD=...`) and the AWS form
//! with `[profile]` sections, of which `AWS_PROFILE` or `default` counts, are both read. The names
//! are those of the environment, in either case:
//!
//! | for | names |
//! |---|---|
//! | S3 | `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN` (optional) |
//! | Swift v1 | `ST_USER`, `ST_KEY` |
//! | Keystone v3 | `OS_USERNAME`, `OS_PASSWORD`, `OS_PROJECT_NAME`, `OS_USER_DOMAIN_NAME`, `OS_PROJECT_DOMAIN_NAME` (both `Default` if absent), or `OS_APPLICATION_CREDENTIAL_ID` and `OS_APPLICATION_CREDENTIAL_SECRET` |

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind};
use crate::secret::Secret;

/// Named values.
#[derive(Debug, Clone, Default)]
pub struct Values(BTreeMap<String, Secret>);

impl Values {
    /// What the environment holds; for S3 also the AWS file, where the environment has no key.
    pub fn from_environment() -> Result<Self, Error> {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, Secret::new(value.into_string().ok()?)))
        });
        let mut values = Self(variables.filter(|(name, _)| is_ours(name)).collect());
        if values.get("AWS_ACCESS_KEY_ID").is_none() {
            if let Some(path) = aws_file() {
                values.0.extend(Self::from_file(&path)?.0);
            }
        }
        Ok(values)
    }

    /// What the file at `path` holds.
    pub fn from_file(path: &Path) -> Result<Self, Error> {
        let profile = std::env::var("AWS_PROFILE").unwrap_or_else(|_| "default".to_owned());
        let text = std::fs::read_to_string(path).map_err(|error| {
            let message = format!("cannot read the credentials in {}: {error}", path.display());
            Error::new(ErrorKind::Credentials, message)
        })?;
        Ok(Self::parse(&text, &profile))
    }

    /// What `text` holds for `profile`. Lines that are no setting are passed over.
    pub fn parse(text: &str, profile: &str) -> Self {
        let mut counts = true;
        let mut values = BTreeMap::new();
        for line in text.lines().map(str::trim) {
            if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                counts = section.trim() == profile;
            } else if counts && !line.starts_with('#') {
                if let Some((name, value)) = line.split_once('=') {
                    let name = name.trim().trim_start_matches("export ").trim();
                    values.insert(name.to_ascii_uppercase(), Secret::new(unquoted(value.trim())));
                }
            }
        }
        Self(values)
    }

    fn get(&self, name: &str) -> Option<&Secret> {
        self.0.get(name).filter(|secret| !secret.reveal().is_empty())
    }

    fn need(&self, name: &str) -> Result<Secret, Error> {
        self.get(name).cloned().ok_or_else(|| {
            let message =
                format!("{name} is not set: credentials come from the environment or a file");
            Error::new(ErrorKind::Credentials, message)
        })
    }

    /// A value that is no secret.
    pub fn plain(&self, name: &str) -> Option<String> {
        self.get(name).map(|value| value.reveal().to_owned())
    }
}

fn is_ours(name: &str) -> bool {
    ["AWS_", "ST_", "OS_"].iter().any(|prefix| name.starts_with(prefix))
}

fn aws_file() -> Option<PathBuf> {
    let named = std::env::var_os("AWS_SHARED_CREDENTIALS_FILE").map(PathBuf::from);
    let usual = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".aws/credentials"));
    named.or_else(usual).filter(|path| path.is_file())
}

fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|v| v.strip_suffix(quote)) {
            return inner;
        }
    }
    value
}

/// For SigV4.
#[derive(Debug, Clone)]
pub struct S3Credentials {
    /// Names the key.
    pub access_key: Secret,
    /// Signs.
    pub secret_key: Secret,
    /// For keys that were lent.
    pub session_token: Option<Secret>,
}

impl S3Credentials {
    /// Picks them out of `values`.
    pub fn new(values: &Values) -> Result<Self, Error> {
        Ok(Self {
            access_key: values.need("AWS_ACCESS_KEY_ID")?,
            secret_key: values.need("AWS_SECRET_ACCESS_KEY")?,
            session_token: values.get("AWS_SESSION_TOKEN").cloned(),
        })
    }
}

/// For a Swift token.
#[derive(Debug, Clone)]
pub enum SwiftCredentials {
    /// TempAuth and the like: GET with user and key.
    V1 {
        /// `account:user`.
        user: Secret,
        /// Key.
        key: Secret,
    },
    /// Keystone with a password, for a project.
    V3Password {
        /// User.
        user: Secret,
        /// Password.
        password: Secret,
        /// Domain of the user.
        user_domain: String,
        /// Project.
        project: String,
        /// Domain of the project.
        project_domain: String,
    },
    /// Keystone with an application credential, which knows its project.
    V3Application {
        /// Its ID.
        id: Secret,
        /// Its secret.
        secret: Secret,
    },
}

impl SwiftCredentials {
    /// Picks version 1's out of `values`.
    pub fn v1(values: &Values) -> Result<Self, Error> {
        Ok(Self::V1 { user: values.need("ST_USER")?, key: values.need("ST_KEY")? })
    }

    /// Picks version 3's out of `values`.
    pub fn v3(values: &Values) -> Result<Self, Error> {
        if values.get("OS_APPLICATION_CREDENTIAL_ID").is_some() {
            return Ok(Self::V3Application {
                id: values.need("OS_APPLICATION_CREDENTIAL_ID")?,
                secret: values.need("OS_APPLICATION_CREDENTIAL_SECRET")?,
            });
        }
        let domain = |name| values.plain(name).unwrap_or_else(|| "Default".to_owned());
        Ok(Self::V3Password {
            user: values.need("OS_USERNAME")?,
            password: values.need("OS_PASSWORD")?,
            user_domain: domain("OS_USER_DOMAIN_NAME"),
            project: values.need("OS_PROJECT_NAME")?.reveal().to_owned(),
            project_domain: domain("OS_PROJECT_DOMAIN_NAME"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_file_are_read_and_only_the_profile_counts() {
        let aws = "[other]\naws_access_key_id = no\n[default]\naws_access_key_id = AK\n\
                   aws_secret_access_key=hunter22\n";
        let credentials = S3Credentials::new(&Values::parse(aws, "default")).unwrap();
        assert_eq!(credentials.access_key.reveal(), "AK");
        let openrc = "export ST_USER='test:tester'\nexport ST_KEY=\"testing\"\n";
        let swift = SwiftCredentials::v1(&Values::parse(openrc, "default")).unwrap();
        let SwiftCredentials::V1 { user, key } = &swift else { panic!("{swift:?}") };
        assert_eq!((user.reveal(), key.reveal()), ("test:tester", "testing"));
        assert!(!format!("{credentials:?} {swift:?}").contains("testing"));
        assert!(!format!("{credentials:?}").contains("hunter22"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = S3Credentials::new(&Values::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Credentials);
        assert!(error.message().contains("AWS_ACCESS_KEY_ID is not set"), "{error}");
    }
}
