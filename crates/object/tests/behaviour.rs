//! What goes wrong, and what is said of it: one clear sentence, in time, without credentials.

#![allow(missing_docs)]

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use support::conformance::content;
use support::fake::{reply, Fake, Say};
use support::servers::{s3_settings, s3_values, swift_settings, swift_values, versitygw, SECRET};
use wavetank_object::credentials::Values;
use wavetank_object::time::{ManualClock, SystemClock};
use wavetank_object::{
    connect_with, AuthName, Error, ErrorKind, ObjectClient, Performed, Settings, StyleName,
};

const NOW: u64 = 1_369_353_600;

fn once(settings: Settings, values: &Values) -> impl ObjectClient {
    let settings = Settings { retries: 0, ..settings };
    connect_with(&settings, values, Arc::new(SystemClock::default())).unwrap().client(1).unwrap()
}

/// The error of one GET that `fake` answers.
fn failed(fake: &Fake) -> Error {
    let mut client = once(s3_settings(fake.port, "bucket"), &s3_values());
    client.get("k", None, &mut Vec::new()).unwrap_err()
}

fn s3_error(status: u16, code: &str, extra: &str) -> Say {
    let date = ("date", "Fri, 24 May 2013 01:00:00 GMT");
    reply(status, &[date], &format!("<Error><Code>{code}</Code>{extra}</Error>"))
}

#[test]
fn what_s3_refuses_is_said_in_one_sentence_of_its_kind() {
    for (status, code, extra, kind, says) in [
        (403, "InvalidAccessKeyId", "", ErrorKind::Credentials, "check AWS_ACCESS_KEY_ID"),
        (403, "SignatureDoesNotMatch", "", ErrorKind::Credentials, "refused the credentials"),
        (
            400,
            "AuthorizationHeaderMalformed",
            "<Message>the region is wrong</Message><Region>eu-west-1</Region>",
            ErrorKind::Region,
            "Try: region \"eu-west-1\"",
        ),
        (403, "RequestTimeTooSkewed", "", ErrorKind::ClockSkew, "ahead of the server's"),
        (404, "NoSuchBucket", "", ErrorKind::NoContainer, "has no bucket \"bucket\""),
        (409, "BucketNotEmpty", "", ErrorKind::NotEmpty, "not empty"),
        (403, "AccessDenied", "", ErrorKind::Denied, "does not allow it"),
        (429, "TooManyRequests", "", ErrorKind::Busy, "fewer requests"),
        (503, "SlowDown", "", ErrorKind::Busy, "fewer requests"),
        (500, "InternalError", "<Message>oh</Message>", ErrorKind::Server, "InternalError: oh"),
    ] {
        let (code, extra) = (code.to_owned(), extra.to_owned());
        let fake = Fake::start(move |_, _| s3_error(status, &code, &extra));
        let error = failed(&fake);
        assert_eq!((error.kind, error.status), (kind, Some(status)), "{error}");
        assert!(error.to_string().contains(says), "{error}");
        assert!(!error.to_string().contains('\n'));
    }
}

#[test]
fn what_is_no_http_or_no_xml_is_malformed_and_nothing_panics() {
    let fake = Fake::start(|_, _| Say::Raw(b"SSH-2.0-OpenSSH_9.2\r\n\r\n".to_vec()));
    assert_eq!(failed(&fake).kind, ErrorKind::Malformed);
    for body in ["", "<ListBucketResult>", "{}", "<html></html>"] {
        let fake = Fake::start(move |_, _| reply(200, &[], body));
        let mut client = once(s3_settings(fake.port, "bucket"), &s3_values());
        assert_eq!(client.list_all("").unwrap_err().kind, ErrorKind::Malformed, "{body}");
    }
}

