//! One phase on objects from start to record, by the rules of [`crate::run`].

use std::sync::atomic::AtomicU64;
use std::thread;

use wavetank_object::{ListRequest, ObjectClient, Store};

use super::job::REQUESTS;
use super::leftovers::{self, Leftovers};
use super::plan::{ObjectPhasePlan, ObjectPlan};
use super::worker::{mixed_key, Client, Counted, Shared, Worker};
use crate::clock::{forbid_timer_slack, Clock};
use crate::content::Content;
use crate::failure::SetupError;
use crate::gate::Gate;
use crate::job::SCHEMA_VERSION;
use crate::pace::Pace;
use crate::permutation::Permutation;
use crate::plan::JobError;
use crate::record::{OperationRecord, PhaseRecord, SeriesRecord, Verification};
use crate::run::End;
use crate::usage::CpuTime;

/// Removing what was left is nothing that is measured.
const CLEAR_CONNECTIONS: u64 = 8;
/// Phases run on this stack; hyper and TLS need more than files do.
const STACK_BYTES: usize = 1 << 20;

/// A store, and the connections that are open to it.
pub struct ObjectEngine {
    store: Store,
    prefix: String,
    clients: Vec<Client>,
}

impl ObjectEngine {
    /// Reads the credentials. Nothing is sent yet.
    pub fn new(plan: &ObjectPlan) -> Result<Self, JobError> {
        let store =
            wavetank_object::connect(&plan.settings).map_err(|e| JobError(e.to_string()))?;
        Ok(Self { store, prefix: plan.place.prefix.clone(), clients: Vec::new() })
    }

    /// Makes the container if that was asked, and finds out whether everything is right.
    pub fn prepare(&mut self, plan: &ObjectPlan) -> Result<(), SetupError> {
        let failed = |error: wavetank_object::Error| SetupError(error.to_string());
        let mut client = self.store.client(0).map_err(failed)?;
        if plan.place.create_container {
            client.create_container().map_err(failed)?;
        }
        if plan.place.clear {
            self.clear()?;
        }
        let limit = Some(1);
        let request = ListRequest { limit, ..ListRequest::all(self.prefix.clone()) };
        let page = client.list(&request).map_err(failed)?.value;
        match page.objects.first() {
            Some(object) if plan.place.fresh => Err(SetupError(format!(
                "there are objects under {:?} already, such as {:?}. Try: another prefix",
                self.prefix, object.key
            ))),
            None if plan.place.fresh => self.require_no_uploads(&mut client),
            _ => Ok(()),
        }
    }

    fn require_no_uploads(&self, client: &mut Client) -> Result<(), SetupError> {
        leftovers::uploads(client, &self.prefix).first().map_or(Ok(()), |upload| {
            Err(SetupError(format!(
                "there are unfinished uploads under {:?}, such as of {:?}",
                self.prefix, upload.key
            )))
        })
    }

    /// Removes what killed runs left, and says what that was.
    fn clear(&mut self) -> Result<(), SetupError> {
        let failed = |error: wavetank_object::Error| SetupError(error.to_string());
        let clients = (0..CLEAR_CONNECTIONS).map(|seed| self.store.client(seed));
        let mut clients = clients.collect::<Result<Vec<Client>, _>>().map_err(failed)?;
        let Leftovers { objects, uploads } =
            leftovers::clear(&mut clients, &self.prefix).map_err(failed)?;
        let (objects, uploads) = (objects.len(), uploads.len());
        eprintln!("wavetank-load: objects removed: {objects}, unfinished uploads: {uploads}");
        Ok(())
    }

    /// Runs `plan` by `clock`.
    pub fn run_phase<C: Clock>(
        &mut self,
        plan: &ObjectPhasePlan,
        clock: &C,
    ) -> Result<PhaseRecord, SetupError> {
        let threads = plan.phase.threads as usize;
        let lanes = plan.phase.part_threads as usize;
        if plan.phase.new_connections {
            self.clients.clear();
        }
        while self.clients.len() < threads * lanes {
            let seed = plan.content_seed ^ self.clients.len() as u64;
            self.clients.push(self.store.client(seed).map_err(|e| SetupError(e.to_string()))?);
        }
        let shared = Shared {
            plan,
            prefix: &self.prefix,
            clock,
            content: Content::new(plan.content_seed),
            permutation: plan
                .is_random()
                .then(|| Permutation::new(plan.set.objects, plan.order_seed)),
            pace: plan.phase.rate_per_s.map(Pace::new),
            next_item: AtomicU64::new(0),
        };
        let clients = &mut self.clients[..threads * lanes];
        let (mut counted, cpu_before) = work(&shared, clients.chunks_mut(lanes).collect())?;
        let end = End::of(plan.phase.duration_ns, &mut counted.tally);
        let cpu = CpuTime::now().since(cpu_before);
        if end.cut_off == 0 {
            // Either nothing was cut off, or it counts after all.
            counted.requests.merge(&counted.cut_off);
        }
        self.remove_left(&counted.left)?;
        if let Some(sentence) = &counted.first_error {
            eprintln!("wavetank-load: phase {:?}, first failure: {sentence}", plan.phase.name);
        }
        Ok(record(plan, counted, &end, cpu))
    }

