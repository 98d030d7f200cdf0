//! N clients, each lent to one borrower at a time. Waiting for one has a deadline.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind};

/// The clients that are free.
pub struct Pool<C> {
    free: Mutex<Vec<C>>,
    returned: Condvar,
}

/// A client that goes back when dropped.
pub struct Taken<'a, C> {
    pool: &'a Pool<C>,
    client: Option<C>,
}

impl<C> Pool<C> {
    /// A pool of `clients`.
    pub fn new(clients: impl IntoIterator<Item = C>) -> Self {
        Self { free: Mutex::new(clients.into_iter().collect()), returned: Condvar::new() }
    }

    /// The client that was used last (its connection is the warmest), waiting for one if need be.
    pub fn take(&self, within: Duration) -> Result<Taken<'_, C>, Error> {
        let until = Instant::now() + within;
        let mut free = self.lock();
        loop {
            if let Some(client) = free.pop() {
                return Ok(Taken { pool: self, client: Some(client) });
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let why = format!("no connection became free within {within:?}");
                return Err(Error::new(ErrorKind::Deadline, why));
            }
            free = self.returned.wait_timeout(free, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<C>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C> Deref for Taken<'_, C> {
    type Target = C;

    fn deref(&self) -> &C {
        self.client.as_ref().expect("it goes back only when dropped")
    }
}

impl<C> DerefMut for Taken<'_, C> {
    fn deref_mut(&mut self) -> &mut C {
        self.client.as_mut().expect("it goes back only when dropped")
    }
}

impl<C> Drop for Taken<'_, C> {
    fn drop(&mut self) {
        self.pool.lock().extend(self.client.take());
        self.pool.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_comes_back_and_waiting_for_one_ends() {
        let pool = Pool::new([1]);
        let taken = pool.take(Duration::ZERO).unwrap();
        let refused = pool.take(Duration::from_millis(5)).err().unwrap();
        assert_eq!(refused.kind, ErrorKind::Deadline);
        drop(taken);
        assert_eq!(*pool.take(Duration::ZERO).unwrap(), 1);
    }
}
