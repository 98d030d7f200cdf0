//! From an object job to phases that make sense; what runs them holds no checks.

use std::collections::BTreeMap;

use wavetank_object::{Protocol, Settings};

use super::job::{ObjectAction, ObjectJob, ObjectPhase, ObjectSet, Place, Request};
use crate::content::mix;
use crate::job::{Order, SCHEMA_VERSION};
use crate::plan::{JobError, MAX_THREADS};

/// Largest object moved in one request, and largest in memory with all its parts.
pub const MAX_OBJECT_BYTES: u64 = 1 << 30;
/// S3's own limit on parts; Swift's is lower (`/info`: max_manifest_segments) and its own to say.
const MAX_PARTS: u64 = 10_000;
/// S3's smallest part but the last.
const MIN_S3_PART_BYTES: u64 = 5 << 20;

/// A checked job.
#[derive(Debug, Clone)]
pub struct ObjectPlan {
    /// The store.
    pub settings: Settings,
    /// Where in it.
    pub place: Place,
    /// What to do, in order.
    pub phases: Vec<ObjectPhasePlan>,
}

/// A checked phase.
#[derive(Debug, Clone)]
pub struct ObjectPhasePlan {
    /// As written.
    pub phase: ObjectPhase,
    /// The one request, or none for a mix.
    pub request: Option<Request>,
    /// Weights of the mix.
    pub mix: BTreeMap<Request, u64>,
    /// The set.
    pub set: ObjectSet,
    /// Items in all.
    pub items: u64,
    /// Seed of content.
    pub content_seed: u64,
    /// Seed of order and mix, different for each phase.
    pub order_seed: u64,
}

impl ObjectPlan {
    /// Checks `job`.
    pub fn new(job: &ObjectJob) -> Result<Self, JobError> {
        require(job.schema == SCHEMA_VERSION, || {
            format!("job schema {} is not the one this engine reads, {SCHEMA_VERSION}", job.schema)
        })?;
        let (settings, place) =
            job.store().map_err(|error| JobError(format!("the job's object: {error}")))?;
        let prefix = &place.prefix;
        require(prefix.len() > 1 && prefix.ends_with('/') && !prefix.starts_with('/'), || {
            "object.prefix must name a place of its own, such as \"run-1/\"".into()
        })?;
        require(job.set.objects > 0, || "set.objects must be at least 1".into())?;
        require(job.set.object_size_bytes <= MAX_OBJECT_BYTES, || {
            format!("set.object_size_bytes must be at most {MAX_OBJECT_BYTES}")
        })?;
        require(!job.phases.is_empty(), || "the job has no phases".into())?;
        let phases = job.phases.iter().zip(0..).map(|(phase, index)| {
            resolve(job, settings.protocol, phase, index)
                .map_err(|JobError(why)| JobError(format!("phase {:?}: {why}", phase.name)))
        });
        Ok(Self { phases: phases.collect::<Result<_, _>>()?, settings, place })
    }
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), JobError> {
    if holds {
        Ok(())
    } else {
        Err(JobError(otherwise()))
    }
}

fn resolve(
    job: &ObjectJob,
    protocol: Protocol,
    phase: &ObjectPhase,
    index: u64,
) -> Result<ObjectPhasePlan, JobError> {
    let request = match phase.action {
        ObjectAction::Put => Some(Request::Put),
        ObjectAction::Get => Some(Request::Get),
        ObjectAction::Head => Some(Request::Head),
        ObjectAction::Delete => Some(Request::Delete),
        ObjectAction::List => Some(Request::List),
        ObjectAction::Mix => None,
    };
    check(phase, request)?;
    check_local(phase, request)?;
    check_parts(protocol, phase, request, job.set.object_size_bytes)?;
    let all = if phase.repeat { u64::MAX } else { job.set.objects };
    Ok(ObjectPhasePlan {
        phase: phase.clone(),
        request,
        mix: phase.mix.clone(),
        set: job.set,
        items: all.min(phase.max_items.unwrap_or(u64::MAX)),
        content_seed: job.seed,
        order_seed: mix(job.seed ^ mix(index)),
    })
}