    /// Removes what a mix wrote.
    fn remove_left(&mut self, left: &[u64]) -> Result<(), SetupError> {
        for &item in left {
            let key = mixed_key(&self.prefix, item);
            self.clients[0].delete(&key).map_err(|e| SetupError(e.to_string()))?;
        }
        Ok(())
    }
}

/// Starts one worker for each group of connections, together; and the CPU time until then.
fn work<C: Clock>(
    shared: &Shared<'_, C>,
    groups: Vec<&mut [Client]>,
) -> Result<(Counted, CpuTime), SetupError> {
    let gate = Gate::default();
    let workers = groups.len();
    thread::scope(|scope| {
        let mut handles = Vec::with_capacity(workers);
        for clients in groups {
            let gate = &gate;
            let spawned =
                thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || {
                    if shared.pace.is_some() {
                        forbid_timer_slack();
                    }
                    let worker = Worker::new(shared, clients);
                    gate.wait().map(|start_ns| worker.work(start_ns))
                });
            match spawned {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    gate.cancel();
                    return Err(SetupError(format!("cannot start {workers} threads: {error}")));
                }
            }
        }
        gate.until_ready(workers);
        let cpu_before = CpuTime::now();
        gate.open(shared.clock.now_ns());
        let mut whole = Counted::default();
        for handle in handles {
            let counted = handle.join().unwrap_or_else(|p| std::panic::resume_unwind(p));
            counted.into_iter().for_each(|counted| whole.merge(counted));
        }
        Ok((whole, cpu_before))
    })
}

fn record(plan: &ObjectPhasePlan, counted: Counted, end: &End, cpu: CpuTime) -> PhaseRecord {
    let operations = operations(plan, &counted);
    let Counted { tally, requests, .. } = counted;
    let (bin_ns, series_operations, series_bytes) = tally.series.finish(end.elapsed_ns);
    PhaseRecord {
        schema: SCHEMA_VERSION,
        phase: plan.phase.name.clone(),
        backend: "object",
        threads: plan.phase.threads as usize,
        elapsed_ns: end.elapsed_ns,
        busy_until_ns: end.busy_until_ns,
        ended_by: end.ended_by,
        cut_off: end.cut_off,
        cut_off_bytes: end.cut_off_bytes,
        rate_per_s: plan.phase.rate_per_s,
        operations,
        series: SeriesRecord { bin_ns, operations: series_operations, bytes: series_bytes },
        verification: plan.phase.verify.then_some(Verification {
            checked_bytes: tally.checked_bytes,
            mismatched_operations: tally.mismatched,
        }),
        user_cpu_ns: cpu.user_ns,
        system_cpu_ns: cpu.system_ns,
        retries: Some(requests.retries),
    }
}

fn operations(plan: &ObjectPhasePlan, counted: &Counted) -> Vec<OperationRecord> {
    let requests = &counted.requests;
    let name = plan.request.map_or("mix", |request| request.name());
    let mut records = vec![counted.tally.primary.record(name)];
    if plan.request.is_none() {
        for request in REQUESTS {
            let kind = &requests.by_request[request as usize];
            if plan.mix.contains_key(&request) || kind.count() > 0 {
                records.push(kind.record(request.name()));
            }
        }
    }
    if plan.phase.part_bytes.is_some() {
        records.push(requests.parts.record("part"));
    }
    if plan.phase.local.is_some() {
        records.push(requests.local.record("local"));
    }
    records.push(requests.connect.record("connect"));
    records.push(requests.first_byte.record("first_byte"));
    records.push(requests.last_byte.record("last_byte"));
    records
}
