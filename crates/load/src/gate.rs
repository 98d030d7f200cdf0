//! The start of a phase: workers report that they are ready and wait; then all go, or none does.

use std::sync::{Condvar, Mutex};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Shut,
    Open { start_ns: u64 },
    Cancelled,
}

/// Holds workers until the phase starts.
pub struct Gate {
    state: Mutex<(usize, Position)>,
    arrived: Condvar,
    moved: Condvar,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            state: Mutex::new((0, Position::Shut)),
            arrived: Condvar::new(),
            moved: Condvar::new(),
        }
    }
}

impl Gate {
    /// Called by a worker: waits for the start and returns it, or none if there will be none.
    pub fn wait(&self) -> Option<u64> {
        let mut state = self.state.lock().expect("no holder panics");
        state.0 += 1;
        self.arrived.notify_one();
        loop {
            match state.1 {
                Position::Shut => state = self.moved.wait(state).expect("no holder panics"),
                Position::Open { start_ns } => return Some(start_ns),
                Position::Cancelled => return None,
            }
        }
    }

    /// Returns once `workers` wait.
    pub fn until_ready(&self, workers: usize) {
        let mut state = self.state.lock().expect("no holder panics");
        while state.0 < workers {
            state = self.arrived.wait(state).expect("no holder panics");
        }
    }

    /// Lets all workers go.
    pub fn open(&self, start_ns: u64) {
        self.set(Position::Open { start_ns });
    }

    /// Sends all workers home.
    pub fn cancel(&self) {
        self.set(Position::Cancelled);
    }

    fn set(&self, position: Position) {
        self.state.lock().expect("no holder panics").1 = position;
        self.moved.notify_all();
    }
}
