//! One worker: takes items until none is left or time is up. This is the loop that is measured.
//!
//! The end of one item is the begin of the next, so an item costs one clock reading; with timing
//! `call`, one more per call. Generating content counts with the item and never with its calls;
//! so does comparing it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::backend::{Backend, Opening};
use crate::buffer::AlignedBuffer;
use crate::clock::Clock;
use crate::content::Content;
use crate::failure::Failure;
use crate::job::{Action, Item, Order, Timing};
use crate::pace::Pace;
use crate::permutation::Permutation;
use crate::plan::PhasePlan;
use crate::tally::{Call, FinishedItem, Tally, TimedCall};

/// What all workers of a phase share.
pub struct Shared<'a, B: Backend, C: Clock> {
    phase: &'a PhasePlan,
    backend: &'a B,
    clock: &'a C,
    opening: Opening,
    content: Content,
    permutation: Option<Permutation>,
    pace: Option<Pace>,
    /// Files opened before the clock started (item `access`), or why they could not be.
    files: &'a [Result<B::File, Failure>],
    next_item: AtomicU64,
}

impl<'a, B: Backend, C: Clock> Shared<'a, B, C> {
    /// The shared state at the start of `phase`.
    pub fn new(
        phase: &'a PhasePlan,
        backend: &'a B,
        clock: &'a C,
        files: &'a [Result<B::File, Failure>],
    ) -> Self {
        let random = phase.order == Order::Random;
        Self {
            phase,
            backend,
            clock,
            opening: Opening::from(phase),
            content: Content::new(phase.content_seed),
            permutation: random.then(|| Permutation::new(phase.items_in_set, phase.order_seed)),
            pace: phase.rate_per_s.map(Pace::new),
            files,
            next_item: AtomicU64::new(0),
        }
    }
}

/// One worker's own state.
pub struct Worker<'a, B: Backend, C: Clock> {
    shared: &'a Shared<'a, B, C>,
    buffer: Option<AlignedBuffer>,
    tally: Tally,
    calls: Vec<TimedCall>,
    time_calls: bool,
    /// The last clock reading.
    now_ns: u64,
}

impl<'a, B: Backend, C: Clock> Worker<'a, B, C> {
    /// A worker with `buffer`, which holds one unit.
    pub fn new(shared: &'a Shared<'a, B, C>, buffer: AlignedBuffer) -> Self {
        let phase = shared.phase;
        let time_calls = phase.timing == Timing::Call && phase.action != Action::Delete;
        let units = match phase.item {
            Item::File => phase.set.units_per_file(phase.unit_bytes),
            Item::Access => 1,
        };
        let calls_per_item = if time_calls { units as usize + 3 } else { 0 };
        Self {
            shared,
            buffer: Some(buffer),
            tally: Tally::new(time_calls),
            calls: Vec::with_capacity(calls_per_item),
            time_calls,
            now_ns: 0,
        }
    }

    /// Works until the phase is over. `start_ns` is the phase's start on the clock.
    pub fn work(mut self, start_ns: u64) -> Tally {
        let deadline_ns = self.shared.phase.duration_ns.map_or(u64::MAX, |d| start_ns + d);
        self.now_ns = self.shared.clock.now_ns();
        loop {
            let index = self.shared.next_item.fetch_add(1, Ordering::Relaxed);
            if index >= self.shared.phase.items {
                self.tally.idle_at_ns = Some(self.now_ns - start_ns);
                return self.tally;
            }
            let Some(begin_ns) = self.begin(index, start_ns, deadline_ns) else {
                self.tally.stopped_by_duration = true;
                return self.tally;
            };
            let outcome = self.perform(index);
            if !self.time_calls || self.shared.phase.verify {
                self.now_ns = self.shared.clock.now_ns();
            }
            let item = FinishedItem {
                ended_ns: self.now_ns - start_ns,
                latency_ns: self.now_ns - begin_ns,
                outcome,
            };
            if self.now_ns > deadline_ns {
                self.tally.stopped_by_duration = true;
                self.tally.cut_off.push((item, std::mem::take(&mut self.calls)));
                return self.tally;
            }
            self.tally.add(item, &self.calls);
            self.calls.clear();
        }
    }

