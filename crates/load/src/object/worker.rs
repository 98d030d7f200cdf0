//! One worker with its connections: takes items until none is left or time is up.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use bytes::BytesMut;
use wavetank_object::{
    Answer, ByteRange, Error, ListRequest, ObjectClient, Outcome, Part, Retrying, Upload,
};

use super::job::{Request, REQUESTS};
use super::plan::ObjectPhasePlan;
use super::transfer::{Receiving, Sending};
use crate::clock::Clock;
use crate::content::Content;
use crate::failure::Failure;
use crate::pace::Pace;
use crate::permutation::Permutation;
use crate::tally::{FinishedItem, Operation, Tally};

/// A client as the engine uses it.
pub type Client = Retrying<Box<dyn ObjectClient>>;

/// What all workers of a phase share.
pub struct Shared<'a, C: Clock> {
    pub plan: &'a ObjectPhasePlan,
    pub prefix: &'a str,
    pub clock: &'a C,
    pub content: Content,
    pub permutation: Option<Permutation>,
    pub pace: Option<Pace>,
    pub next_item: AtomicU64,
}

/// One HTTP request's timing, or how it failed.
#[derive(Clone, Copy)]
struct Seen {
    connect_ns: Option<u64>,
    first_byte_ns: u64,
    last_byte_ns: u64,
    outcome: Result<u64, Failure>,
    is_part: bool,
    retries: u64,
}

/// What an item took of the client's own storage, or how that failed.
#[derive(Clone, Copy)]
struct LocalSeen {
    latency_ns: u64,
    outcome: Result<u64, Failure>,
}

/// Counts of the requests that items are made of.
#[derive(Debug, Default)]
pub struct Requests {
    pub by_request: [Operation; REQUESTS.len()],
    pub parts: Operation,
    pub connect: Operation,
    pub first_byte: Operation,
    pub last_byte: Operation,
    pub local: Operation,
    pub retries: u64,
}

impl Requests {
    fn add(
        &mut self,
        request: Request,
        item: &FinishedItem,
        seen: &[Seen],
        local: Option<LocalSeen>,
    ) {
        if let Some(LocalSeen { latency_ns, outcome }) = local {
            self.local.add(latency_ns, outcome);
        }
        self.by_request[request as usize].add(item.latency_ns, item.outcome);
        for one in seen {
            self.retries += one.retries;
            if one.is_part {
                self.parts.add(one.last_byte_ns, one.outcome);
            }
            let Ok(bytes) = one.outcome else { continue };
            if let Some(connect_ns) = one.connect_ns {
                self.connect.add(connect_ns, Ok(0));
            }
            self.first_byte.add(one.first_byte_ns, Ok(0));
            self.last_byte.add(one.last_byte_ns, Ok(bytes));
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.local.merge(&other.local);
        self.by_request.iter_mut().zip(&other.by_request).for_each(|(a, b)| a.merge(b));
        self.parts.merge(&other.parts);
        self.connect.merge(&other.connect);
        self.first_byte.merge(&other.first_byte);
        self.last_byte.merge(&other.last_byte);
        self.retries += other.retries;
    }
}

/// What a worker counted.
#[derive(Default)]
pub struct Counted {
    pub tally: Tally,
    pub requests: Requests,
    /// Requests of items that the duration cut off.
    pub cut_off: Requests,
    /// Objects that a mix wrote and did not remove.
    pub left: Vec<u64>,
    /// A sentence for the first thing that failed.
    pub first_error: Option<String>,
}

impl Counted {
    /// Adds all of `other`.
    pub fn merge(&mut self, other: Self) {
        self.tally.merge(other.tally);
        self.requests.merge(&other.requests);
        self.cut_off.merge(&other.cut_off);
        self.left.extend(other.left);
        self.first_error = self.first_error.take().or(other.first_error);
    }
}

/// One worker.
pub struct Worker<'a, C: Clock> {
    shared: &'a Shared<'a, C>,
    clients: &'a mut [Client],
    /// For what the client's own storage holds.
    buffer: BytesMut,
    read: Vec<Receiving>,
    seen: Vec<Seen>,
    local_seen: Option<LocalSeen>,
    counted: Counted,
}

