//! The parsers under a million inputs in all (`cargo test --release -- --ignored`), a few thousand
//! by default: random bytes, and sound answers with bytes changed, dropped and repeated.

#![allow(missing_docs)]

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use wavetank_object::credentials::Values;
use wavetank_object::wire::{read_dns_answer, Endpoint};
use wavetank_object::{encoding, s3::xml, swift::json, time};

const SOUND: [&str; 7] = [
    "<ListMultipartUploadsResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>\
     <NextKeyMarker>k%20</NextKeyMarker><NextUploadIdMarker>u</NextUploadIdMarker><Upload><Key>k\
     </Key><UploadId>u</UploadId></Upload></ListMultipartUploadsResult>",
    "<?xml version=\"1.0\"?><ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true\
     </IsTruncated><NextContinuationToken>t&amp;</NextContinuationToken><Contents><Key>a%20b</Key>\
     <Size>1</Size><ETag>&quot;e&quot;</ETag></Contents><CommonPrefixes><Prefix>p/</Prefix>\
     </CommonPrefixes></ListBucketResult>",
    "<Error><Code>NoSuchKey</Code><Message><![CDATA[m]]></Message><Region>r</Region></Error>",
    "<CompleteMultipartUploadResult><ETag>\"e\"</ETag></CompleteMultipartUploadResult>",
    "[{\"name\":\"a\",\"bytes\":1,\"hash\":\"h\"},{\"subdir\":\"b/\"}]",
    "{\"token\":{\"expires_at\":\"2013-05-24T00:00:00.000000Z\",\"catalog\":[{\"type\":\
     \"object-store\",\"endpoints\":[{\"interface\":\"public\",\"url\":\"http://p\"}]}]}}",
    "Fri, 24 May 2013 00:00:00 GMT",
];

fn input() -> impl Strategy<Value = Vec<u8>> {
    let random = prop::collection::vec(any::<u8>(), 0..200);
    let changes = prop::collection::vec((any::<usize>(), any::<u8>(), 0u8..4), 1..8);
    let changed = (0..SOUND.len(), changes).prop_map(|(which, changes)| {
        let mut bytes = SOUND[which].as_bytes().to_vec();
        for (at, byte, how) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = at % bytes.len();
            match how {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, byte),
                _ => bytes.extend_from_within(at..),
            }
            bytes.truncate(4096);
        }
        bytes
    });
    prop_oneof![1 => random, 3 => changed]
}

fn read_all(bytes: &[u8]) {
    let _ = (xml::read_page(bytes), xml::read_error(bytes), xml::read_upload_id(bytes));
    let _ = (
        xml::read_completed(bytes),
        xml::read_uploads(bytes),
        json::read_page(bytes, 2),
        json::read_manifest(bytes),
    );
    let _ = (json::read_keystone(bytes, Some("r")), read_dns_answer(bytes, 0, 1));
    let text = String::from_utf8_lossy(bytes);
    let _ = (time::parse_http_date(&text), time::parse_iso(&text), encoding::unescape(&text));
    let _ = (Endpoint::parse(&text), Values::parse(&text, "default"));
}

fn fuzz(cases: u32) {
    let mut runner = TestRunner::new(Config { cases, ..Config::default() });
    let read = |bytes: Vec<u8>| {
        read_all(&bytes);
        Ok(())
    };
    runner.run(&input(), read).unwrap();
}

#[test]
fn no_input_makes_a_parser_panic() {
    fuzz(3000);
}

#[test]
#[ignore = "a million inputs take minutes"]
fn a_million_inputs_make_no_parser_panic() {
    fuzz(1_000_000);
}
