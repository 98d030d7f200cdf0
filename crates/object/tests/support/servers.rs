//! Real servers on loopback, each started by a test and ended with it.

use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use wavetank_object::credentials::Values;
use wavetank_object::{Protocol, Settings};

pub const ACCESS: &str = "testaccess";
pub const SECRET: &str = "testsecretkey";

/// Processes that end with this value, and their files.
pub struct Server {
    children: Vec<Child>,
    pub directory: TempDir,
    pub port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A port that nobody has, below those that the kernel gives to outgoing connections: before the
/// server binds it, no client of another test may be given it. Never the same twice in a process.
pub fn free_port() -> u16 {
    const FIRST: u32 = 10_000;
    const COUNT: u32 = 22_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let begin = std::process::id().wrapping_mul(7919);
    loop {
        let at = begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = (FIRST + at % COUNT) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// The program's path: named by `variable`, installed by install/object.sh, or found in PATH; else
/// says what is skipped, or fails where nothing may be.
fn program(variable: &str, name: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let found = named.or_else(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = installed().into_iter().chain(std::env::split_paths(&path));
        folders.find_map(|folder| Some(folder.join(name)).filter(|path| path.is_file()))
    });
    if found.is_none() {
        let lacks = format!("there is no {name} here (install/object.sh, PATH, {variable})");
        let may_lack = std::env::var("WAVETANK_TESTS_LACK").as_deref() != Ok("nothing");
        assert!(may_lack, "{lacks}");
        eprintln!("SKIPPED: {lacks}");
    }
    found
}

/// Where install/object.sh puts programs.
fn installed() -> Vec<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let programs = cache.or_else(home).map(|cache| cache.join("wavetank/programs"));
    programs.map_or_else(Vec::new, |root| vec![root.join("bin"), root.join("swift/bin")])
}

fn start(program: &Path, arguments: &[&str], directory: &Path) -> Child {
    let log = fs::OpenOptions::new().create(true).append(true).open(directory.join("log")).unwrap();
    Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .env("ROOT_ACCESS_KEY", ACCESS)
        .env("ROOT_SECRET_KEY", SECRET)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()))
}

fn wait_for(port: u16, directory: &Path) {
    let until = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        let log = || fs::read_to_string(directory.join("log")).unwrap_or_default();
        assert!(Instant::now() < until, "no server on port {port}: {}", log());
        std::thread::sleep(Duration::from_millis(50));
    }
}

pub fn versitygw() -> Option<Server> {
    let program = program("WAVETANK_VERSITYGW", "versitygw")?;
    let directory = tempfile::tempdir().unwrap();
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    fs::create_dir(directory.path().join("data")).unwrap();
    let arguments = ["--keep-alive", "--region", "us-east-1", "--port", &address, "posix", "data"];
    let children = vec![start(&program, &arguments, directory.path())];
    wait_for(port, directory.path());
    Some(Server { children, directory, port })
}

pub fn rclone() -> Option<Server> {
    let program = program("WAVETANK_RCLONE", "rclone")?;
    let directory = tempfile::tempdir().unwrap();
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let key = format!("{ACCESS},{SECRET}");
    fs::create_dir(directory.path().join("data")).unwrap();
    let arguments = ["serve", "s3", "--auth-key", &key, "--addr", &address, "data"];
    let children = vec![start(&program, &arguments, directory.path())];
    wait_for(port, directory.path());
    Some(Server { children, directory, port })
}

pub fn s3_settings(port: u16, bucket: &str) -> Settings {
    serde_json::from_value(serde_json::json!({
        "protocol": "s3", "endpoint": format!("http://127.0.0.1:{port}"), "container": bucket,
    }))
    .unwrap()
}

pub fn s3_values() -> Values {
    let text = format!("AWS_ACCESS_KEY_ID={ACCESS}\nAWS_SECRET_ACCESS_KEY={SECRET}\n");
    Values::parse(&text, "default")
}

pub fn swift_settings(port: u16, container: &str) -> Settings {
    let endpoint = format!("http://127.0.0.1:{port}/auth/v1.0");
    Settings { protocol: Protocol::Swift, endpoint, ..s3_settings(port, container) }
}

pub fn swift_values() -> Values {
    Values::parse("ST_USER=test:tester\nST_KEY=testing\n", "default")
}