impl<'a, C: Clock> Worker<'a, C> {
    /// A worker with its connections. What it keeps of objects is faulted in here, before the clock
    /// starts.
    pub fn new(shared: &'a Shared<'a, C>, clients: &'a mut [Client]) -> Self {
        let phase = &shared.plan.phase;
        let keeps = |request| phase.local.is_some() && shared.plan.request == Some(request);
        let size = shared.plan.set.object_size_bytes as usize;
        let buffer = BytesMut::zeroed(if keeps(Request::Put) { size } else { 0 });
        let content = phase.verify.then_some(shared.content);
        let receiving = |(offset, len): (u64, u64)| {
            let mut kept = keeps(Request::Get).then(|| vec![1; len as usize]);
            kept.iter_mut().for_each(Vec::clear);
            Receiving { content, offset, kept, ..Receiving::default() }
        };
        let mut read: Vec<Receiving> = shared.plan.parts().into_iter().map(receiving).collect();
        read.resize_with(read.len().max(1), || receiving((0, 0)));
        let (seen, local_seen, counted) = (Vec::new(), None, Counted::default());
        Self { shared, clients, buffer, read, seen, local_seen, counted }
    }

    /// Works until the phase is over.
    pub fn work(mut self, start_ns: u64) -> Counted {
        let shared = self.shared;
        let deadline_ns =
            shared.plan.phase.duration_ns.map_or(u64::MAX, |d| start_ns.saturating_add(d));
        let mut now_ns = shared.clock.now_ns();
        loop {
            let item = shared.next_item.fetch_add(1, Ordering::Relaxed);
            if item >= shared.plan.items {
                self.counted.tally.idle_at_ns = Some(now_ns - start_ns);
                return self.counted;
            }
            let due_ns =
                shared.pace.map_or(now_ns, |pace| start_ns.saturating_add(pace.due_ns(item)));
            if due_ns.max(now_ns) >= deadline_ns {
                self.counted.tally.stopped_by_duration = true;
                return self.counted;
            }
            if due_ns > now_ns {
                shared.clock.sleep_until_ns(due_ns);
            }
            self.seen.clear();
            self.local_seen = None;
            let (request, outcome) = self.perform(item);
            now_ns = shared.clock.now_ns();
            let item =
                FinishedItem { ended_ns: now_ns - start_ns, latency_ns: now_ns - due_ns, outcome };
            if now_ns > deadline_ns {
                self.counted.cut_off.add(request, &item, &self.seen, self.local_seen);
                self.counted.tally.stopped_by_duration = true;
                self.counted.tally.cut_off.push((item, Vec::new()));
                return self.counted;
            }
            self.counted.tally.add(item, &[]);
            self.counted.requests.add(request, &item, &self.seen, self.local_seen);
        }
    }

    fn perform(&mut self, item: u64) -> (Request, Result<u64, Failure>) {
        let plan = self.shared.plan;
        let index = item % plan.set.objects;
        let index = self.shared.permutation.map_or(index, |order| order.apply(index));
        let mixed = plan.request.is_none();
        let request = match plan.request_of(item) {
            Request::Delete if mixed && self.counted.left.is_empty() => Request::Put,
            request => request,
        };
        let outcome = match request {
            Request::Put if mixed => {
                self.counted.left.push(item);
                self.put(item, &mixed_key(self.shared.prefix, item))
            }
            Request::Put => self.put(index, &key(self.shared.prefix, index)),
            Request::Get => {
                let got = self.get(index, &key(self.shared.prefix, index));
                got.and_then(|bytes| self.keep(item).map(|()| bytes))
            }
            Request::Head => {
                let answer = self.clients[0].head(&key(self.shared.prefix, index));
                self.note(&answer, 0, false).and_then(|()| self.size_is_right(answer))
            }
            Request::Delete if mixed => {
                let mine = self.counted.left.pop().expect("a delete of nothing became a put");
                let answer = self.clients[0].delete(&mixed_key(self.shared.prefix, mine));
                self.note(&answer, 0, false).map(|()| 0)
            }
            Request::Delete => {
                let key = key(self.shared.prefix, index);
                let answer = match plan.phase.part_bytes {
                    Some(_) => self.clients[0].delete_with_parts(&key),
                    None => self.clients[0].delete(&key),
                };
                self.note(&answer, 0, false).map(|()| 0)
            }
            Request::List => {
                let limit = plan.phase.page_limit;
                let request = ListRequest { limit, ..ListRequest::all(self.shared.prefix) };
                let answer = self.clients[0].list(&request);
                self.note(&answer, 0, false).map(|()| 0)
            }
        };
        (request, outcome)
    }