    /// When item `index` begins; none if that is not before the deadline.
    fn begin(&mut self, index: u64, start_ns: u64, deadline_ns: u64) -> Option<u64> {
        let Some(pace) = self.shared.pace else {
            return (self.now_ns < deadline_ns).then_some(self.now_ns);
        };
        let due_ns = start_ns.saturating_add(pace.due_ns(index));
        if due_ns.max(self.now_ns) >= deadline_ns {
            return None;
        }
        if due_ns > self.now_ns {
            self.shared.clock.sleep_until_ns(due_ns);
            self.now_ns = if self.time_calls { self.shared.clock.now_ns() } else { due_ns };
        }
        Some(due_ns)
    }

    fn perform(&mut self, index: u64) -> Result<u64, Failure> {
        let item = self.shared.permutation.map_or(index, |order| order.apply(index));
        let phase = self.shared.phase;
        match (phase.item, phase.action) {
            (_, Action::Delete) => self.shared.backend.delete(item).map(|()| 0),
            (Item::File, _) => self.whole_file(item),
            (Item::Access, _) => {
                let units = phase.set.units_per_file(phase.unit_bytes);
                let shared = self.shared;
                let file = shared.files[(item / units) as usize].as_ref().map_err(|&f| f)?;
                self.transfer(file, item / units, item % units * phase.unit_bytes)
            }
        }
    }

    fn whole_file(&mut self, index: u64) -> Result<u64, Failure> {
        let shared = self.shared;
        let file = self.timed(Call::Open, |b| b.open(index, shared.opening), |_| 0)?;
        let moved = self.units_of(&file, index);
        let synced = match moved {
            Ok(_) if shared.phase.fsync => self.timed(Call::Sync, |b| b.sync(&file), |()| 0),
            _ => Ok(()),
        };
        let closed = self.timed(Call::Close, |b| b.close(file), |()| 0);
        let bytes = moved?;
        synced.and(closed).map(|()| bytes)
    }

    fn units_of(&mut self, file: &B::File, index: u64) -> Result<u64, Failure> {
        let phase = self.shared.phase;
        let mut offset = 0;
        while offset < phase.set.file_size_bytes {
            offset += self.transfer(file, index, offset)?;
        }
        Ok(offset)
    }

    /// Moves the unit at `offset` and returns its length.
    fn transfer(&mut self, file: &B::File, index: u64, offset: u64) -> Result<u64, Failure> {
        let shared = self.shared;
        let len = shared.phase.set.unit_length(shared.phase.unit_bytes, offset);
        // The slice is taken out of `self` for the call's closure; the memory stays the worker's.
        let mut buffer = self.buffer.take().expect("the buffer is back after every transfer");
        let bytes = buffer.first(len);
        let result = if shared.phase.action == Action::Write {
            shared.content.fill(bytes, index, offset);
            self.restart_call_clock();
            self.timed(Call::Transfer, |b| b.write_at(file, bytes, offset), |()| len)
        } else {
            self.timed(Call::Transfer, |b| b.read_at(file, bytes, offset), |()| len)
                .and_then(|()| self.verify(bytes, index, offset))
        };
        self.buffer = Some(buffer);
        result.map(|()| len)
    }

    fn verify(&mut self, bytes: &[u8], index: u64, offset: u64) -> Result<(), Failure> {
        if !self.shared.phase.verify {
            return Ok(());
        }
        self.tally.checked_bytes += bytes.len() as u64;
        let matches = self.shared.content.matches(bytes, index, offset);
        self.restart_call_clock();
        if matches {
            Ok(())
        } else {
            Err(Failure::Mismatch)
        }
    }

    fn restart_call_clock(&mut self) {
        if self.time_calls {
            self.now_ns = self.shared.clock.now_ns();
        }
    }

    /// Does one call; with timing `call`, reads the clock after it and notes how it went.
    fn timed<T>(
        &mut self,
        call: Call,
        operation: impl FnOnce(&B) -> Result<T, Failure>,
        bytes: impl FnOnce(&T) -> u64,
    ) -> Result<T, Failure> {
        let result = operation(self.shared.backend);
        if self.time_calls {
            let end_ns = self.shared.clock.now_ns();
            let outcome = result.as_ref().map(bytes).map_err(|&failure| failure);
            self.calls.push(TimedCall { call, latency_ns: end_ns - self.now_ns, outcome });
            self.now_ns = end_ns;
        }
        result
    }
}
