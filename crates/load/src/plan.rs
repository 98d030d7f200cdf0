//! From a job as written to phases that make sense: every combination is checked here, once, so
//! that what runs them holds no checks.

use std::fmt;
use std::path::PathBuf;

use crate::fileset::FileSet;
use crate::job::{Access, Action, BackendName, Item, Job, Order, Phase, Timing, SCHEMA_VERSION};

/// `O_DIRECT` is taken in multiples of this: the largest common logical block size.
pub const DIRECT_ALIGNMENT_BYTES: u64 = 4096;
/// Most workers of one phase.
pub const MAX_THREADS: u64 = 1024;
/// Largest unit: each worker holds one in memory.
pub const MAX_UNIT_BYTES: u64 = 1 << 30;

/// A job that cannot be done, in one sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobError(pub String);

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for JobError {}

/// A checked job.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Where the operations go.
    pub backend: BackendName,
    /// Directory of the set.
    pub root: PathBuf,
    /// What to do, in order.
    pub phases: Vec<PhasePlan>,
}

/// A checked phase. Everything a worker needs to know.
#[derive(Debug, Clone, PartialEq)]
pub struct PhasePlan {
    /// Name in the record.
    pub name: String,
    /// What is done.
    pub action: Action,
    /// What an item is.
    pub item: Item,
    /// How files are opened.
    pub access: Access,
    /// Bytes per call, above 0 and at most the file size (1 for empty files).
    pub unit_bytes: u64,
    /// Order of items.
    pub order: Order,
    /// Workers.
    pub threads: usize,
    /// No item starts later.
    pub duration_ns: Option<u64>,
    /// Items in all: the set's, or fewer where `max_items` says so.
    pub items: u64,
    /// Items of the whole set; what a random order permutes.
    pub items_in_set: u64,
    /// Create or truncate.
    pub create: bool,
    /// fsync before close.
    pub fsync: bool,
    /// Open loop.
    pub rate_per_s: Option<f64>,
    /// Compare content.
    pub verify: bool,
    /// What is timed.
    pub timing: Timing,
    /// The files.
    pub set: FileSet,
    /// Seed of content.
    pub content_seed: u64,
    /// Seed of the order, different for each phase.
    pub order_seed: u64,
}

impl Plan {
    /// Checks `job` and fills in what follows from it.
    pub fn new(job: &Job) -> Result<Self, JobError> {
        if job.schema != SCHEMA_VERSION {
            return Err(JobError(format!(
                "job schema {} is not the one this engine reads, {SCHEMA_VERSION}",
                job.schema
            )));
        }
        if job.backend == BackendName::Posix && job.root.is_empty() {
            return Err(JobError("backend posix needs `root`, the directory of the set".into()));
        }
        require(job.set.files > 0, "set.files must be at least 1")?;
        require(job.set.files_per_directory > 0, "set.files_per_directory must be at least 1")?;
        require(!job.phases.is_empty(), "the job has no phases")?;
        let phases = job.phases.iter().enumerate().map(|(index, phase)| {
            resolve(job, index as u64, phase)
                .map_err(|JobError(why)| JobError(format!("phase {:?}: {why}", phase.name)))
        });
        Ok(Self {
            backend: job.backend,
            root: PathBuf::from(&job.root),
            phases: phases.collect::<Result<_, _>>()?,
        })
    }
}

fn require(holds: bool, otherwise: impl Into<String>) -> Result<(), JobError> {
    if holds {
        Ok(())
    } else {
        Err(JobError(otherwise.into()))
    }
}

fn resolve(job: &Job, index: u64, phase: &Phase) -> Result<PhasePlan, JobError> {
    let set = FileSet::from(job.set);
    let asked_unit = phase.unit_bytes.unwrap_or(set.file_size_bytes.max(1));
    let unit_bytes = asked_unit.min(set.file_size_bytes.max(1));
    check_phase(job, phase, &set, unit_bytes, asked_unit)?;
    let items_in_set = match phase.item {
        Item::File => set.files,
        Item::Access => set
            .files
            .checked_mul(set.units_per_file(unit_bytes))
            .ok_or_else(|| JobError("the set has more than 2^64 units".into()))?,
    };
    Ok(PhasePlan {
        name: phase.name.clone(),
        action: phase.action,
        item: phase.item,
        access: phase.access,
        unit_bytes,
        order: phase.order,
        threads: phase.threads as usize,
        duration_ns: phase.duration_ns,
        items: items_in_set.min(phase.max_items.unwrap_or(u64::MAX)),
        items_in_set,
        create: phase.create,
        fsync: phase.fsync,
        rate_per_s: phase.rate_per_s,
        verify: phase.verify,
        timing: phase.timing,
        set,
        content_seed: job.seed,
        order_seed: crate::content::mix(job.seed ^ crate::content::mix(index)),
    })
}

