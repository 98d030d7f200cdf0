//! The XML that S3 sends, read without trust: whatever comes, the result is a record or nothing.

use quick_xml::events::Event;
use quick_xml::Reader;

use crate::client::{Listed, Page, Upload};
use crate::encoding::unescape;

/// Elements stand no deeper in anything S3 sends.
const DEEPEST: usize = 16;

/// `<Error>`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorBody {
    /// `NoSuchKey` and the like.
    pub code: String,
    /// For people.
    pub message: String,
    /// The right region, where that was wrong.
    pub region: String,
}

/// Calls `leaf` with the names from the root on and the text of each element that has text, and
/// `end` at the end of every element; none where the XML is broken.
fn walk(
    xml: &[u8],
    mut leaf: impl FnMut(&[String], &str),
    mut end: impl FnMut(&[String]),
) -> Option<()> {
    let mut reader = Reader::from_reader(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut path: Vec<String> = Vec::new();
    let mut text = String::new();
    let mut rooted = false;
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) => {
                if path.len() == DEEPEST || (rooted && path.is_empty()) {
                    return None;
                }
                rooted = true;
                path.push(std::str::from_utf8(start.local_name().as_ref()).ok()?.to_owned());
                text.clear();
            }
            Event::Text(part) => text.push_str(&part.unescape().ok()?),
            Event::CData(part) => text.push_str(std::str::from_utf8(&part).ok()?),
            Event::End(_) => {
                if !text.is_empty() {
                    leaf(&path, &text);
                    text.clear();
                }
                end(&path);
                path.pop();
            }
            Event::Eof => return (rooted && path.is_empty()).then_some(()),
            _ => {}
        }
    }
}

/// `text` as the content of an element.
pub fn escaped(text: &str) -> String {
    quick_xml::escape::escape(text).into_owned()
}

fn is_at(path: &[String], names: &[&str]) -> bool {
    path.iter().map(String::as_str).eq(names.iter().copied())
}

/// Reads an error; none where it is none.
pub fn read_error(xml: &[u8]) -> Option<ErrorBody> {
    let mut error = ErrorBody::default();
    let set = |path: &[String], text: &str| {
        for (name, field) in [
            ("Code", &mut error.code),
            ("Message", &mut error.message),
            ("Region", &mut error.region),
        ] {
            if is_at(path, &["Error", name]) {
                text.clone_into(field);
            }
        }
    };
    walk(xml, set, |_| {})?;
    (!error.code.is_empty()).then_some(error)
}

/// Reads `<InitiateMultipartUploadResult>` (rclone leaves the last word out): the upload's ID.
pub fn read_upload_id(xml: &[u8]) -> Option<String> {
    let mut id = None;
    let find = |path: &[String], text: &str| {
        let [root, name] = path else { return };
        if root.starts_with("InitiateMultipartUpload") && name == "UploadId" {
            id = Some(text.to_owned());
        }
    };
    walk(xml, find, |_| {})?;
    id
}

/// Reads `<CompleteMultipartUploadResult>`: the object's ETag, perhaps empty.
pub fn read_completed(xml: &[u8]) -> Option<String> {
    let mut etag = String::new();
    let mut completed = false;
    let find = |path: &[String], text: &str| {
        completed |= path.first().is_some_and(|root| root.starts_with("CompleteMultipartUpload"));
        if path.last().is_some_and(|name| name == "ETag") {
            text.trim_matches('"').clone_into(&mut etag);
        }
    };
    walk(xml, find, |_| {})?;
    completed.then_some(etag)
}

#[derive(Default)]
struct Uploads {
    all: Vec<Upload>,
    one: Upload,
    next: Upload,
    escaped: bool,
    truncated: bool,
    rooted: bool,
}

impl Uploads {
    fn leaf(&mut self, path: &[String], text: &str) {
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let ["ListMultipartUploadsResult", names @ ..] = &names[..] else { return };
        match names {
            ["EncodingType"] => self.escaped = text.eq_ignore_ascii_case("url"),
            ["IsTruncated"] => self.truncated = text.trim() == "true",
            ["NextKeyMarker"] => text.clone_into(&mut self.next.key),
            ["NextUploadIdMarker"] => text.clone_into(&mut self.next.id),
            ["Upload", "Key"] => text.clone_into(&mut self.one.key),
            ["Upload", "UploadId"] => text.clone_into(&mut self.one.id),
            _ => {}
        }
    }

    fn end(&mut self, path: &[String]) {
        self.rooted |= is_at(path, &["ListMultipartUploadsResult"]);
        if is_at(path, &["ListMultipartUploadsResult", "Upload"]) {
            self.all.push(std::mem::take(&mut self.one));
        }
    }
}

/// Reads `<ListMultipartUploadsResult>`: uploads, and where the next page begins. A truncated page
/// that does not say is no page.
pub fn read_uploads(xml: &[u8]) -> Option<(Vec<Upload>, Option<Upload>)> {
    let uploads = std::cell::RefCell::new(Uploads::default());
    walk(
        xml,
        |path, text| uploads.borrow_mut().leaf(path, text),
        |path| uploads.borrow_mut().end(path),
    )?;
    let Uploads { mut all, mut next, escaped, truncated, rooted, .. } = uploads.into_inner();
    let lacks = |upload: &Upload| upload.key.is_empty() || upload.id.is_empty();
    if !rooted || all.iter().any(lacks) || (truncated && next.key.is_empty()) {
        return None;
    }
    if escaped {
        for upload in all.iter_mut().chain([&mut next]) {
            upload.key = unescape(&upload.key)?;
        }
    }
    Some((all, Some(next).filter(|_| truncated)))
}

