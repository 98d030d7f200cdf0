//! What every client must do, whatever is behind it. Keys are under `prefix`, which is left empty.

use wavetank_object::{ByteRange, Bytes, ErrorKind, ListRequest, ObjectClient};

/// S3's smallest part but the last.
const PART_LEN: usize = 5 << 20;

pub fn content(len: usize, seed: u64) -> Bytes {
    let mut state = seed.wrapping_mul(2) + 1;
    let next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(len).collect::<Vec<u8>>().into()
}

/// What a server is known not to do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lacks {
    /// No `limit` in listings, or no pages.
    pub paging: bool,
    /// Parts are accepted in any case.
    pub parts: bool,
    /// Odd keys are refused.
    pub odd_keys: bool,
}

pub fn check(client: &mut dyn ObjectClient, prefix: &str, lacks: Lacks) {
    client.create_container().unwrap();
    client.create_container().unwrap();
    client.check().unwrap();
    objects_come_back_whole(client, prefix);
    ranges_are_parts_of_the_whole(client, prefix);
    what_is_absent_is_not_found(client, prefix);
    if !lacks.odd_keys {
        odd_keys_are_keys(client, prefix);
    }
    listings_are_whole_sorted_and_paged(client, prefix, lacks);
    if !lacks.parts {
        parts_are_joined_in_the_order_of_their_numbers(client, prefix);
        an_abandoned_upload_leaves_nothing(client, prefix);
    }
    let left = client.list_all(prefix).unwrap().value;
    assert!(left.is_empty(), "left behind: {left:?}");
}

fn objects_come_back_whole(client: &mut dyn ObjectClient, prefix: &str) {
    let mut read = Vec::new();
    for len in [0, 1, 4096, 1_000_003] {
        let key = format!("{prefix}whole-{len}");
        for seed in [1, 2] {
            let body = content(len, seed);
            client.put(&key, &body.clone().into()).unwrap();
            let found = client.get(&key, None, &mut read).unwrap();
            assert_eq!(read, body, "{len}");
            assert_eq!(found.value.size_bytes, Some(len as u64));
            let head = client.head(&key).unwrap().value;
            assert_eq!((head.size_bytes, &head.etag), (Some(len as u64), &found.value.etag));
            assert!(found.timing.first_byte_ns <= found.timing.last_byte_ns);
        }
        client.delete(&key).unwrap();
    }
}

fn ranges_are_parts_of_the_whole(client: &mut dyn ObjectClient, prefix: &str) {
    let key = format!("{prefix}ranged");
    let body = content(100_000, 3);
    client.put(&key, &body.clone().into()).unwrap();
    let mut read = Vec::new();
    for (start, length) in [(0, 1), (0, 100_000), (99_999, 1), (5000, 70_000), (99_000, 5000)] {
        let range = ByteRange { start, length };
        let found = client.get(&key, Some(range), &mut read).unwrap().value;
        let end = (start + length).min(100_000) as usize;
        assert_eq!(read, body[start as usize..end], "{range:?}");
        assert_eq!(found.size_bytes, Some(100_000), "{range:?}");
    }
    client.put(&key, &content(0, 3).into()).unwrap();
    let none = client.get(&key, Some(ByteRange { start: 0, length: 1 }), &mut read);
    // RFC 9110, 14.1.1: nothing in it can be satisfied; Swift and others send the nothing there is.
    assert!(none.is_err_and(|error| error.kind == ErrorKind::Range) || read.is_empty());
    client.put(&key, &body.clone().into()).unwrap();
    let outside = ByteRange { start: 100_000, length: 1 };
    let error = client.get(&key, Some(outside), &mut read).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Range, "{error}");
    assert!(read.is_empty());
    client.delete(&key).unwrap();
}

fn what_is_absent_is_not_found(client: &mut dyn ObjectClient, prefix: &str) {
    let key = format!("{prefix}absent");
    let error = client.get(&key, None, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound, "{error}");
    assert!(!error.to_string().contains('\n'));
    assert_eq!(client.head(&key).unwrap_err().kind, ErrorKind::NotFound);
    client.delete(&key).unwrap();
    client.delete_with_parts(&key).unwrap();
}

fn odd_keys_are_keys(client: &mut dyn ObjectClient, prefix: &str) {
    let body = content(10, 4);
    let keys = ["a b", "a+b", "a%20b", "ü/ñ", "a&b=c", "(x)!*'~", "x;y,z@$", "<&>\"", "#?"];
    let more =
        ["100%", "%2F", "%zz", "...", ".a", "a.", "a..b", "日本/語", "🌊", " ", "e\u{301}", "é"];
    // As long as a name may be: 1024 bytes, in parts that a file system takes.
    let room = 1024 - prefix.len() - "odd/".len();
    let long: String =
        (0..room).map(|at| if at % 200 == 199 && at + 1 < room { '/' } else { 'l' }).collect();
    let all = keys.into_iter().chain(more).chain([long.as_str()]);
    let mut sorted: Vec<String> = all.map(|key| format!("{prefix}odd/{key}")).collect();
    sorted.sort();
    let mut read = Vec::new();
    for key in &sorted {
        client.put(key, &body.clone().into()).unwrap();
        client.get(key, None, &mut read).unwrap();
        assert_eq!(read, body, "{key}");
        assert_eq!(client.head(key).unwrap().value.size_bytes, Some(10), "{key}");
    }
    let listed = client.list_all(&format!("{prefix}odd/")).unwrap().value;
    let mut names: Vec<String> = listed.into_iter().map(|object| object.key).collect();
    names.sort(); // servers on a file system sort directories apart
    assert_eq!(names, sorted);
    for key in &sorted {
        client.delete(key).unwrap();
    }
}

