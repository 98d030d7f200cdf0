//! From S3's answers to kinds of error and sentences: the one place that knows its codes.

use std::time::Duration;

use super::xml::{read_error, ErrorBody};
use crate::error::{Error, ErrorKind};
use crate::secret::Redactor;
use crate::time::{parse_http_date, Clock};
use crate::wire::Reply;

/// What the sentence is made of.
pub struct Context<'a> {
    /// `PUT bucket/key` and the like.
    pub what: &'a str,
    /// The server.
    pub endpoint: &'a str,
    /// Bucket.
    pub bucket: &'a str,
    /// Region signed for.
    pub region: &'a str,
    /// Hides what the server should not have repeated.
    pub redactor: &'a Redactor,
    /// This machine's time.
    pub clock: &'a dyn Clock,
}

/// The error that `reply` with `body` is.
pub fn explain(context: &Context<'_>, reply: &Reply, body: &[u8]) -> Error {
    let said = read_error(body).unwrap_or_default();
    let said = ErrorBody {
        message: context.redactor.clean(&said.message),
        code: context.redactor.clean(&said.code),
        region: context.redactor.clean(&said.region),
    };
    let kind = kind_of(&said, reply);
    let Context { what, endpoint, bucket, .. } = context;
    let code = if said.code.is_empty() {
        format!("HTTP {}", reply.status)
    } else {
        format!("HTTP {} {}", reply.status, said.code)
    };
    let why = match kind {
        ErrorKind::Credentials => format!(
            "refused the credentials ({code}). Try: check AWS_ACCESS_KEY_ID and \
             AWS_SECRET_ACCESS_KEY"
        ),
        ErrorKind::Region => wrong_region(context, reply, &said),
        ErrorKind::ClockSkew => clock_skew(context, reply),
        ErrorKind::NoContainer => format!("has no bucket {bucket:?} ({code}). Try: make it, or check its name"),
        ErrorKind::ContainerTaken => {
            format!("has a bucket {bucket:?} that is someone else's ({code})")
        }
        ErrorKind::NotEmpty => format!("will not remove bucket {bucket:?}: it is not empty"),
        ErrorKind::NotFound => format!("has no such object or upload ({code})"),
        ErrorKind::Denied => format!(
            "does not allow it with these credentials ({code}). Try: credentials that may list, read, \
             write and delete there"
        ),
        ErrorKind::Range => "has the object, but not this range of it".to_owned(),
        ErrorKind::Busy => format!("asks for fewer requests ({code}). Try: later, or with fewer connections"),
        ErrorKind::Server => format!("failed ({code}: {}). Try: later; its log knows more", said.message),
        _ => format!("refused ({code}: {})", said.message),
    };
    let mut error = Error::new(kind, format!("{what}: s3 at {endpoint} {why}"));
    if kind == ErrorKind::Server {
        error = error.perhaps_performed();
    }
    error.status = Some(reply.status);
    error.timing = reply.timing;
    error.retry_after =
        reply.header("retry-after").and_then(|s| s.parse().ok()).map(Duration::from_secs);
    error
}

fn kind_of(said: &ErrorBody, reply: &Reply) -> ErrorKind {
    match said.code.as_str() {
        "InvalidAccessKeyId"
        | "XAdminUserNotFound"
        | "SignatureDoesNotMatch"
        | "InvalidToken"
        | "ExpiredToken"
        | "InvalidSecurity" => return ErrorKind::Credentials,
        "AuthorizationHeaderMalformed" if said.message.contains("region") => {
            return ErrorKind::Region;
        }
        "PermanentRedirect" | "TemporaryRedirect" | "IllegalLocationConstraintException" => {
            return ErrorKind::Region;
        }
        "RequestTimeTooSkewed" => return ErrorKind::ClockSkew,
        "NoSuchBucket" => return ErrorKind::NoContainer,
        "BucketAlreadyExists" | "BucketAlreadyOwnedByYou" => {
            return ErrorKind::ContainerTaken;
        }
        "BucketNotEmpty" => return ErrorKind::NotEmpty,
        "NoSuchKey" | "NoSuchUpload" => return ErrorKind::NotFound,
        "InvalidRange" => return ErrorKind::Range,
        "SlowDown" | "TooManyRequests" | "RequestLimitExceeded" => return ErrorKind::Busy,
        "RequestTimeout" => return ErrorKind::Connection,
        _ => {}
    }
    match reply.status {
        301 | 307 => ErrorKind::Region,
        401 => ErrorKind::Credentials,
        403 => ErrorKind::Denied,
        404 => ErrorKind::NotFound,
        416 => ErrorKind::Range,
        429 | 503 => ErrorKind::Busy,
        // An error inside a 200, as finishing an upload may give: it was begun and not done.
        status if !(300..500).contains(&status) => ErrorKind::Server,
        _ => ErrorKind::Refused,
    }
}

fn wrong_region(context: &Context<'_>, reply: &Reply, said: &ErrorBody) -> String {
    let named = reply.header("x-amz-bucket-region").unwrap_or(&said.region);
    let region = context.region;
    if named.is_empty() {
        format!("belongs to another region than {region:?}: {}", said.message)
    } else {
        format!("belongs to region {named:?}, not {region:?}. Try: region {named:?}")
    }
}

fn clock_skew(context: &Context<'_>, reply: &Reply) -> String {
    let ours = context.clock.unix_s() as i64;
    match reply.header("date").and_then(parse_http_date) {
        Some(theirs) => {
            let skew = ours - theirs as i64;
            let side = if skew > 0 { "ahead of" } else { "behind" };
            let seconds = skew.unsigned_abs();
            format!("refused: this clock is {seconds} s {side} the server's. Try: set it")
        }
        None => "refused: this clock and the server's differ too much. Try: set it".to_owned(),
    }
}
