//! Turns the list of media types into a lookup function.
use std::{env, fs, path::Path};

fn main() {
    println!("cargo:rerun-if-changed=src/media-types.txt");
    let list = fs::read_to_string("src/media-types.txt").expect("src/media-types.txt");
    let mut code = String::from(
        "/// The media type that belongs to a file name's ending.\n\
         pub fn media_type(ending: &str) -> &'static str {\n    match ending {\n",
    );
    for line in list.lines().filter(|l| !l.trim().is_empty()) {
        let (media, endings) = line.split_once(' ').expect("media type, endings");
        for ending in endings.split_whitespace() {
            code += &format!("        {ending:?} => {media:?},\n");
        }
    }
    code += "        _ => \"application/octet-stream\",\n    }\n}\n";
    let out = env::var("OUT_DIR").expect("OUT_DIR");
    fs::write(Path::new(&out).join("media_types.rs"), code).expect("media_types.rs");
}
