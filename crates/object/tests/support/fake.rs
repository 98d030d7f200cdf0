//! A server that says what a script tells it: for everything a good server doesn't do.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A request as it came: first line, headers in lower case, body.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

/// What the script answers with.
pub enum Say {
    /// Status line and headers and body, as they are.
    Raw(Vec<u8>),
    /// Nothing, for so long; then the connection ends.
    Hang(Duration),
    /// The connection ends at once.
    Close,
}

pub fn reply(status: u16, headers: &[(&str, &str)], body: &str) -> Say {
    let mut text = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    Say::Raw(format!("{text}\r\n{body}").into_bytes())
}

pub struct Fake {
    pub port: u16,
    pub seen: Arc<Mutex<Vec<Seen>>>,
}

impl Fake {
    /// `script(request, how many came before)`. Its thread ends with the test's process.
    pub fn start(script: impl Fn(&Seen, usize) -> Say + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (script, all) = (Arc::new(script), Arc::clone(&seen));
        thread::spawn(move || {
            for tcp in listener.incoming().flatten() {
                let (script, all) = (Arc::clone(&script), Arc::clone(&all));
                thread::spawn(move || serve(tcp, &*script, &all));
            }
        });
        Self { port, seen }
    }

    pub fn requests(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(tcp: TcpStream, script: &dyn Fn(&Seen, usize) -> Say, all: &Mutex<Vec<Seen>>) {
    let mut reader = BufReader::new(tcp.try_clone().unwrap());
    let mut writer = tcp;
    while let Some(seen) = read_request(&mut reader) {
        let before = {
            let mut all = all.lock().unwrap();
            all.push(seen.clone());
            all.len() - 1
        };
        match script(&seen, before) {
            Say::Raw(bytes) => {
                if writer.write_all(&bytes).is_err() {
                    return;
                }
            }
            Say::Hang(time) => return thread::sleep(time),
            Say::Close => return,
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Seen> {
    let mut seen = Seen::default();
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&n| n > 0)?;
    line.trim_end().clone_into(&mut seen.line);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|&n| n > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        seen.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let len = seen.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    seen.body = vec![0; len];
    reader.read_exact(&mut seen.body).ok()?;
    Some(seen)
}
