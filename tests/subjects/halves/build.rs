fn main() {
    println!("cargo:rerun-if-changed=csrc/score.c");
    cc::Build::new().file("csrc/score.c").compile("score");
}