fn listings_are_whole_sorted_and_paged(client: &mut dyn ObjectClient, prefix: &str, lacks: Lacks) {
    let keys: Vec<String> = (0..25).map(|i| format!("{prefix}list/{}/{i:03}", i / 10)).collect();
    for (i, key) in keys.iter().enumerate() {
        client.put(key, &content(i, 5).into()).unwrap();
    }
    let all = client.list_all(&format!("{prefix}list/")).unwrap().value;
    assert_eq!(all.iter().map(|object| object.key.clone()).collect::<Vec<_>>(), keys);
    assert_eq!(all[7].size_bytes, 7);
    let under = client
        .list(&ListRequest { delimiter: Some('/'), ..ListRequest::all(format!("{prefix}list/")) });
    let under = under.unwrap().value;
    assert!(under.objects.is_empty());
    let expected: Vec<String> = (0..3).map(|i| format!("{prefix}list/{i}/")).collect();
    assert_eq!(under.prefixes, expected);
    if !lacks.paging {
        pages_do_not_overlap(client, prefix, &keys);
    }
    for key in &keys {
        client.delete(key).unwrap();
    }
}

fn pages_do_not_overlap(client: &mut dyn ObjectClient, prefix: &str, keys: &[String]) {
    let mut request = ListRequest { limit: Some(7), ..ListRequest::all(format!("{prefix}list/")) };
    let mut seen = Vec::new();
    let mut pages = 0;
    loop {
        let page = client.list(&request).unwrap().value;
        assert!(page.objects.len() <= 7);
        seen.extend(page.objects.into_iter().map(|object| object.key));
        pages += 1;
        request.from = page.next;
        if request.from.is_none() {
            break;
        }
    }
    assert_eq!(seen, keys);
    assert_eq!(pages, 4);
    let (delimiter, limit) = (Some('/'), Some(2));
    let mut request =
        ListRequest { delimiter, limit, ..ListRequest::all(format!("{prefix}list/")) };
    let mut prefixes = client.list(&request).unwrap().value;
    request.from = prefixes.next.take();
    assert!(request.from.is_some());
    prefixes.prefixes.extend(client.list(&request).unwrap().value.prefixes);
    let expected: Vec<String> = (0..3).map(|i| format!("{prefix}list/{i}/")).collect();
    assert_eq!(prefixes.prefixes, expected);
}

fn parts_are_joined_in_the_order_of_their_numbers(client: &mut dyn ObjectClient, prefix: &str) {
    let key = format!("{prefix}large");
    let whole = content(2 * PART_LEN + 12_345, 6);
    let upload = client.begin_parts(&key).unwrap().value;
    let mut parts = Vec::new();
    for number in [2, 3, 1] {
        let start = (number - 1) * PART_LEN;
        let body = whole.slice(start..(start + PART_LEN).min(whole.len()));
        parts.push(client.put_part(&upload, number as u32, &body.into()).unwrap().value);
    }
    assert_eq!(client.head(&key).unwrap_err().kind, ErrorKind::NotFound);
    client.finish_parts(&upload, &parts).unwrap();
    let mut read = Vec::new();
    client.get(&key, None, &mut read).unwrap();
    assert!(read == whole, "{} bytes of {}", read.len(), whole.len());
    let across = ByteRange { start: PART_LEN as u64 - 10, length: 20 };
    client.get(&key, Some(across), &mut read).unwrap();
    assert_eq!(read, whole[PART_LEN - 10..PART_LEN + 10]);
    assert_eq!(client.head(&key).unwrap().value.size_bytes, Some(whole.len() as u64));
    client.delete_with_parts(&key).unwrap();
    assert_eq!(client.head(&key).unwrap_err().kind, ErrorKind::NotFound);
}

fn an_abandoned_upload_leaves_nothing(client: &mut dyn ObjectClient, prefix: &str) {
    let key = format!("{prefix}abandoned");
    let upload = client.begin_parts(&key).unwrap().value;
    client.put_part(&upload, 1, &content(1000, 7).into()).unwrap();
    assert_eq!(client.list_uploads(&key).unwrap().value, std::slice::from_ref(&upload));
    client.abandon_parts(&upload).unwrap();
    client.abandon_parts(&upload).unwrap();
    assert_eq!(client.list_uploads(prefix).unwrap().value, []);
    assert_eq!(client.head(&key).unwrap_err().kind, ErrorKind::NotFound);
}
