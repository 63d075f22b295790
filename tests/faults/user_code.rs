//! Finds, in the sources, every place where the library calls code of the user's, and compares the list with the rows of the matrix.
//!
//! Three kinds are found: methods of public traits, parameters of public functions that are code (closures, iterators,
//! listeners, systems, formats), and bounds on traits of the standard library. Each has a line in `user_code.txt`: the callback that
//! stands for it in the matrix, or why it has none.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::fuse::CALLBACKS;

/// A signature with one of these takes code of the user's.
const WORDS: [&str; 22] = [
    "Fn(",
    "FnMut(",
    "FnOnce(",
    "fn(",
    "Iterator",
    "Listener",
    "IntoSystem",
    "IntoConfigs",
    "IntoLabel",
    "SystemFunction",
    "StatefulSystem",
    "Serializer",
    "Deserializer",
    "Default",
    "Clone",
    "PartialEq",
    "Ord>",
    ": Ord",
    "Borrow<",
    "Write",
    "Into<",
    "ComponentVisitor",
];

#[test]
#[cfg_attr(miri, ignore = "reads the sources")]
fn every_place_where_user_code_is_called_has_a_row_or_a_reason() {
    let written = include_str!("user_code.txt");
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    for line in written.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (place, answer) = line.split_once(" = ").unwrap_or_else(|| panic!("no answer: {line}"));
        assert!(known.insert(place.trim(), answer.trim()).is_none(), "twice: {place}");
    }
    let found = places(Path::new(env!("CARGO_MANIFEST_DIR")));

    // `Trait::*` answers for all methods of a trait.
    let answers_for = |key: &str, place: &str| match key.strip_suffix('*') {
        Some(of_trait) => place.starts_with(of_trait),
        None => key == place,
    };
    let is_missing = |place: &&String| !known.keys().any(|key| answers_for(key, place));
    let missing: Vec<_> = found.iter().filter(is_missing).collect();
    let is_stale = |key: &&&str| !found.iter().any(|place| answers_for(key, place));
    let stale: Vec<_> = known.keys().filter(is_stale).collect();
    assert!(missing.is_empty(), "no line in tests/faults/user_code.txt for {missing:#?}");
    assert!(stale.is_empty(), "no such place any more: {stale:#?}");
    for (place, answer) in known {
        let names_a_row =
            answer.split(", ").all(|row| CALLBACKS.iter().any(|it| format!("{it:?}") == row));
        let has_a_reason = answer.strip_prefix("none: ").is_some_and(|reason| reason.len() > 10);
        assert!(names_a_row || has_a_reason, "`{place}`: `{answer}` is no callback and no reason");
    }
}

/// What is public in the sources and takes code of the user's: `Trait::method` and `file: function`.
fn places(root: &Path) -> Vec<String> {
    let mut files = Vec::new();
    collect(&root.join("src"), &mut files);
    files.sort();
    let mut places = Vec::new();
    for file in files {
        let text = without_comments(&fs::read_to_string(&file).unwrap());
        let path =
            file.strip_prefix(root.join("src")).unwrap().to_str().unwrap().replace('\\', "/");
        methods(&text, &mut places);
        functions(&text, &path, &mut places);
    }
    places.sort();
    places.dedup();
    assert!(places.len() > 100, "{places:?}");
    places
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => collect(&path, files),
            false if path.extension().is_some_and(|end| end == "rs") => files.push(path),
            false => {}
        }
    }
}

/// The code of a file, without its tests.
fn without_comments(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
    code.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// The methods of public traits. One that is sealed is not implemented by users.
fn methods(text: &str, places: &mut Vec<String>) {
    for keyword in ["pub trait ", "pub unsafe trait "] {
        for (start, _) in text.match_indices(keyword) {
            let rest = &text[start + keyword.len()..];
            let (header, body) = rest.split_once('{').unwrap();
            if header.contains("Sealed") {
                continue;
            }
            let name = word(header);
            for (at, _) in block(body).match_indices("fn ") {
                let method = word(&body[at + 3..]);
                if !method.is_empty() {
                    places.push(format!("{name}::{method}"));
                }
            }
        }
    }
}

/// What stands before the brace that ends a block.
fn block(text: &str) -> &str {
    let mut depth = 1;
    for (at, letter) in text.char_indices() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

/// Public functions whose parameters or bounds are code of the user's.
fn functions(text: &str, path: &str, places: &mut Vec<String>) {
    for (start, _) in text.match_indices("pub fn ") {
        let rest = &text[start + "pub fn ".len()..];
        let end = rest.find(['{', ';']).unwrap();
        let signature = rest[..end].split_whitespace().collect::<Vec<_>>().join(" ");
        let takes = taken(&signature);
        if WORDS.iter().any(|word| takes.contains(word)) {
            places.push(format!("{path}: {}", word(rest)));
        }
    }
}

/// A signature without what it returns.
fn taken(signature: &str) -> String {
    let Some(open) = signature.find('(') else { return signature.to_owned() };
    let mut depth = 0;
    let close = signature[open..].char_indices().find(|&(_, letter)| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        depth == 0
    });
    let close = open + close.map_or(0, |(at, _)| at);
    let bounds = signature[close..].find(" where ").map_or("", |at| &signature[close + at..]);
    format!("{}{bounds}", &signature[..close])
}

fn word(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    &text[..end.unwrap_or(text.len())]
}
