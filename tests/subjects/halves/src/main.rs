//! A server of two halves: /rust is answered by Rust, /c by C, /both by both. Each answer is a number of
//! eight hexadecimal digits.
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

mod score;

extern "C" {
    fn c_score(seed: u32, n: u32) -> u32;
    fn sigemptyset(set: *mut u64) -> i32;
    fn sigaddset(set: *mut u64, signal: i32) -> i32;
    fn pthread_sigmask(how: i32, set: *const u64, old: *mut u64) -> i32;
    fn sigwait(set: *const u64, signal: *mut i32) -> i32;
}

/// Ends by exit() on SIGTERM, so that the profile is written.
fn exit_on_term() {
    const SIGTERM: i32 = 15;
    let mut set = [0u64; 16];
    unsafe {
        sigemptyset(set.as_mut_ptr());
        sigaddset(set.as_mut_ptr(), SIGTERM);
        pthread_sigmask(0, set.as_ptr(), std::ptr::null_mut());
    }
    std::thread::spawn(move || {
        let mut signal = 0;
        unsafe { sigwait(set.as_ptr(), &mut signal) };
        std::process::exit(0);
    });
}

fn answer(path: &str) -> Option<u32> {
    const ROUNDS: u32 = 4000;
    match path {
        "/rust" => Some(score::score(1, ROUNDS)),
        "/c" => Some(unsafe { c_score(1, ROUNDS) }),
        "/both" => Some(score::score(2, ROUNDS) ^ unsafe { c_score(2, ROUNDS) }),
        "/health" => Some(0),
        _ => None,
    }
}

fn serve(stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut out = stream.try_clone()?;
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    loop {
        line.clear();
        if lines.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or("").to_string();
        while line.trim_end() != "" {
            line.clear();
            if lines.read_line(&mut line)? == 0 {
                return Ok(());
            }
        }
        let (status, body) = match answer(&path) {
            Some(n) => ("200 OK", format!("{n:08x}")),
            None => ("404 Not Found", String::new()),
        };
        let length = body.len();
        out.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes())?;
    }
}

fn main() {
    let port: u16 = std::env::args().nth(1).and_then(|a| a.parse().ok()).expect("usage: halves PORT");
    exit_on_term();
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("cannot listen");
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || serve(stream));
    }
}