    fn size_is_right(&self, answer: Outcome<wavetank_object::Found>) -> Result<u64, Failure> {
        let size = answer.ok().and_then(|answer| answer.value.size_bytes);
        match size {
            Some(size) if size != self.shared.plan.set.object_size_bytes => Err(Failure::ShortRead),
            _ => Ok(0),
        }
    }

    fn put(&mut self, index: u64, key: &str) -> Result<u64, Failure> {
        let size = self.shared.plan.set.object_size_bytes;
        let object = self.compose(index, size)?;
        let outcome = if self.shared.plan.phase.part_bytes.is_some() {
            self.put_parts(key, &object)
        } else {
            let answer = self.clients[0].put(key, &object.body(0, size));
            self.note(&answer, size, false)
        };
        if let Sending::Read(bytes) = object {
            // The memory comes back where the connection has let it go.
            self.buffer = bytes.try_into_mut().unwrap_or_default();
        }
        outcome.map(|()| size)
    }

    /// Object `index`: the client's file of it, or made as it is sent.
    fn compose(&mut self, index: u64, size: u64) -> Result<Sending, Failure> {
        let Some(local) = &self.shared.plan.phase.local else {
            return Ok(Sending::Made { content: self.shared.content, index });
        };
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.resize(size as usize, 0);
        let begun_ns = self.shared.clock.now_ns();
        let read = local.read(index, &mut buffer);
        self.note_local(begun_ns, read.map(|()| size))?;
        Ok(Sending::Read(buffer.freeze()))
    }

    /// Writes what was got to the client's own storage, where it has any.
    fn keep(&mut self, item: u64) -> Result<(), Failure> {
        let Some(local) = &self.shared.plan.phase.local else { return Ok(()) };
        let begun_ns = self.shared.clock.now_ns();
        let written = local.write(item, self.read.iter().filter_map(|read| read.kept.as_deref()));
        let bytes = self.read.iter().map(|read| read.length).sum();
        self.note_local(begun_ns, written.map(|()| bytes))
    }

    fn note_local(&mut self, begun_ns: u64, outcome: Result<u64, Failure>) -> Result<(), Failure> {
        let latency_ns = self.shared.clock.now_ns() - begun_ns;
        self.local_seen = Some(LocalSeen { latency_ns, outcome });
        if let Err(failure) = outcome {
            let sentence = || format!("the client's own file failed with {}", failure.name());
            self.counted.first_error.get_or_insert_with(sentence);
        }
        outcome.map(|_| ())
    }

    fn put_parts(&mut self, key: &str, object: &Sending) -> Result<(), Failure> {
        let begun = self.clients[0].begin_parts(key);
        self.note(&begun, 0, false)?;
        let Ok(Answer { value: upload, .. }) = begun else { return Ok(()) };
        let written = self.put_all(&upload, object);
        let finished = written.and_then(|parts| {
            let answer = self.clients[0].finish_parts(&upload, &parts);
            self.note(&answer, 0, false)
        });
        if finished.is_err() {
            let _ = self.clients[0].abandon_parts(&upload);
        }
        finished
    }

    fn put_all(&mut self, upload: &Upload, object: &Sending) -> Result<Vec<Part>, Failure> {
        let parts = self.shared.plan.parts();
        let put = |client: &mut Client, number: usize, _: &mut Receiving| {
            let (offset, len) = parts[number];
            client.put_part(upload, number as u32 + 1, &object.body(offset, len))
        };
        let answers = self.in_parallel(parts.len(), put);
        let mut written = Vec::with_capacity(parts.len());
        let mut failed = None;
        for (answer, (_, len)) in answers.into_iter().zip(&parts) {
            failed = failed.or(self.note(&answer, *len, true).err());
            written.extend(answer.ok().map(|answer| answer.value));
        }
        failed.map_or(Ok(written), Err)
    }