#[test]
fn a_server_that_hangs_costs_its_deadline_and_no_more() {
    let fake = Fake::start(|_, _| Say::Hang(Duration::from_secs(600)));
    let patience = Settings { silence_timeout_ns: 200_000_000, ..s3_settings(fake.port, "bucket") };
    let began = Instant::now();
    let error = once(patience, &s3_values()).put("k", &content(10, 1).into()).unwrap_err();
    assert_eq!((error.kind, error.performed), (ErrorKind::Deadline, Performed::Perhaps));
    assert!(error.message().contains("hangs"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(300));
    let whole = Settings { request_timeout_ns: 200_000_000, ..s3_settings(fake.port, "bucket") };
    let error = once(whole, &s3_values()).head("k").unwrap_err();
    assert!(error.message().contains("took too long"), "{error}");
}

#[test]
fn an_answer_that_ends_early_is_an_error_and_not_a_short_object() {
    let cut = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\nconnection: close\r\n\r\nshort";
    let first = Fake::start(move |_, before| match before {
        0 => Say::Raw(cut.to_vec()),
        _ => Say::Close,
    });
    // The script keeps the socket open after the first answer; silence ends it.
    let settings =
        Settings { silence_timeout_ns: 200_000_000, ..s3_settings(first.port, "bucket") };
    let error = once(settings, &s3_values()).get("k", None, &mut Vec::new()).unwrap_err();
    assert!(error.kind.is_transient(), "{error:?}");
}

#[test]
fn nothing_listening_is_said_at_once() {
    let port = support::servers::free_port();
    let error = once(s3_settings(port, "bucket"), &s3_values()).check().unwrap_err();
    assert_eq!((error.kind, error.performed), (ErrorKind::Connection, Performed::No));
    assert!(error.message().contains("nothing listens there"), "{error}");
}

#[test]
fn busy_answers_are_retried_counted_and_their_retry_after_is_heeded() {
    let fake = Fake::start(|_, before| match before {
        0 | 1 => reply(503, &[("retry-after", "3")], "<Error><Code>SlowDown</Code></Error>"),
        _ => reply(200, &[("etag", "\"e\"")], ""),
    });
    let clock = Arc::new(ManualClock::at(NOW));
    let settings = s3_settings(fake.port, "bucket");
    let store = connect_with(&settings, &s3_values(), Arc::clone(&clock) as _).unwrap();
    let answer = store.client(1).unwrap().put("k", &content(10, 1).into()).unwrap();
    assert_eq!((answer.retries, answer.value.etag.as_str()), (2, "e"));
    use wavetank_object::time::Clock as _;
    assert!(clock.unix_s() >= NOW + 6);
}

#[test]
fn finishing_an_upload_is_not_repeated_when_its_answer_was_lost() {
    let fake = Fake::start(|seen, _| {
        if seen.line.contains("uploads=") {
            let xml = "<InitiateMultipartUploadResult><UploadId>u</UploadId>\
                       </InitiateMultipartUploadResult>";
            return reply(200, &[], xml);
        }
        Say::Close
    });
    let clock = Arc::new(ManualClock::at(NOW));
    let settings = s3_settings(fake.port, "bucket");
    let mut client = connect_with(&settings, &s3_values(), clock).unwrap().client(1).unwrap();
    let upload = client.begin_parts("k").unwrap().value;
    let error = client.finish_parts(&upload, &[]).unwrap_err();
    assert_eq!((error.performed, error.retries), (Performed::Perhaps, 0));
    assert_eq!(fake.requests().len(), 2);
}

#[test]
fn one_connection_serves_many_requests_and_is_opened_again_when_it_ended() {
    let fake = Fake::start(|_, before| match before {
        2 => {
            Say::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec())
        }
        _ => reply(200, &[], ""),
    });
    let mut client = once(s3_settings(fake.port, "bucket"), &s3_values());
    let opened: Vec<bool> = (0..4)
        .map(|_| client.put("k", &content(3, 1).into()).unwrap().timing.connect_ns.is_some())
        .collect();
    assert_eq!(opened, [true, false, false, true]);
}

