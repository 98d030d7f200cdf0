//! The failing form: breaks the requests of another client as a script says.

use crate::body::{Body, Sink};
use crate::client::{
    ByteRange, Found, ListRequest, ObjectClient, Outcome, Page, Part, Stored, Upload,
};
use crate::error::{Error, ErrorKind};

/// The operations of [`ObjectClient`], for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operation {
    Put,
    Get,
    Head,
    Delete,
    DeleteWithParts,
    List,
    BeginParts,
    PutPart,
    FinishParts,
    AbandonParts,
    ListUploads,
    CreateContainer,
    DeleteContainer,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The server refuses: nothing is done.
    Refused(ErrorKind),
    /// The request is done and its answer lost.
    AnswerLost(ErrorKind),
    /// The request is lost on its way: nothing is done, and nobody knows.
    RequestLost(ErrorKind),
}

/// A client whose requests fail as `script` says; called once per request, in order.
pub struct Failing<C, F> {
    inner: C,
    script: F,
}

impl<C: ObjectClient, F: FnMut(Operation) -> Option<Fault> + Send> Failing<C, F> {
    /// Breaks `inner`.
    pub fn new(inner: C, script: F) -> Self {
        Self { inner, script }
    }

    fn attempt<T>(
        &mut self,
        operation: Operation,
        request: impl FnOnce(&mut C) -> Outcome<T>,
    ) -> Outcome<T> {
        let error = |kind| Error::new(kind, format!("{operation:?} failed on purpose"));
        match (self.script)(operation) {
            None => request(&mut self.inner),
            Some(Fault::Refused(kind)) => Err(error(kind)),
            Some(Fault::RequestLost(kind)) => Err(error(kind).perhaps_performed()),
            Some(Fault::AnswerLost(kind)) => {
                request(&mut self.inner)?;
                Err(error(kind).perhaps_performed())
            }
        }
    }
}

impl<C: ObjectClient, F: FnMut(Operation) -> Option<Fault> + Send> ObjectClient for Failing<C, F> {
    fn put(&mut self, key: &str, body: &Body) -> Outcome<Stored> {
        self.attempt(Operation::Put, |c| c.put(key, body))
    }

    fn get(&mut self, key: &str, range: Option<ByteRange>, into: &mut dyn Sink) -> Outcome<Found> {
        self.attempt(Operation::Get, |c| c.get(key, range, into))
    }

    fn head(&mut self, key: &str) -> Outcome<Found> {
        self.attempt(Operation::Head, |c| c.head(key))
    }

    fn delete(&mut self, key: &str) -> Outcome<()> {
        self.attempt(Operation::Delete, |c| c.delete(key))
    }

    fn delete_with_parts(&mut self, key: &str) -> Outcome<()> {
        self.attempt(Operation::DeleteWithParts, |c| c.delete_with_parts(key))
    }

    fn list(&mut self, request: &ListRequest) -> Outcome<Page> {
        self.attempt(Operation::List, |c| c.list(request))
    }

    fn begin_parts(&mut self, key: &str) -> Outcome<Upload> {
        self.attempt(Operation::BeginParts, |c| c.begin_parts(key))
    }

    fn put_part(&mut self, upload: &Upload, number: u32, body: &Body) -> Outcome<Part> {
        self.attempt(Operation::PutPart, |c| c.put_part(upload, number, body))
    }

    fn finish_parts(&mut self, upload: &Upload, parts: &[Part]) -> Outcome<Stored> {
        self.attempt(Operation::FinishParts, |c| c.finish_parts(upload, parts))
    }

    fn abandon_parts(&mut self, upload: &Upload) -> Outcome<()> {
        self.attempt(Operation::AbandonParts, |c| c.abandon_parts(upload))
    }

    fn list_uploads(&mut self, prefix: &str) -> Outcome<Vec<Upload>> {
        self.attempt(Operation::ListUploads, |c| c.list_uploads(prefix))
    }

    fn create_container(&mut self) -> Outcome<()> {
        self.attempt(Operation::CreateContainer, C::create_container)
    }

    fn delete_container(&mut self) -> Outcome<()> {
        self.attempt(Operation::DeleteContainer, C::delete_container)
    }
}