    fn get(&mut self, index: u64, key: &str) -> Result<u64, Failure> {
        let parts = self.shared.plan.parts();
        self.read.iter_mut().for_each(|receiving| receiving.index = index);
        if self.shared.plan.phase.part_bytes.is_none() {
            let answer = self.clients[0].get(key, None, &mut self.read[0]);
            let len = self.read[0].length;
            self.note(&answer, len, false)?;
            let whole = [(0, self.shared.plan.set.object_size_bytes)];
            return self.check_content(&whole);
        }
        let get = |client: &mut Client, number: usize, into: &mut Receiving| {
            let (start, length) = parts[number];
            client.get(key, Some(ByteRange { start, length }), into)
        };
        let answers = self.in_parallel(parts.len(), get);
        let mut failed = None;
        for (answer, (_, len)) in answers.iter().zip(&parts) {
            failed = failed.or(self.note(answer, *len, true).err());
        }
        failed.map_or_else(|| self.check_content(&parts), Err)
    }

    /// Whether what came is right (always its length, its bytes where that was asked).
    fn check_content(&mut self, parts: &[(u64, u64)]) -> Result<u64, Failure> {
        let mut bytes = 0;
        for (read, (_, len)) in self.read.iter().zip(parts) {
            if read.length != *len {
                return Err(Failure::ShortRead);
            }
            if self.shared.plan.phase.verify {
                self.counted.tally.checked_bytes += len;
                if read.differs {
                    return Err(Failure::Mismatch);
                }
            }
            bytes += len;
        }
        Ok(bytes)
    }

    /// Does `count` requests, as many at once as there are connections; answers in their order.
    fn in_parallel<T: Send>(
        &mut self,
        count: usize,
        request: impl Fn(&mut Client, usize, &mut Receiving) -> Outcome<T> + Sync,
    ) -> Vec<Outcome<T>> {
        let lanes = self.clients.len().min(count).max(1);
        let mut work: Vec<Vec<(usize, &mut Receiving)>> = (0..lanes).map(|_| Vec::new()).collect();
        for (number, read) in self.read.iter_mut().enumerate().take(count) {
            work[number % lanes].push((number, read));
        }
        let request = &request;
        let lane = |client: &mut Client, work: Vec<(usize, &mut Receiving)>| {
            let one = |(number, read)| (number, request(client, number, read));
            work.into_iter().map(one).collect::<Vec<_>>()
        };
        let mut answers: Vec<(usize, Outcome<T>)> = thread::scope(|scope| {
            let mut lanes = self.clients.iter_mut().zip(work);
            let mine = lanes.next();
            let others: Vec<_> =
                lanes.map(|(client, work)| scope.spawn(move || lane(client, work))).collect();
            let mut answers = mine.map(|(client, work)| lane(client, work)).unwrap_or_default();
            for other in others {
                answers.extend(other.join().unwrap_or_else(|p| std::panic::resume_unwind(p)));
            }
            answers
        });
        answers.sort_by_key(|(number, _)| *number);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }

    /// Keeps the timing of a request, and says how it failed.
    fn note<T>(&mut self, answer: &Outcome<T>, bytes: u64, is_part: bool) -> Result<(), Failure> {
        let (timing, retries, outcome) = match answer {
            Ok(answer) => (answer.timing, answer.retries, Ok(bytes)),
            Err(error) => {
                self.counted.first_error.get_or_insert_with(|| error.to_string());
                (error.timing, error.retries, Err(failure(error)))
            }
        };
        self.seen.push(Seen {
            connect_ns: timing.connect_ns,
            first_byte_ns: timing.first_byte_ns,
            last_byte_ns: timing.last_byte_ns,
            outcome,
            is_part,
            retries: retries.into(),
        });
        outcome.map(|_| ())
    }
}

fn failure(error: &Error) -> Failure {
    Failure::Object(error.kind.name())
}

/// Key of object `index`.
pub fn key(prefix: &str, index: u64) -> String {
    format!("{prefix}{index:08}")
}

/// Key of the object that item `item` of a mix writes.
pub fn mixed_key(prefix: &str, item: u64) -> String {
    format!("{prefix}m{item:08}")
}
