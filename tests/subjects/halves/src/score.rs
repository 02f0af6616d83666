//! The half in Rust: the same as the one in C, by trait objects.
trait Rule: Sync {
    fn apply(&self, x: u32, i: u32) -> u32;
}
struct Plain;
struct Mixed(u32);
struct Odd(u32);

impl Rule for Plain {
    fn apply(&self, x: u32, i: u32) -> u32 {
        x.wrapping_add(i ^ 5)
    }
}
impl Rule for Mixed {
    fn apply(&self, x: u32, i: u32) -> u32 {
        (0..self.0).fold(x, |x, k| x.wrapping_mul(31).wrapping_add(i >> k))
    }
}
impl Rule for Odd {
    fn apply(&self, x: u32, i: u32) -> u32 {
        if x % 7 != 0 {
            x / (i | 1)
        } else {
            x ^ i.wrapping_mul(self.0)
        }
    }
}

static RULES: [&dyn Rule; 3] = [&Plain, &Mixed(9), &Odd(2654435761)];

#[inline(never)]
pub fn score(seed: u32, n: u32) -> u32 {
    // Not known to the compiler.
    let rules = std::hint::black_box(&RULES);
    (0..n).fold(seed, |x, i| {
        let which = if x & 0xfff == 0xabc { 1 + x as usize % 2 } else { 0 };
        rules[which].apply(x, i)
    })
}
