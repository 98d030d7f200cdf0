//! What killed runs of `wavetank bench` left in somebody's bucket: known by the names that bench and
//! this engine give, `.../wavetank-bench-TOKEN/tNNNN/00000000`, and nothing else is ever removed.

use std::sync::Mutex;
use std::thread;

use wavetank_object::{Error, ObjectClient, Upload};

use super::worker::Client;

const OWN: &str = "wavetank-bench-";
const TOKEN_LEN: usize = 12;

/// What is there.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Keys of objects.
    pub objects: Vec<String>,
    /// Large objects that were never finished.
    pub uploads: Vec<Upload>,
}

/// Whether bench gave this key: `wavetank-bench-` and a token, a trial, an object of it.
pub fn is_ours(key: &str) -> bool {
    let digits = |text: &str, least: usize| {
        text.len() >= least && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut names = key.rsplit('/');
    let (Some(object), Some(trial), Some(run)) = (names.next(), names.next(), names.next()) else {
        return false;
    };
    let token = run.strip_prefix(OWN).unwrap_or_default();
    digits(object.strip_prefix('m').unwrap_or(object), 8)
        && trial.strip_prefix('t').is_some_and(|trial| digits(trial, 4))
        && token.len() == TOKEN_LEN
        && token.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Unfinished large objects of ours under `prefix`. Who may not list uploads has none to show.
pub fn uploads(client: &mut Client, prefix: &str) -> Vec<Upload> {
    let listed = client.list_uploads(prefix).map(|answer| answer.value).unwrap_or_default();
    listed.into_iter().filter(|upload| is_ours(&upload.key)).collect()
}

/// Removes what is ours under `prefix`, over all of `clients` at once; what it was.
pub fn clear(clients: &mut [Client], prefix: &str) -> Result<Leftovers, Error> {
    let listed = clients[0].list_all(prefix)?.value;
    let objects: Vec<String> =
        listed.into_iter().map(|object| object.key).filter(|key| is_ours(key)).collect();
    let left = Mutex::new(objects.iter());
    let remove = |client: &mut Client| loop {
        let next = left.lock().expect("nobody panics with it").next();
        match next {
            Some(key) => client.delete_with_parts(key)?,
            None => return Ok(()),
        };
    };
    thread::scope(|scope| {
        let lanes: Vec<_> =
            clients.iter_mut().map(|client| scope.spawn(|| remove(client))).collect();
        lanes.into_iter().try_for_each(|lane| {
            lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    // Swift shows those of finished objects too: they went above.
    let uploads = uploads(&mut clients[0], prefix);
    for upload in &uploads {
        clients[0].abandon_parts(upload)?;
    }
    Ok(Leftovers { objects, uploads })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_bench_names_is_ours() {
        for key in [
            "x/wavetank-bench-0123456789ab/t0000/00000000",
            "wavetank-bench-0123456789ab/t0012/m00000007",
        ] {
            assert!(is_ours(key), "{key}");
        }
        for key in [
            "x/00000000",
            "x/t0000/00000000",
            "wavetank-bench-0123456789ab/00000000",
            "wavetank-bench-0123456789ab/t0000/photo",
            "wavetank-bench-0123456789ab/t0000/",
            "wavetank-bench-0123456789/t0000/00000000",
            "wavetank-bench-0123456789ax/t0000/00000000",
            "wavetank-bench-0123456789ab/t0000/00000000/x",
            "wavetank-bench-0123456789ab/tx/00000000",
        ] {
            assert!(!is_ours(key), "{key}");
        }
    }
}