fn check(phase: &ObjectPhase, request: Option<Request>) -> Result<(), JobError> {
    let say = |text: &'static str| move || text.to_owned();
    let connections = phase.threads.saturating_mul(phase.part_threads);
    require(phase.threads > 0 && phase.part_threads > 0 && connections <= MAX_THREADS, || {
        format!("threads x part_threads must be 1 to {MAX_THREADS}, not {connections}")
    })?;
    require(phase.duration_ns != Some(0), say("duration_ns must be above 0 or null"))?;
    require(phase.max_items != Some(0), say("max_items must be above 0 or null"))?;
    require(
        !phase.repeat || phase.duration_ns.is_some() || phase.max_items.is_some(),
        say("repeat needs duration_ns or max_items, or it would never end"),
    )?;
    if let Some(rate) = phase.rate_per_s {
        require(
            rate.is_finite() && rate > 0.0,
            say("rate_per_s must be a number above 0 or null"),
        )?;
    }
    let weight: u64 = phase.mix.values().fold(0, |sum, weight| sum.saturating_add(*weight));
    require(
        request.is_some() == phase.mix.is_empty(),
        say("mix goes with action mix, and only it"),
    )?;
    require(
        request.is_some() || (1..=1_000_000).contains(&weight),
        say("the weights of mix must add up to 1 to 1000000"),
    )?;
    let reads = request == Some(Request::Get) || phase.mix.contains_key(&Request::Get);
    require(!phase.verify || reads, say("verify goes with get only"))?;
    let lists = request == Some(Request::List) || phase.mix.contains_key(&Request::List);
    require(phase.page_limit.is_none() || lists, say("page_limit goes with list only"))?;
    require(phase.page_limit != Some(0), say("page_limit must be above 0 or null"))
}

fn check_local(phase: &ObjectPhase, request: Option<Request>) -> Result<(), JobError> {
    let Some(local) = &phase.local else { return Ok(()) };
    let moves = matches!(request, Some(Request::Put | Request::Get));
    require(moves, || "local goes with put and get only".into())?;
    require(local.files > 0, || "local.files must be at least 1".into())?;
    require(local.is_there(), || {
        format!("local.directory {} is no directory", local.directory.display())
    })
}

fn check_parts(
    protocol: Protocol,
    phase: &ObjectPhase,
    request: Option<Request>,
    size_bytes: u64,
) -> Result<(), JobError> {
    let say = |text: &'static str| move || text.to_owned();
    let Some(part_bytes) = phase.part_bytes else {
        return require(phase.part_threads == 1, say("part_threads goes with part_bytes only"));
    };
    let fits = matches!(request, Some(Request::Put | Request::Get | Request::Delete));
    require(fits, say("part_bytes goes with put, get and delete only"))?;
    require(size_bytes > 0, say("part_bytes needs objects that are not empty"))?;
    let parts = if part_bytes == 0 { u64::MAX } else { size_bytes.div_ceil(part_bytes) };
    require(parts <= MAX_PARTS, || {
        format!("part_bytes {part_bytes} makes more than {MAX_PARTS} parts of one object")
    })?;
    let put_s3 = request == Some(Request::Put) && protocol == Protocol::S3;
    require(!put_s3 || parts == 1 || part_bytes >= MIN_S3_PART_BYTES, || {
        format!("S3 takes parts of at least {MIN_S3_PART_BYTES} bytes, not {part_bytes}")
    })
}

impl ObjectPhasePlan {
    /// Length of the unit at `offset`, where an object is moved in parts.
    pub fn parts(&self) -> Vec<(u64, u64)> {
        let size = self.set.object_size_bytes;
        let part_bytes = self.phase.part_bytes.unwrap_or(size.max(1));
        (0..size.div_ceil(part_bytes))
            .map(|part| (part * part_bytes, part_bytes.min(size - part * part_bytes)))
            .collect()
    }

    /// What item `item` asks.
    pub fn request_of(&self, item: u64) -> Request {
        if let Some(request) = self.request {
            return request;
        }
        let total: u64 = self.mix.values().sum();
        let mut drawn = mix(self.order_seed ^ mix(item)) % total.max(1);
        for (&request, &weight) in &self.mix {
            if drawn < weight {
                return request;
            }
            drawn -= weight;
        }
        Request::Get
    }

    /// True where objects are taken by a seeded permutation.
    pub fn is_random(&self) -> bool {
        self.phase.order == Order::Random
    }
}