#[test]
fn etags_of_all_forms_are_read_and_given_back_whole() {
    for (sent, read) in [("\"e-2\"", "e-2"), ("e", "e"), ("W/\"e\"", "e"), ("\"a+/=<&\"", "a+/=<&")]
    {
        let fake = Fake::start(move |seen, _| match seen.line.starts_with("PUT") {
            true => reply(200, &[("etag", sent)], ""),
            false => reply(
                200,
                &[],
                "<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>",
            ),
        });
        let mut client = once(s3_settings(fake.port, "bucket"), &s3_values());
        let upload = wavetank_object::Upload { key: "k".into(), id: "u".into() };
        let part = client.put_part(&upload, 1, &content(3, 1).into()).unwrap().value;
        assert_eq!(part.etag, read);
        client.finish_parts(&upload, &[part]).unwrap();
        let asked = String::from_utf8(fake.requests().remove(1).body).unwrap();
        let escaped = read.replace('&', "&amp;").replace('<', "&lt;");
        assert!(asked.contains(&format!("<ETag>&quot;{escaped}&quot;</ETag>")), "{asked}");
    }
}

#[test]
fn a_range_is_what_the_server_says_it_is_whatever_its_status() {
    use wavetank_object::ByteRange;
    for (status, says, fine) in [
        (206, "bytes 3-5/9", true),
        (200, "bytes 3-5/9", true),
        (206, "bytes 0-2/9", false),
        (206, "bytes 5-3/9", false),
        (200, "", false),
    ] {
        let headers = [("content-range", says)];
        let fake = Fake::start(move |_, _| {
            reply(status, &headers[..usize::from(!says.is_empty())], "abc")
        });
        let mut client = once(s3_settings(fake.port, "bucket"), &s3_values());
        let got = client.get("k", Some(ByteRange { start: 3, length: 3 }), &mut Vec::new());
        assert_eq!(got.is_ok(), fine, "{status} {says:?} {got:?}");
    }
}

#[test]
fn virtual_host_style_puts_the_bucket_into_the_name() {
    let fake = Fake::start(|_, _| reply(200, &[], ""));
    let endpoint = format!("http://localhost:{}", fake.port);
    let style = StyleName::VirtualHost;
    let settings = Settings { endpoint, style, ..s3_settings(fake.port, "bucket") };
    once(settings, &s3_values()).put("a b", &content(3, 1).into()).unwrap();
    let seen = fake.requests().remove(0);
    assert_eq!(seen.header("host").unwrap(), format!("bucket.localhost:{}", fake.port));
    assert!(seen.line.starts_with("PUT /a%20b HTTP/1.1"), "{}", seen.line);
}

#[test]
fn credentials_are_in_no_error_even_where_the_server_repeats_them() {
    let fake = Fake::start(|seen, _| {
        let echoed =
            format!("<Message>{SECRET} {}</Message>", seen.header("authorization").unwrap());
        s3_error(400, "Odd", &echoed)
    });
    let error = failed(&fake);
    for text in [error.to_string(), format!("{error:?}"), format!("{:?}", s3_values())] {
        assert!(!text.contains(SECRET) && !text.contains(support::servers::ACCESS), "{text}");
    }
    let token = Fake::start(|seen, _| match seen.header("x-auth-token") {
        Some(token) => reply(400, &[], &format!("token {token} key testing")),
        None => {
            let port = seen.header("host").unwrap().rsplit(':').next().unwrap().to_owned();
            let url = format!("http://127.0.0.1:{port}/v1/A");
            reply(200, &[("x-auth-token", "tokentoken"), ("x-storage-url", &url)], "")
        }
    });
    let error = once(swift_settings(token.port, "box"), &swift_values()).head("k");
    let error = error.unwrap_err().to_string();
    assert!(!error.contains("tokentoken") && !error.contains("testing"), "{error}");
}

