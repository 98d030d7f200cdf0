//! `wavetank-load JOB.json --output FILE`: does a job and appends one record per phase.
//!
//! Exit codes: 0 done (failed operations are counted, not fatal), 2 bad usage or bad job,
//! 3 the set-up failed. Errors are one sentence on standard error.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Deserialize;
use wavetank_load::backend::{Backend, Null, Posix};
use wavetank_load::ceiling;
use wavetank_load::clock::Monotonic;
use wavetank_load::failure::SetupError;
use wavetank_load::job::{BackendName, Job};
use wavetank_load::object::job::ObjectJob;
use wavetank_load::object::plan::ObjectPlan;
use wavetank_load::object::run::ObjectEngine;
use wavetank_load::output::Output;
use wavetank_load::plan::{JobError, Plan};
use wavetank_load::record::PhaseRecord;
use wavetank_load::run::run_phase;

const USAGE: &str = "usage: wavetank-load JOB.json --output FILE|-   do a job, append its records
       wavetank-load ceiling                    print the engine's own ceiling as JSON
       wavetank-load --version";

enum Command {
    Run { job: PathBuf, output: PathBuf },
    Ceiling,
    Version,
    Help,
}

enum Error {
    Usage(String),
    Job(String),
    Setup(String),
}

impl From<JobError> for Error {
    fn from(error: JobError) -> Self {
        Self::Job(error.0)
    }
}

impl From<SetupError> for Error {
    fn from(error: SetupError) -> Self {
        Self::Setup(error.0)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = parse(&arguments).and_then(|command| match command {
        Command::Run { job, output } => run(&job, &output),
        Command::Ceiling => {
            let ceiling = ceiling::measure(&Monotonic)?;
            println!("{}", serde_json::to_string(&ceiling).expect("a number is JSON"));
            Ok(())
        }
        Command::Version => {
            println!("wavetank-load {}", env!("CARGO_PKG_VERSION"));
            Ok(())
        }
        Command::Help => {
            println!("{USAGE}");
            Ok(())
        }
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Usage(message)) => fail(2, &format!("{message}\n{USAGE}")),
        Err(Error::Job(message)) => fail(2, &message),
        Err(Error::Setup(message)) => fail(3, &message),
    }
}

fn fail(code: u8, message: &str) -> ExitCode {
    eprintln!("wavetank-load: {message}");
    ExitCode::from(code)
}

fn parse(arguments: &[String]) -> Result<Command, Error> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--version"] => Ok(Command::Version),
        ["--help" | "-h"] => Ok(Command::Help),
        ["ceiling"] => Ok(Command::Ceiling),
        [job, "--output", output] | ["--output", output, job] => {
            Ok(Command::Run { job: job.into(), output: output.into() })
        }
        [] => Err(Error::Usage("no job given".into())),
        _ => Err(Error::Usage(format!("cannot make sense of: {}", words.join(" ")))),
    }
}

fn run(job: &Path, output: &Path) -> Result<(), Error> {
    let text = std::fs::read(job)
        .map_err(|error| Error::Job(format!("cannot read job {}: {error}", job.display())))?;
    let wrong = |error| Error::Job(format!("job {}: {error}", job.display()));
    let backend: Named = serde_json::from_slice(&text).map_err(wrong)?;
    if backend.backend == "object" {
        let job: ObjectJob = serde_json::from_slice(&text).map_err(wrong)?;
        return run_objects(&ObjectPlan::new(&job)?, output);
    }
    let job: Job = serde_json::from_slice(&text).map_err(wrong)?;
    let plan = Plan::new(&job)?;
    let mut output = Output::open(output)
        .map_err(|error| Error::Setup(format!("cannot open {}: {error}", output.display())))?;
    match plan.backend {
        BackendName::Null => run_phases(&plan, &Null, &mut output),
        BackendName::Posix => {
            let create = plan.phases.iter().any(|phase| phase.create);
            let set = plan.phases[0].set;
            run_phases(&plan, &Posix::new(&plan.root, set, create)?, &mut output)
        }
    }
}

/// What tells the two forms of job apart.
#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    backend: String,
}

fn run_objects(plan: &ObjectPlan, output: &Path) -> Result<(), Error> {
    let mut engine = ObjectEngine::new(plan)?;
    let mut output = Output::open(output)
        .map_err(|error| Error::Setup(format!("cannot open {}: {error}", output.display())))?;
    engine.prepare(plan)?;
    for phase in &plan.phases {
        append(&mut output, &engine.run_phase(phase, &Monotonic)?)?;
    }
    Ok(())
}

fn append(output: &mut Output, record: &PhaseRecord) -> Result<(), Error> {
    output.append(record).map_err(|error| Error::Setup(format!("cannot write a record: {error}")))
}

fn run_phases(plan: &Plan, backend: &impl Backend, output: &mut Output) -> Result<(), Error> {
    for phase in &plan.phases {
        append(output, &run_phase(phase, backend, &Monotonic)?)?;
    }
    Ok(())
}
