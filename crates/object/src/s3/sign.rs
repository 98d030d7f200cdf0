//! AWS Signature Version 4 in headers (AWS, "Signature Calculations for the Authorization Header").
//!
//! All headers of a request are signed. The payload is either hashed too or declared unsigned.

use sha2::{Digest, Sha256};

use crate::body::Body;
use crate::credentials::S3Credentials;
use crate::encoding::hex;
use crate::secret::Secret;
use crate::time::basic_iso;

/// What stands in for the payload's hash where it is not signed.
pub const UNSIGNED: &str = "UNSIGNED-PAYLOAD";
const BLOCK_LEN: usize = 64;

/// Signs for one region. Keeps the day's key.
#[derive(Debug)]
pub struct Signer {
    credentials: S3Credentials,
    region: String,
    day: Option<(String, [u8; 32])>,
}

/// What is signed.
pub struct Signable<'a> {
    /// Method.
    pub method: &'a str,
    /// Escaped path.
    pub path: &'a str,
    /// Escaped query in the order of its names; may be empty.
    pub query: &'a str,
    /// `Host` header.
    pub host: &'a str,
    /// Other headers that are part of the request; lower-case names.
    pub headers: &'a [(&'static str, String)],
    /// Hash of the payload, or [`UNSIGNED`].
    pub payload: &'a str,
}

impl Signer {
    /// Signs with `credentials` for `region`.
    pub fn new(credentials: S3Credentials, region: impl Into<String>) -> Self {
        Self { credentials, region: region.into(), day: None }
    }

    /// The region signed for.
    pub fn region(&self) -> &str {
        &self.region
    }

    /// The headers that make `request` authentic at `unix_s`.
    pub fn headers(&mut self, request: &Signable<'_>, unix_s: u64) -> Vec<(&'static str, String)> {
        let moment = basic_iso(unix_s);
        let mut added = vec![
            ("x-amz-content-sha256", request.payload.to_owned()),
            ("x-amz-date", moment.clone()),
        ];
        if let Some(token) = &self.credentials.session_token {
            added.push(("x-amz-security-token", token.reveal().to_owned()));
        }
        let mut signed: Vec<(&str, &str)> = vec![("host", request.host)];
        signed.extend(request.headers.iter().chain(&added).map(|(n, v)| (*n, v.trim())));
        signed.sort_unstable();
        let names: Vec<&str> = signed.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let mut canonical = format!("{}\n{}\n{}\n", request.method, request.path, request.query);
        for (name, value) in &signed {
            canonical.extend([name, ":", value, "\n"]);
        }
        canonical.extend(["\n", &names, "\n", request.payload]);

        let date = moment[..8].to_owned();
        let scope = format!("{date}/{}/s3/aws4_request", self.region);
        let hashed = hex(&Sha256::digest(canonical));
        let to_sign = format!("AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashed}");
        let signature = hex(&hmac(&self.key_of(date), to_sign.as_bytes()));
        let access_key = self.credentials.access_key.reveal();
        added.push((
            "authorization",
            format!(
                "AWS4-HMAC-SHA256 Credential={access_key}/{scope},SignedHeaders={names},\
                 Signature={signature}"
            ),
        ));
        added
    }

    fn key_of(&mut self, date: String) -> [u8; 32] {
        match &self.day {
            Some((day, key)) if *day == date => *key,
            _ => {
                let first = Secret::new(format!("AWS4{}", self.credentials.secret_key.reveal()));
                let key = [&date, &self.region, "s3", "aws4_request"]
                    .iter()
                    .fold(first.reveal().as_bytes().to_vec(), |key, part| {
                        hmac(&key, part.as_bytes()).to_vec()
                    });
                let key = <[u8; 32]>::try_from(key).expect("SHA-256 has 32 bytes");
                self.day = Some((date, key));
                key
            }
        }
    }
}

/// The payload's hash.
pub fn payload_hash(body: &Body) -> String {
    let hash = body.pieces().fold(Sha256::new(), |hash, piece| hash.chain_update(piece));
    hex(&hash.finalize())
}

/// HMAC-SHA256 (RFC 2104).
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0; BLOCK_LEN];
    if key.len() > BLOCK_LEN {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let inner =
        Sha256::new().chain_update(block.map(|b| b ^ 0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(block.map(|b| b ^ 0x5c)).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AWS's own examples ("Signature Calculations for the Authorization Header", examples).
    fn signature(
        method: &str,
        path: &str,
        query: &str,
        headers: &[(&'static str, &str)],
    ) -> String {
        let credentials = S3Credentials {
            access_key: Secret::new("AKIAIOSFODNN7EXAMPLE"),
            secret_key: Secret::new("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            session_token: None,
        };
        let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, (*v).to_owned())).collect();
        let body: &'static [u8] = if method == "PUT" { b"Welcome to Amazon S3." } else { b"" };
        let request = Signable {
            method,
            path,
            query,
            host: "examplebucket.s3.amazonaws.com",
            headers: &headers,
            payload: &payload_hash(&body.into()),
        };
        let added = Signer::new(credentials, "us-east-1").headers(&request, 1_369_353_600);
        added.last().unwrap().1.rsplit_once('=').unwrap().1.to_owned()
    }

    #[test]
    fn requests_are_signed_as_aws_signs_its_examples() {
        assert_eq!(
            signature("GET", "/test.txt", "", &[("range", "bytes=0-9")]),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
        assert_eq!(
            signature(
                "PUT",
                "/test%24file.text",
                "",
                &[
                    ("date", "Fri, 24 May 2013 00:00:00 GMT"),
                    ("x-amz-storage-class", "REDUCED_REDUNDANCY")
                ]
            ),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        );
        assert_eq!(
            signature("GET", "/", "lifecycle=", &[]),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        );
        assert_eq!(
            signature("GET", "/", "max-keys=2&prefix=J", &[]),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        );
    }

    #[test]
    fn hmac_gives_the_results_of_rfc_4231() {
        assert_eq!(
            hex(&hmac(b"Jefe", b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hex(&hmac(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }
}