#[test]
fn tokens_are_renewed_before_they_end_and_when_they_are_refused() {
    let fake = Fake::start(|seen, before| {
        let Some(token) = seen.header("x-auth-token") else {
            let port = seen.header("host").unwrap().rsplit(':').next().unwrap().to_owned();
            let url = format!("http://127.0.0.1:{port}/v1/A");
            let token = format!("token{before}");
            let headers = [
                ("x-auth-token", token.as_str()),
                ("x-storage-url", &url),
                ("x-auth-token-expires", "1000"),
            ];
            return reply(200, &headers, "");
        };
        match (token, before) {
            ("token0", 2..) => reply(401, &[], ""),
            _ => reply(200, &[], ""),
        }
    });
    let clock = Arc::new(ManualClock::at(NOW));
    let settings = swift_settings(fake.port, "box");
    let store = connect_with(&settings, &swift_values(), Arc::clone(&clock) as _).unwrap();
    let mut client = store.client(1).unwrap();
    client.head("k").unwrap(); // 0 token, 1 HEAD
    client.head("k").unwrap(); // 2 refused, 3 token, 4 HEAD
    clock.advance(Duration::from_secs(930));
    client.head("k").unwrap(); // still good: 5 HEAD
    clock.advance(Duration::from_secs(11));
    client.head("k").unwrap(); // 6 token, 7 HEAD
    let asked: Vec<bool> =
        fake.requests().iter().map(|seen| seen.header("x-auth-key").is_some()).collect();
    assert_eq!(asked, [true, false, false, true, false, false, true, false]);
}

#[test]
fn keystone_gives_a_token_and_the_catalog_the_account() {
    let fake = Fake::start(|seen, _| {
        let port = seen.header("host").unwrap().rsplit(':').next().unwrap().to_owned();
        if seen.line.starts_with("POST /v3/auth/tokens") {
            let body: serde_json::Value = serde_json::from_slice(&seen.body).unwrap();
            assert_eq!(body["auth"]["identity"]["password"]["user"]["name"], "u");
            let json = format!(
                r#"{{"token":{{"expires_at":"2099-01-01T00:00:00.000000Z","catalog":[
                {{"type":"object-store","endpoints":[{{"interface":"public","region":"r",
                "url":"http://127.0.0.1:{port}/v1/AUTH_p"}}]}}]}}}}"#
            );
            return reply(201, &[("x-subject-token", "keystonetoken")], &json);
        }
        assert_eq!(seen.header("x-auth-token"), Some("keystonetoken"));
        assert!(seen.line.starts_with("HEAD /v1/AUTH_p/box/k "), "{}", seen.line);
        reply(200, &[], "")
    });
    let endpoint = format!("http://127.0.0.1:{}/v3", fake.port);
    let settings = Settings { endpoint, auth: AuthName::V3, ..swift_settings(fake.port, "box") };
    let values = Values::parse("OS_USERNAME=u\nOS_PASSWORD=passwort\nOS_PROJECT_NAME=p", "default");
    once(settings.clone(), &values).head("k").unwrap();
    let elsewhere = Settings { region: Some("z".into()), ..settings };
    assert_eq!(once(elsewhere, &values).head("k").unwrap_err().kind, ErrorKind::Region);
}

#[test]
fn versitygw_refusals_are_understood() {
    let Some(server) = versitygw() else { return };
    let settings = s3_settings(server.port, "bucket");
    let error = once(settings.clone(), &s3_values()).check().unwrap_err();
    assert_eq!(error.kind, ErrorKind::NoContainer, "{error}");
    for (access, secret) in [("testaccess", "wrongsecret"), ("nobody00", SECRET)] {
        let text = format!("AWS_ACCESS_KEY_ID={access}\nAWS_SECRET_ACCESS_KEY={secret}");
        let error = once(settings.clone(), &Values::parse(&text, "default")).check().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Credentials, "{error}");
    }
    let elsewhere = Settings { region: Some("eu-west-1".into()), ..settings.clone() };
    let error = once(elsewhere, &s3_values()).check().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Region, "{error}");
    let store = connect_with(
        &Settings { retries: 0, ..settings.clone() },
        &s3_values(),
        Arc::new(ManualClock::at(NOW)),
    );
    let error = store.unwrap().client(1).unwrap().check().unwrap_err();
    assert_eq!(error.kind, ErrorKind::ClockSkew, "{error}");
    assert!(error.message().contains("behind the server's"), "{error}");
    let mut client = once(settings, &s3_values());
    client.create_container().unwrap();
    client.put("k", &content(1, 1).into()).unwrap();
    assert_eq!(client.delete_container().unwrap_err().kind, ErrorKind::NotEmpty);
}
