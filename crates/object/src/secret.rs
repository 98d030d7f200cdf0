//! Text that must never be seen, and the removal of it from text that others wrote.

use std::fmt;

/// A password, key or token. It has no `Display`, its `Debug` shows nothing, and it is zeroed when
/// dropped as far as safe Rust can.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes `text` into keeping.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself: for signing and for headers, nothing else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.0).into_bytes();
        bytes.fill(0);
        std::hint::black_box(&bytes);
    }
}

/// Takes known secrets out of text that a server wrote: some echo the request's headers.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<Secret>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} secrets)", self.secrets.len())
    }
}

/// Shorter secrets are part of ordinary words; hiding them would only tell where they stand.
const SHORTEST_LEN: usize = 4;

impl Redactor {
    /// Also hides `secret` from now on.
    pub fn hide(&mut self, secret: &Secret) {
        if secret.reveal().len() >= SHORTEST_LEN && !self.secrets.contains(secret) {
            self.secrets.push(secret.clone());
        }
    }

    /// `text` without any of the secrets.
    pub fn clean(&self, text: &str) -> String {
        self.secrets
            .iter()
            .fold(text.to_owned(), |text, secret| text.replace(secret.reveal(), "[secret]"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_in_no_debug_and_is_taken_out_of_text() {
        let secret = Secret::new("hunter22");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "[secret] Some([secret])");
        let mut redactor = Redactor::default();
        redactor.hide(&secret);
        assert_eq!(redactor.clean("key hunter22 is wrong"), "key [secret] is wrong");
        assert!(!format!("{redactor:?}").contains("hunter22"));
    }
}