fn check_phase(
    job: &Job,
    phase: &Phase,
    set: &FileSet,
    unit_bytes: u64,
    asked_unit: u64,
) -> Result<(), JobError> {
    let writes = phase.action == Action::Write;
    require(asked_unit > 0, "unit_bytes must be at least 1")?;
    require(
        phase.action == Action::Delete || unit_bytes <= MAX_UNIT_BYTES,
        format!("a unit of {unit_bytes} bytes is more than {MAX_UNIT_BYTES}; set unit_bytes lower"),
    )?;
    require(
        (1..=MAX_THREADS).contains(&phase.threads),
        format!("threads must be 1 to {MAX_THREADS}, not {}", phase.threads),
    )?;
    require(phase.duration_ns != Some(0), "duration_ns must be above 0 or null")?;
    require(phase.max_items != Some(0), "max_items must be above 0 or null")?;
    require(writes || !phase.create, "create goes with action write only")?;
    require(writes || !phase.fsync, "fsync goes with action write only")?;
    if let Some(rate) = phase.rate_per_s {
        require(rate.is_finite() && rate > 0.0, "rate_per_s must be a number above 0 or null")?;
    }
    if phase.verify {
        require(phase.action == Action::Read, "verify goes with action read only")?;
        require(job.backend != BackendName::Null, "the null backend stores nothing to verify")?;
    }
    if phase.item == Item::Access {
        require(phase.action != Action::Delete, "item access goes with read and write only")?;
        require(set.file_size_bytes > 0, "item access needs files that are not empty")?;
    }
    if phase.access == Access::Direct && phase.action != Action::Delete {
        for (what, bytes) in [("file size", set.file_size_bytes), ("unit", unit_bytes)] {
            require(
                bytes % DIRECT_ALIGNMENT_BYTES == 0,
                format!(
                    "direct access needs a {what} that is a multiple of \
                     {DIRECT_ALIGNMENT_BYTES} bytes, not {bytes}"
                ),
            )?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: &str) -> String {
        let base = r#"{"schema":1,"backend":"posix","root":"/r","seed":1,
            "set":{"files":10,"file_size_bytes":10000},
            "phases":[{"name":"p","action":"write","unit_bytes":4096}]}"#;
        let mut job: serde_json::Value = serde_json::from_str(base).unwrap();
        let (path, value) = change.split_once('=').unwrap();
        *job.pointer_mut(path.rsplit_once('/').unwrap().0).unwrap() = {
            let (parent, key) = path.rsplit_once('/').unwrap();
            let mut parent = job.pointer(parent).unwrap().clone();
            parent[key] = serde_json::from_str(value).unwrap();
            parent
        };
        let job: Job = serde_json::from_value(job).unwrap();
        Plan::new(&job).expect_err(change).0
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_one_sentence() {
        for (change, why) in [
            ("/schema=2", "job schema 2"),
            ("/root=\"\"", "needs `root`"),
            ("/set/files=0", "set.files"),
            ("/set/files_per_directory=0", "files_per_directory"),
            ("/phases=[]", "no phases"),
            ("/phases/0/threads=0", "threads must be 1 to 1024, not 0"),
            ("/phases/0/threads=1025", "not 1025"),
            ("/phases/0/unit_bytes=0", "unit_bytes"),
            ("/phases/0/duration_ns=0", "duration_ns"),
            ("/phases/0/max_items=0", "max_items"),
            ("/phases/0/rate_per_s=0", "rate_per_s"),
            ("/phases/0/rate_per_s=-1", "rate_per_s"),
            ("/phases/0/verify=true", "verify goes with action read"),
            ("/phases/0/access=\"direct\"", "multiple of 4096 bytes, not 10000"),
        ] {
            let message = refused(change);
            assert!(message.contains(why), "{change}: {message}");
            assert!(!message.contains('\n'), "{change}: {message}");
        }
    }

    #[test]
    fn an_unknown_field_is_refused() {
        let error = serde_json::from_str::<Job>(
            r#"{"schema":1,"backend":"null","seed":1,"set":{"files":1,"file_size_bytes":1},
                "phases":[{"name":"p","action":"read","thread":4}]}"#,
        )
        .unwrap_err();
        assert!(error.to_string().contains("unknown field `thread`"));
    }

    #[test]
    fn a_unit_longer_than_the_file_is_the_file() {
        let job: Job = serde_json::from_str(
            r#"{"schema":1,"backend":"null","seed":1,"set":{"files":3,"file_size_bytes":1000},
                "phases":[{"name":"p","action":"read","item":"access","unit_bytes":4096}]}"#,
        )
        .unwrap();
        let phase = &Plan::new(&job).unwrap().phases[0];
        assert_eq!((phase.unit_bytes, phase.items), (1000, 3));
    }
}
