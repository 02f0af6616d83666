use std::collections::HashMap;

pub struct Words {
    counts: HashMap<String, usize>,
    seed: u32,
}

impl Words {
    pub fn new(seed: u32) -> Self {
        Words { counts: HashMap::new(), seed }
    }

    fn next(&mut self) -> u32 {
        self.seed = self.seed.wrapping_mul(1103515245).wrapping_add(12345);
        self.seed >> 16
    }

    pub fn make(&mut self) -> String {
        let n = 2 + self.next() % 3;
        (0..n)
            .map(|i| {
                let range = if i == 0 { 20 } else { 6 };
                char::from(b'a' + (self.next() % range) as u8)
            })
            .collect()
    }

    pub fn add(&mut self, word: &str) {
        *self.counts.entry(word.to_string()).or_insert(0) += 1;
    }

    pub fn sorted(self) -> Vec<(String, usize)> {
        let mut all: Vec<_> = self.counts.into_iter().collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        all
    }
}
