//! The JSON that Swift and Keystone send and want. Whatever comes, the result is a record or
//! nothing.

use serde::{Deserialize, Serialize};

use crate::client::{Listed, Page};
use crate::credentials::SwiftCredentials;
use crate::time::parse_iso;

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Object {
        name: String,
        bytes: u64,
        #[serde(default)]
        hash: String,
    },
    Subdir {
        subdir: String,
    },
}

/// Reads a listing of at most `limit` entries: a full page is followed by another.
pub fn read_page(json: &[u8], limit: u64) -> Option<Page> {
    let entries: Vec<Entry> = serde_json::from_slice(json).ok()?;
    let mut page = Page::default();
    let full = entries.len() as u64 >= limit;
    let mut last = None;
    for entry in entries {
        match entry {
            Entry::Object { name, bytes, hash } => {
                last = Some(name.clone());
                page.objects.push(Listed { key: name, size_bytes: bytes, etag: hash });
            }
            Entry::Subdir { subdir } => {
                last = Some(subdir.clone());
                page.prefixes.push(subdir);
            }
        }
    }
    page.next = last.filter(|_| full);
    Some(page)
}

/// One segment in a static manifest.
#[derive(Debug, Serialize)]
pub struct Segment {
    /// `/container/key`.
    pub path: String,
    /// Its ETag, which Swift checks.
    pub etag: String,
    /// Its size, which Swift checks.
    pub size_bytes: u64,
}

/// A static manifest: `PUT ?multipart-manifest=put`.
pub fn manifest(segments: &[Segment]) -> String {
    serde_json::to_string(segments).expect("strings and numbers are JSON")
}

#[derive(Deserialize)]
struct TokenBody {
    token: Token,
}

#[derive(Deserialize)]
struct Token {
    expires_at: String,
    #[serde(default)]
    catalog: Vec<Service>,
}

#[derive(Deserialize)]
struct Service {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    endpoints: Vec<ServiceEndpoint>,
}

#[derive(Deserialize)]
struct ServiceEndpoint {
    #[serde(default)]
    interface: String,
    url: String,
    #[serde(default)]
    region: Option<String>,
}

/// What Keystone tells with a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeystoneAnswer {
    /// Seconds since 1970.
    pub expires_unix_s: u64,
    /// The public endpoint of the object store, in the region asked for.
    pub storage_url: Option<String>,
}

/// Reads Keystone's answer.
pub fn read_keystone(json: &[u8], region: Option<&str>) -> Option<KeystoneAnswer> {
    let TokenBody { token } = serde_json::from_slice(json).ok()?;
    let fits = |endpoint: &&ServiceEndpoint| {
        endpoint.interface == "public"
            && region.is_none_or(|region| endpoint.region.as_deref() == Some(region))
    };
    let stores = token.catalog.iter().filter(|service| service.kind == "object-store");
    let storage_url =
        stores.flat_map(|service| &service.endpoints).find(fits).map(|e| e.url.clone());
    Some(KeystoneAnswer { expires_unix_s: parse_iso(&token.expires_at)?, storage_url })
}

/// What Keystone wants (Identity API v3, "Authentication and token management"); none for v1.
pub fn keystone_request(credentials: &SwiftCredentials) -> Option<String> {
    let body = match credentials {
        SwiftCredentials::V1 { .. } => return None,
        SwiftCredentials::V3Password { user, password, user_domain, project, project_domain } => {
            serde_json::json!({"auth": {
                "identity": {"methods": ["password"], "password": {"user": {
                    "name": user.reveal(), "password": password.reveal(),
                    "domain": {"name": user_domain}}}},
                "scope": {"project": {"name": project, "domain": {"name": project_domain}}}}})
        }
        SwiftCredentials::V3Application { id, secret } => serde_json::json!({"auth": {
            "identity": {"methods": ["application_credential"], "application_credential": {
                "id": id.reveal(), "secret": secret.reveal()}}}}),
    };
    Some(body.to_string())
}

#[derive(Deserialize)]
struct SloEntry {
    name: String,
}

/// The segments named by a static manifest (`GET ?multipart-manifest=get`), as `/container/key`.
pub fn read_manifest(json: &[u8]) -> Option<Vec<String>> {
    let entries: Vec<SloEntry> = serde_json::from_slice(json).ok()?;
    Some(entries.into_iter().map(|entry| entry.name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_page_names_the_next_and_a_short_one_does_not() {
        let json = br#"[{"name":"a","bytes":1,"hash":"h"},{"subdir":"b/"}]"#;
        assert_eq!(read_page(json, 2).unwrap().next.as_deref(), Some("b/"));
        assert_eq!(read_page(json, 3).unwrap().next, None);
        for broken in ["", "{}", "[1]", r#"[{"name":"a"}]"#, r#"[{"name":"a","bytes":-1}]"#] {
            assert_eq!(read_page(broken.as_bytes(), 3), None, "{broken}");
        }
    }

    #[test]
    fn the_catalog_is_searched_by_type_interface_and_region() {
        let json = br#"{"token":{"expires_at":"2013-05-24T00:00:00.000000Z","catalog":[
            {"type":"compute","endpoints":[{"interface":"public","url":"http://c","region":"r"}]},
            {"type":"object-store","endpoints":[
              {"interface":"admin","url":"http://a","region":"r"},
              {"interface":"public","url":"http://x","region":"q"},
              {"interface":"public","url":"http://p","region":"r"}]}]}}"#;
        let answer = read_keystone(json, Some("r")).unwrap();
        assert_eq!(answer.storage_url.as_deref(), Some("http://p"));
        assert_eq!(answer.expires_unix_s, 1_369_353_600);
        assert_eq!(read_keystone(json, Some("z")).unwrap().storage_url, None);
    }
}
