// Counts and sorts words: the Rust subject of whet's own tests.  words N [SEED]
mod table;

fn main() {
    let mut args = std::env::args().skip(1);
    let n: u32 = args.next().and_then(|a| a.parse().ok()).unwrap_or(1000);
    let seed: u32 = args
        .next()
        .and_then(|a| a.parse().ok())
        .unwrap_or(env!("WORDS_SEED").parse().unwrap());
    let mut words = table::Words::new(seed);
    for _ in 0..n {
        let word = words.make();
        words.add(&word);
    }
    let sorted = words.sorted();
    println!("{} different words, {} in all, first '{}'", sorted.len(), n, sorted[0].0);
}
