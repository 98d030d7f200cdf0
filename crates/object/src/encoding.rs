//! Text in URLs (RFC 3986) and hexadecimal digits.

/// Percent-encodes all but unreserved characters; `/` too unless `keep_slash`.
pub fn escape(text: &str, keep_slash: bool) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        let kept = byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'.' | b'~')
            || (keep_slash && byte == b'/');
        if kept {
            escaped.push(char::from(byte));
        } else {
            escaped.push('%');
            escaped.push(char::from(DIGITS[usize::from(byte >> 4)]));
            escaped.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
    escaped
}

/// The reverse, with `+` as a space (what S3 sends as `encoding-type=url`). What is no escape
/// stays as it is; none where the result is no UTF-8.
pub fn unescape(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|&b| char::from(b).to_digit(16));
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                plain.push((high * 16 + low) as u8);
                at += 3;
                continue;
            }
            (b'+', ..) => plain.push(b' '),
            (byte, ..) => plain.push(byte),
        }
        at += 1;
    }
    String::from_utf8(plain).ok()
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        for nibble in [byte >> 4, byte & 15] {
            text.push(char::from(b"0123456789abcdef"[usize::from(nibble)]));
        }
        text
    })
}

/// A query string from decoded pairs, in the order of their escaped names, as signing wants it.
pub fn query_string(pairs: &[(&str, String)]) -> String {
    let mut escaped: Vec<(String, String)> =
        pairs.iter().map(|(name, value)| (escape(name, false), escape(value, false))).collect();
    escaped.sort();
    let joined: Vec<String> =
        escaped.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    joined.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_escaped_comes_back(text: String, keep_slash: bool) {
            let escaped = escape(&text, keep_slash);
            prop_assert!(escaped.is_ascii());
            prop_assert_eq!(unescape(&escaped), Some(text));
        }

        #[test]
        fn unescaping_anything_does_not_panic(text: String) {
            let _ = unescape(&text);
        }
    }
}
