//! A program that lives by panics that are caught: through hot and cold parts, with values dropped on the way, and
//! backtraces from both.
//!   panics train N   N rounds without what is to be cold
//!   panics throw N   N rounds, of which half panic; prints what they add up to
//!   panics names     prints the own functions of backtraces
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::panic::{catch_unwind, panic_any, resume_unwind, AssertUnwindSafe};

thread_local! {
    static DROPPED: Cell<u64> = const { Cell::new(0) };
}

struct Noisy(u64);

impl Drop for Noisy {
    fn drop(&mut self) {
        DROPPED.with(|d| d.set(d.get() + self.0));
    }
}

struct Odd(u64);

fn trace(wanted: bool, place: &str) {
    if wanted {
        println!("{place}:\n{}", Backtrace::force_capture());
    }
}

#[inline(never)]
fn leaf(v: u64, cold: u64, wanted: bool) -> u64 {
    let _n = Noisy(1);
    if cold != 0 && v % cold == 3 {
        // Cold code of this very function.
        let _m = Noisy(5);
        let text = format!("rare {v}");
        trace(wanted, "cold");
        if text.len() % 2 == 1 {
            panic_any(text);
        }
        panic!("{text}");
    }
    trace(wanted, "hot");
    match v % 4 {
        0 => panic_any(Odd(v)),
        1 => panic!("odd"),
        _ => v * 31,
    }
}

#[inline(never)]
fn mid(v: u64, cold: u64, wanted: bool) -> u64 {
    let _n = Noisy(2);
    match catch_unwind(|| leaf(v, cold, wanted)) {
        Ok(r) => r,
        Err(e) => match e.downcast::<Odd>() {
            Ok(o) if o.0 % 5 != 0 => o.0,
            Ok(o) => resume_unwind(o),
            Err(e) => resume_unwind(e),
        },
    }
}

#[inline(never)]
fn outer(v: u64, cold: u64, wanted: bool) -> u64 {
    let table = [3u64, 5, 7, 11, 13];
    let r = catch_unwind(AssertUnwindSafe(|| {
        let at = (v % 6) as usize;
        mid(v, cold, wanted) + table[std::hint::black_box(at)]
    }));
    match r {
        Ok(r) => r,
        Err(e) => {
            if let Some(s) = e.downcast_ref::<String>() {
                s.len() as u64
            } else if let Some(s) = e.downcast_ref::<&str>() {
                s.len() as u64 + 100
            } else if e.is::<Odd>() {
                17
            } else {
                0
            }
        }
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let mode = args.next().unwrap_or_default();
    let n: u64 = args.next().and_then(|a| a.parse().ok()).unwrap_or(1000);
    let cold = match mode.as_str() {
        "train" => 0,
        "throw" => 7,
        "names" => {
            std::panic::set_hook(Box::new(|_| {}));
            outer(2, 0, true);
            outer(10, 7, true);
            return;
        }
        _ => {
            eprintln!("usage: panics train|throw|names [N]");
            std::process::exit(2);
        }
    };
    std::panic::set_hook(Box::new(|_| {}));
    let mut total = 0u64;
    for v in 0..n {
        total = total.wrapping_add(outer(v, cold, false));
    }
    println!("{total} {}", DROPPED.with(|d| d.get()));
}
