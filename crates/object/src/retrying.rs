//! Repeats what is safe to repeat, waiting longer each time.
//!
//! Safe means: the error may pass (429, 5xx, a broken or silent connection), and either the
//! request is idempotent (RFC 9110, 9.2.2: PUT, GET, HEAD, DELETE, listings, parts) or the server
//! certainly didn't do it. Beginning and finishing a large object are not idempotent: a lost
//! answer to them is reported, never guessed at.

use std::sync::Arc;
use std::time::Duration;

use crate::body::{Body, Sink};
use crate::client::{
    Answer, ByteRange, Found, ListRequest, ObjectClient, Outcome, Page, Part, Stored, Upload,
};
use crate::error::{Error, Performed};
use crate::time::Clock;

/// How often and how patiently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Repeats at most; 0 never repeats.
    pub retries: u32,
    /// The wait before the first repeat; doubled for each further one.
    pub first_wait: Duration,
    /// No wait is longer, whatever the server asks for.
    pub longest_wait: Duration,
    /// No repeat begins later than this after the first attempt began.
    pub within: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 4,
            first_wait: Duration::from_millis(100),
            longest_wait: Duration::from_secs(10),
            within: Duration::from_secs(120),
        }
    }
}

/// A client that repeats.
pub struct Retrying<C> {
    inner: C,
    policy: RetryPolicy,
    clock: Arc<dyn Clock>,
    /// State of the jitter, which keeps clients from returning in step.
    jitter: u64,
}

impl<C: ObjectClient> Retrying<C> {
    /// Repeats requests of `inner`; `seed` decides the jitter.
    pub fn new(inner: C, policy: RetryPolicy, clock: Arc<dyn Clock>, seed: u64) -> Self {
        Self { inner, policy, clock, jitter: seed }
    }

    fn repeat<T>(
        &mut self,
        idempotent: bool,
        mut request: impl FnMut(&mut C) -> Outcome<T>,
    ) -> Outcome<T> {
        let began = self.clock.monotonic();
        let mut retries = 0;
        loop {
            let error = match request(&mut self.inner) {
                Ok(answer) => return Ok(Answer { retries: answer.retries + retries, ..answer }),
                Err(error) => error,
            };
            let safe = idempotent || error.performed == Performed::No;
            let wait = self.wait(retries, &error);
            let spent = self.clock.monotonic().saturating_sub(began);
            if !error.kind.is_transient()
                || !safe
                || retries >= self.policy.retries
                || spent + wait > self.policy.within
            {
                return Err(error.after_retries(retries));
            }
            self.clock.sleep(wait);
            retries += 1;
        }
    }

    /// Half of it fixed, half by chance.
    fn wait(&mut self, retries: u32, error: &Error) -> Duration {
        self.jitter = self.jitter.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let share = 0.5 + (self.jitter >> 40) as f64 / (1u64 << 25) as f64;
        let doubled = self.policy.first_wait.saturating_mul(1 << retries.min(16));
        let wait = doubled.min(self.policy.longest_wait).mul_f64(share);
        wait.max(error.retry_after.unwrap_or_default()).min(self.policy.longest_wait)
    }
}

impl<C: ObjectClient> ObjectClient for Retrying<C> {
    fn put(&mut self, key: &str, body: &Body) -> Outcome<Stored> {
        self.repeat(true, |c| c.put(key, body))
    }

    fn get(&mut self, key: &str, range: Option<ByteRange>, into: &mut dyn Sink) -> Outcome<Found> {
        self.repeat(true, |c| c.get(key, range, into))
    }

    fn head(&mut self, key: &str) -> Outcome<Found> {
        self.repeat(true, |c| c.head(key))
    }

    fn delete(&mut self, key: &str) -> Outcome<()> {
        self.repeat(true, |c| c.delete(key))
    }

    fn delete_with_parts(&mut self, key: &str) -> Outcome<()> {
        self.repeat(true, |c| c.delete_with_parts(key))
    }

    fn list(&mut self, request: &ListRequest) -> Outcome<Page> {
        self.repeat(true, |c| c.list(request))
    }

    fn begin_parts(&mut self, key: &str) -> Outcome<Upload> {
        self.repeat(false, |c| c.begin_parts(key))
    }

    fn put_part(&mut self, upload: &Upload, number: u32, body: &Body) -> Outcome<Part> {
        self.repeat(true, |c| c.put_part(upload, number, body))
    }

    fn finish_parts(&mut self, upload: &Upload, parts: &[Part]) -> Outcome<Stored> {
        self.repeat(false, |c| c.finish_parts(upload, parts))
    }

    fn abandon_parts(&mut self, upload: &Upload) -> Outcome<()> {
        self.repeat(true, |c| c.abandon_parts(upload))
    }

    fn list_uploads(&mut self, prefix: &str) -> Outcome<Vec<Upload>> {
        self.repeat(true, |c| c.list_uploads(prefix))
    }

    fn create_container(&mut self) -> Outcome<()> {
        self.repeat(true, C::create_container)
    }

    fn delete_container(&mut self) -> Outcome<()> {
        self.repeat(false, C::delete_container)
    }
}
