//! TLS: a server that can prove who it is is believed, and no other.

#![allow(missing_docs)]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use wavetank_object::credentials::Values;
use wavetank_object::time::SystemClock;
use wavetank_object::{connect_with, Bytes, ErrorKind, ObjectClient, Settings};

/// A TLS server for `name` that answers everything with `body`; its port and certificate.
fn server(name: &str, body: Vec<u8>) -> (u16, String) {
    let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    let key = made.key_pair.serialize_der();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![made.cert.der().clone()],
            rustls::pki_types::PrivatePkcs8KeyDer::from(key).into(),
        )
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for tcp in listener.incoming().flatten() {
            let (config, body) = (Arc::clone(&config), body.clone());
            thread::spawn(move || {
                let tls = rustls::ServerConnection::new(config).unwrap();
                let mut tls = rustls::StreamOwned::new(tls, tcp);
                let mut request = Vec::new();
                let mut buffer = [0; 65536];
                while let Ok(count @ 1..) = tls.read(&mut buffer) {
                    request.extend_from_slice(&buffer[..count]);
                    let text = String::from_utf8_lossy(&request).into_owned();
                    let Some(head) = text.find("\r\n\r\n") else { continue };
                    let length = text.to_lowercase();
                    let length = length.split("content-length: ").nth(1);
                    let length: usize = length
                        .and_then(|rest| rest.split("\r\n").next())
                        .map_or(0, |n| n.parse().unwrap());
                    if request.len() < head + 4 + length {
                        continue;
                    }
                    request.clear();
                    let len = body.len();
                    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {len}\r\n\r\n");
                    let _ = tls.write_all(head.as_bytes());
                    let _ = tls.write_all(&body);
                }
            });
        }
    });
    (port, made.cert.pem())
}

fn settings(port: u16, ca_file: &std::path::Path) -> Settings {
    serde_json::from_value(serde_json::json!({
        "protocol": "s3", "endpoint": format!("https://localhost:{port}"), "container": "bucket",
        "ca_file": ca_file, "retries": 0,
    }))
    .unwrap()
}

fn client(settings: &Settings) -> impl ObjectClient {
    let text = "AWS_ACCESS_KEY_ID=abcdef\nAWS_SECRET_ACCESS_KEY=abcdef";
    let values = Values::parse(text, "default");
    connect_with(settings, &values, Arc::new(SystemClock::default())).unwrap().client(1).unwrap()
}

#[test]
fn a_server_with_a_known_authority_is_believed_and_large_bodies_pass() {
    let body: Vec<u8> = (0..3_000_000u32).map(|i| i as u8).collect();
    let (port, pem) = server("localhost", body.clone());
    let directory = tempfile::tempdir().unwrap();
    let ca_file = directory.path().join("ca.pem");
    std::fs::write(&ca_file, pem).unwrap();
    let mut client = client(&settings(port, &ca_file));
    let mut read = Vec::new();
    let first = client.get("k", None, &mut read).unwrap();
    assert!(first.timing.connect_ns.is_some());
    assert!(read == body);
    assert!(client.get("k", None, &mut read).unwrap().timing.connect_ns.is_none());
    client.put("k", &Bytes::from(vec![7; 5_000_000]).into()).unwrap();
}

#[test]
fn a_server_without_tls_is_told_from_one_that_is_not_believed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut tcp in listener.incoming().flatten() {
            let _ = tcp.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        }
    });
    let directory = tempfile::tempdir().unwrap();
    let ca_file = directory.path().join("ca.pem");
    std::fs::write(&ca_file, server("localhost", Vec::new()).1).unwrap();
    let error = client(&settings(port, &ca_file)).check().unwrap_err();
    assert!(error.message().contains("Try: http://"), "{error}");
}

#[test]
fn an_unknown_authority_and_another_name_are_refused() {
    let (port, _) = server("localhost", Vec::new());
    let (named, pem) = server("elsewhere.example", Vec::new());
    let directory = tempfile::tempdir().unwrap();
    let ca_file = directory.path().join("ca.pem");
    std::fs::write(&ca_file, pem).unwrap();
    for (port, says) in [(port, "Try: name the file of its authority"), (named, "Try: the name")] {
        let error = client(&settings(port, &ca_file)).check().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Tls, "{error}");
        assert!(error.message().contains(says), "{error}");
    }
}