#[derive(Default)]
struct Listing {
    page: Page,
    key: Option<String>,
    size: Option<u64>,
    etag: String,
    escaped: bool,
    truncated: bool,
    token: Option<String>,
    sound: bool,
    rooted: bool,
}

impl Listing {
    fn leaf(&mut self, path: &[String], text: &str) {
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let ["ListBucketResult", names @ ..] = &names[..] else { return };
        match names {
            ["EncodingType"] => self.escaped = text.eq_ignore_ascii_case("url"),
            ["IsTruncated"] => self.truncated = text.trim() == "true",
            ["NextContinuationToken"] => self.token = Some(text.to_owned()),
            ["CommonPrefixes", "Prefix"] => self.page.prefixes.push(text.to_owned()),
            ["Contents", "Key"] => self.key = Some(text.to_owned()),
            ["Contents", "Size"] => self.size = text.trim().parse().ok(),
            ["Contents", "ETag"] => text.trim_matches('"').clone_into(&mut self.etag),
            _ => {}
        }
    }

    fn end(&mut self, path: &[String]) {
        self.rooted |= is_at(path, &["ListBucketResult"]);
        if is_at(path, &["ListBucketResult", "Contents"]) {
            match (self.key.take(), self.size.take()) {
                (Some(key), Some(size_bytes)) => {
                    let etag = std::mem::take(&mut self.etag);
                    self.page.objects.push(Listed { key, size_bytes, etag });
                }
                _ => self.sound = false,
            }
        }
    }
}

/// Reads `<ListBucketResult>` of version 2. A truncated page without a token is no page.
pub fn read_page(xml: &[u8]) -> Option<Page> {
    let listing = std::cell::RefCell::new(Listing { sound: true, ..Listing::default() });
    walk(
        xml,
        |path, text| listing.borrow_mut().leaf(path, text),
        |path| listing.borrow_mut().end(path),
    )?;
    let mut listing = listing.into_inner();
    if !listing.rooted || !listing.sound || (listing.truncated && listing.token.is_none()) {
        return None;
    }
    if listing.escaped {
        for object in &mut listing.page.objects {
            object.key = unescape(&object.key)?;
        }
        for prefix in &mut listing.page.prefixes {
            *prefix = unescape(prefix)?;
        }
    }
    listing.page.next = listing.token.filter(|_| listing.truncated);
    Some(listing.page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_with_its_escapes() {
        let xml = br#"<?xml version="1.0"?><ListBucketResult xmlns="http://s3"><Name>b</Name>
            <IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b</NextContinuationToken>
            <EncodingType>url</EncodingType>
            <Contents><Key>a%20b+c</Key><Size>7</Size><ETag>&quot;e&quot;</ETag></Contents>
            <CommonPrefixes><Prefix>d/</Prefix></CommonPrefixes></ListBucketResult>"#;
        let page = read_page(xml).unwrap();
        let expected = Listed { key: "a b c".into(), size_bytes: 7, etag: "e".into() };
        assert_eq!(page.objects, [expected]);
        assert_eq!((page.prefixes[0].as_str(), page.next.as_deref()), ("d/", Some("a&b")));
    }

    #[test]
    fn unfinished_uploads_are_read_with_where_to_go_on() {
        let xml = br#"<ListMultipartUploadsResult><EncodingType>url</EncodingType>
            <NextKeyMarker>k%20</NextKeyMarker><NextUploadIdMarker>u</NextUploadIdMarker>
            <IsTruncated>true</IsTruncated>
            <Upload><Key>a%2Fb</Key><UploadId>i</UploadId><Owner><ID>o</ID></Owner></Upload>
            </ListMultipartUploadsResult>"#;
        let upload = |key: &str, id: &str| Upload { key: key.into(), id: id.into() };
        assert_eq!(read_uploads(xml), Some((vec![upload("a/b", "i")], Some(upload("k ", "u")))));
        let none = b"<ListMultipartUploadsResult></ListMultipartUploadsResult>";
        assert_eq!(read_uploads(none), Some((vec![], None)));
        assert_eq!(
            read_uploads(b"<ListMultipartUploadsResult><Upload/></ListMultipartUploadsResult>"),
            None
        );
    }

    #[test]
    fn broken_answers_are_nothing() {
        for xml in [
            "",
            "text",
            "<ListBucketResult>",
            "<ListBucketResult></Other>",
            "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
            "<ListBucketResult><Contents><Key>k</Key></Contents></ListBucketResult>",
            "<ListBucketResult><Contents><Key>k</Key><Size>-1</Size></Contents></ListBucketResult>",
            "<Error><Code>X</Code></Error>",
        ] {
            assert_eq!(read_page(xml.as_bytes()), None, "{xml}");
        }
        assert_eq!(read_completed(b"<Error><Code>InternalError</Code></Error>"), None);
        assert_eq!(read_error(b"<Error></Error>"), None);
    }
}