/// The whole of OpenStack Swift: one proxy, account, container and object server, one replica.
/// `WAVETANK_SWIFT_BIN` names the folder of its programs where they are not in PATH.
pub fn swift() -> Option<Server> {
    let memcached = program("WAVETANK_MEMCACHED", "memcached")?;
    let proxy = match std::env::var_os("WAVETANK_SWIFT_BIN").map(PathBuf::from) {
        Some(folder) => folder.join("swift-proxy-server"),
        None => program("WAVETANK_SWIFT_PROXY", "swift-proxy-server")?,
    };
    let bin = proxy.parent().unwrap().to_owned();
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let ports: Vec<u16> = std::iter::repeat_with(free_port).take(5).collect();
    write_swift_files(root, &ports);
    for (ring, port) in [("account", ports[1]), ("container", ports[2]), ("object", ports[3])] {
        let builder = format!("{ring}.builder");
        let port = port.to_string();
        let steps: [&[&str]; 3] = [
            &["create", "6", "1", "0"],
            &[
                "add",
                "--region",
                "1",
                "--zone",
                "1",
                "--ip",
                "127.0.0.1",
                "--port",
                &port,
                "--device",
                "d1",
                "--weight",
                "1",
            ],
            &["rebalance"],
        ];
        for step in steps {
            let arguments: Vec<&str> =
                std::iter::once(builder.as_str()).chain(step.iter().copied()).collect();
            let mut child = start(&bin.join("swift-ring-builder"), &arguments, root);
            assert!(child.wait().unwrap().success(), "{step:?}");
        }
    }
    let memcached_port = ports[4].to_string();
    let arguments = ["-l", "127.0.0.1", "-p", &memcached_port, "-m", "16", "-u", "nobody"];
    let mut children = vec![start(&memcached, &arguments, root)];
    for name in ["account", "container", "object", "proxy"] {
        let config = root.join(format!("{name}.conf"));
        let program = bin.join(format!("swift-{name}-server"));
        children.push(start(&program, &[config.to_str().unwrap()], root));
    }
    let server = Server { children, directory, port: ports[0] };
    for &port in &ports {
        wait_for(port, server.directory.path());
    }
    Some(server)
}

fn write_swift_files(root: &Path, ports: &[u16]) {
    let here = root.display();
    fs::create_dir_all(root.join("devices/d1")).unwrap();
    let user = String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
    let user = user.trim();
    let write = |name: &str, text: String| {
        fs::File::create(root.join(name)).unwrap().write_all(text.as_bytes()).unwrap();
    };
    write(
        "swift.conf",
        "[swift-hash]\nswift_hash_path_prefix = a\nswift_hash_path_suffix = b\n".into(),
    );
    for (name, port) in [("account", ports[1]), ("container", ports[2]), ("object", ports[3])] {
        write(
            &format!("{name}.conf"),
            format!(
                "[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = {port}\nworkers = 0\nuser = {user}\n\
                 swift_dir = {here}\ndevices = {here}/devices\nmount_check = false\n\
                 disable_fallocate = true\ndb_preallocation = off\nlog_address = {here}/none\n\
                 [pipeline:main]\npipeline = {name}-server\n\
                 [app:{name}-server]\nuse = egg:swift#{name}\n"
            ),
        );
    }
    let pipeline =
        "catch_errors gatekeeper healthcheck cache listing_formats bulk tempurl tempauth \
                    copy slo dlo versioned_writes proxy-server";
    let filters: String = pipeline
        .split_whitespace()
        .filter(|name| !["cache", "tempauth", "proxy-server"].contains(name))
        .map(|name| format!("[filter:{name}]\nuse = egg:swift#{name}\n"))
        .collect();
    write(
        "proxy.conf",
        format!(
            "[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = {}\nworkers = 0\nuser = {user}\n\
             swift_dir = {here}\nlog_address = {here}/none\n[pipeline:main]\npipeline = {pipeline}\n\
             [app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\n\
             allow_account_management = true\n\
             [filter:cache]\nuse = egg:swift#memcache\nmemcache_servers = 127.0.0.1:{}\n\
             [filter:tempauth]\nuse = egg:swift#tempauth\nuser_test_tester = testing .admin\n{filters}",
            ports[0], ports[4]
        ),
    );
}
