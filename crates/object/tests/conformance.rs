//! One suite for every form of the client: in memory, failing, and real against real servers.

#![allow(missing_docs)]

mod support;

use std::sync::Arc;

use support::conformance::{check, content, Lacks};
use support::servers;
use wavetank_object::time::{ManualClock, SystemClock};
use wavetank_object::{
    connect_with, ErrorKind, Failing, Fault, LargeName, ListRequest, MemoryStore, ObjectClient,
    Operation, RetryPolicy, Retrying, Settings,
};

fn client_of(
    settings: &Settings,
    values: &wavetank_object::credentials::Values,
) -> impl ObjectClient {
    connect_with(settings, values, Arc::new(SystemClock::default())).unwrap().client(1).unwrap()
}

#[test]
fn the_in_memory_form_conforms() {
    check(&mut MemoryStore::default().client(), "p/", Lacks::default());
}

#[test]
fn the_failing_form_conforms_while_it_does_not_fail() {
    check(&mut Failing::new(MemoryStore::default().client(), |_| None), "p/", Lacks::default());
}

#[test]
fn retries_hide_every_second_request_failing() {
    for lost in [
        Fault::Refused(ErrorKind::Busy),
        Fault::AnswerLost(ErrorKind::Connection),
        Fault::RequestLost(ErrorKind::Deadline),
    ] {
        let mut count = 0;
        let failing = Failing::new(MemoryStore::default().client(), move |operation| {
            let repeatable = matches!(lost, Fault::Refused(_))
                || !matches!(
                    operation,
                    Operation::BeginParts | Operation::FinishParts | Operation::DeleteContainer
                );
            count += 1;
            (repeatable && count % 2 == 1).then_some(lost)
        });
        let clock = Arc::new(ManualClock::default());
        let mut client = Retrying::new(failing, RetryPolicy::default(), clock, 1);
        check(&mut client, "p/", Lacks::default());
    }
}

#[test]
fn versitygw_conforms_in_path_style_signed_and_unsigned() {
    let Some(server) = servers::versitygw() else { return };
    for sign_payload in [false, true] {
        let settings = Settings { sign_payload, ..servers::s3_settings(server.port, "bucket") };
        check(&mut client_of(&settings, &servers::s3_values()), "p/", Lacks::default());
    }
}

#[test]
fn rclone_conforms() {
    let Some(server) = servers::rclone() else { return };
    let settings = servers::s3_settings(server.port, "bucket");
    let lacks = Lacks { paging: true, ..Lacks::default() };
    check(&mut client_of(&settings, &servers::s3_values()), "p/", lacks);
}

#[test]
fn openstack_swift_conforms_with_static_and_dynamic_large_objects() {
    let Some(server) = servers::swift() else { return };
    for large_objects in [LargeName::Static, LargeName::Dynamic] {
        let settings = Settings { large_objects, ..servers::swift_settings(server.port, "box") };
        check(&mut client_of(&settings, &servers::swift_values()), "p/", Lacks::default());
        let segments = Settings { container: "box_segments".into(), ..settings };
        let left = client_of(&segments, &servers::swift_values()).list_all("").unwrap().value;
        assert!(left.is_empty(), "segments left behind: {left:?}");
    }
}

#[test]
fn a_listing_of_more_than_a_page_is_whole() {
    let mut clients: Vec<Box<dyn ObjectClient>> = vec![Box::new(MemoryStore::default().client())];
    let server = servers::versitygw();
    clients.extend(server.as_ref().map(|server| {
        let settings = servers::s3_settings(server.port, "bucket");
        Box::new(client_of(&settings, &servers::s3_values())) as Box<dyn ObjectClient>
    }));
    for mut client in clients {
        client.create_container().unwrap();
        let keys: Vec<String> = (0..1003).map(|index| format!("p/{index:04}")).collect();
        for key in &keys {
            client.put(key, &content(1, 1).into()).unwrap();
        }
        let first = client.list(&ListRequest::all("p/")).unwrap().value;
        assert_eq!((first.objects.len(), first.next.is_some()), (1000, true));
        let all = client.list_all("p/").unwrap().value;
        assert_eq!(all.into_iter().map(|object| object.key).collect::<Vec<_>>(), keys);
    }
}
