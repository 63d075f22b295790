//! The rules of ARCHITECTURE.md that can be read off the sources: layers, unsafe, size, opening.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Bottom first. A module may use modules of the lines above its own; those of one line do not
/// see each other.
const LAYERS: &[&[&str]] = &[
    &["growth", "heap", "page", "prefetch", "sync", "tick", "tuples"],
    &["entity"],
    &["sparse"],
    &["storage"],
    &["access", "cell", "component", "journal"],
    &["group"],
    &["world"],
    &["query"],
    &["system"],
    &["schedule", "snapshot"],
];

/// The files that may say `unsafe`. A new one needs a reason in the body of its commit.
const UNSAFE: &[&str] = &[
    "cell/guard.rs",
    "cell/thread_bound.rs",
    "prefetch.rs",
    "query/entity_term.rs",
    "query/grouped.rs",
    "query/lookup.rs",
    "query/many.rs",
    "query/matches.rs",
    "query/mode.rs",
    "query/named.rs",
    "query/opening.rs",
    "query/optional.rs",
    "query/parallel.rs",
    "query/blocks.rs",
    "query/direct.rs",
    "query/found.rs",
    "query/piece.rs",
    "query/pool_term.rs",
    "query/runs.rs",
    "query/subtasks.rs",
    "query/term.rs",
    "query/tuple.rs",
    "query/view.rs",
    "query/walk.rs",
    "storage/conformance/places.rs",
    "storage/contract.rs",
    "storage/indexed.rs",
    "storage/insert.rs",
    "storage/lookup.rs",
    "storage/map.rs",
    "storage/packed.rs",
    "storage/tracked.rs",
    "world/pool_read.rs",
    "world/pools.rs",
    "world/react/queue.rs",
    "world/remains.rs",
];

const LONGEST_FILE: usize = 500;

#[test]
fn sources_keep_the_rules() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let sources: Vec<(String, String)> =
        rust_files(&src).iter().map(|file| (name_below(&src, file), read(file))).collect();
    assert!(sources.len() > 20, "the sources of the library were not found in {}", src.display());
    let mut at_root = reexports(&code_of(&read(&src.join("lib.rs"))));
    for (name, source) in &sources {
        at_root.extend(exported_macros(name, &code_of(source)));
    }

    let mut faults = Vec::new();
    for (name, source) in &sources {
        faults.extend(check(name, source, &at_root));
    }
    for name in UNSAFE {
        let source = sources.iter().find(|(other, _)| other == name);
        if !source.is_some_and(|(_, source)| words(&code_of(source)).any(|w| w == "unsafe")) {
            faults.push(format!("{name}: is on the list of unsafe files without need"));
        }
    }

    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// What is wrong with one file; `name` is its path below `src/`.
fn check(name: &str, source: &str, at_root: &HashMap<String, String>) -> Vec<String> {
    let mut faults = Vec::new();
    let code = code_of(source);
    if !source.starts_with("//!") {
        faults.push("does not open with `//!`, which says what the file is for".to_owned());
    }
    let lines = source.lines().count();
    if lines > LONGEST_FILE {
        faults.push(format!("has {lines} lines; split it at {LONGEST_FILE}"));
    }
    if !UNSAFE.contains(&name) && words(&code).any(|word| word == "unsafe") {
        faults.push("says `unsafe` and is not on the list of files that may".to_owned());
    }
    faults.extend(layer_faults(name, &code, at_root));
    faults.into_iter().map(|fault| format!("{name}: {fault}")).collect()
}

fn layer_faults(name: &str, code: &str, at_root: &HashMap<String, String>) -> Vec<String> {
    let path = module_path(name);
    // The root sees all; tests may use anything.
    let Some(&module) = path.first() else { return Vec::new() };
    if path.last() == Some(&"tests") {
        return Vec::new();
    }
    let Some(mine) = layer(module) else {
        return vec![format!("module `{module}` has no layer; give it one in tests/layers.rs")];
    };
    let mut faults = Vec::new();
    for used in used_from_root(without_tests(code), path.len()) {
        let theirs = at_root.get(&used).map_or(&*used, |module| &**module);
        match layer(theirs) {
            _ if theirs == module => {}
            Some(layer) if layer < mine => {}
            Some(_) => faults.push(format!("uses `{used}` of module `{theirs}`, not below it")),
            None => faults.push(format!("uses `crate::{used}`, which belongs to no layer")),
        }
    }
    faults
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|line| line.contains(&module))
}

/// `world/pool.rs` is `[world, pool]`, `world/mod.rs` is `[world]`, `lib.rs` is `[]`.
fn module_path(name: &str) -> Vec<&str> {
    let parts = name.trim_end_matches(".rs").split('/');
    parts.filter(|part| *part != "mod" && *part != "lib").collect()
}

/// The names right below the root of the crate that are used by a module at this depth: what
/// follows `crate::`, `esker::` (the crate's own name for itself) or enough `super::`.
fn used_from_root(code: &str, depth: usize) -> Vec<String> {
    let climb = "super::".repeat(depth);
    let roots = ["crate::", "esker::", &climb];
    let mut names = Vec::new();
    for root in roots {
        for (at, _) in code.match_indices(root) {
            let inside_a_word = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let tail = &code[at + root.len()..];
            if !inside_a_word && !tail.starts_with("super::") {
                names.extend(first_names(tail));
            }
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The first name of a path, or those of all paths in a braced list.
fn first_names(tail: &str) -> Vec<String> {
    let Some(list) = tail.strip_prefix('{') else { return vec![first_word(tail)] };
    let mut names = vec![first_word(list)];
    let mut depth = 0;
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(first_word(&list[at + 1..])),
            _ => {}
        }
    }
    names
}

fn first_word(text: &str) -> String {
    words(text.trim_start()).next().unwrap_or_default().to_owned()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

/// Names that `lib.rs` lifts out of its modules: `World` → `world`.
fn reexports(lib: &str) -> HashMap<String, String> {
    let mut names = HashMap::new();
    for statement in lib.split(';') {
        let Some((_, path)) = statement.split_once("pub use ") else { continue };
        let Some((module, names_of_it)) = path.split_once("::") else { continue };
        if layer(module).is_some() {
            names.extend(first_names(names_of_it).into_iter().map(|n| (n, module.to_owned())));
        }
    }
    names
}

/// Names that `#[macro_export]` lifts to the root: `storage_conformance` → `storage`.
fn exported_macros(name: &str, code: &str) -> Vec<(String, String)> {
    let Some(&module) = module_path(name).first() else { return Vec::new() };
    let marks = code.split("#[macro_export]").skip(1);
    let macros = marks.filter_map(|tail| tail.trim_start().strip_prefix("macro_rules!"));
    macros.map(|tail| (first_word(tail), module.to_owned())).collect()
}

/// The file up to its test module; the style puts that last.
fn without_tests(code: &str) -> &str {
    let tests = code.match_indices("#[cfg(test)]").map(|(at, mark)| (at, &code[at + mark.len()..]));
    let mut inline = tests.filter(|(_, tail)| {
        let head = tail.split(['{', ';']).next().unwrap_or_default();
        head.trim_start().starts_with("mod ") && tail[head.len()..].starts_with('{')
    });
    inline.next().map_or(code, |(at, _)| &code[..at])
}

/// The source without comments and without the insides of literals.
fn code_of(source: &str) -> String {
    let mut code = String::new();
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let skipped = skip_text(rest);
        if skipped > 0 {
            code.push(' ');
            rest = &rest[skipped..];
        } else {
            code.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    code
}

/// Length of the comment or literal that `rest` begins with; 0 if it begins with neither.
fn skip_text(rest: &str) -> usize {
    let up_to = |end: &str, from: usize| {
        rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len())
    };
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return up_to("*/", 2);
    }
    let hashes = rest.strip_prefix('r').map_or(0, |r| r.len() - r.trim_start_matches('#').len());
    if rest.starts_with('r') && rest[1 + hashes..].starts_with('"') {
        return up_to(&format!("\"{}", "#".repeat(hashes)), hashes + 2);
    }
    if rest.starts_with('"') {
        return quoted(rest, '"');
    }
    // A character, not a lifetime: `'x'` or `'\…'`.
    let is_char = rest.starts_with("'\\") || rest.chars().nth(2) == Some('\'');
    if rest.starts_with('\'') && is_char { quoted(rest, '\'') } else { 0 }
}

/// Length of a literal from its opening quote to its closing one.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn name_below(src: &Path, file: &Path) -> String {
    let name = file.strip_prefix(src).expect("listed below `src`");
    name.display().to_string().replace('\\', "/")
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The rules seen to fail, each on a source made for it.
mod planted {
    use super::*;

    fn faults(name: &str, code: &str) -> Vec<String> {
        let lib = "pub use world::{Bundle, World};\npub use entity::Entity;";
        check(name, &format!("//! A file.\n{code}"), &reexports(lib))
    }

    #[track_caller]
    fn refused(name: &str, code: &str, why: &str) {
        let faults = faults(name, code);
        assert!(faults.iter().any(|fault| fault.contains(why)), "{code}\n→ {faults:?}");
    }

    #[track_caller]
    fn accepted(name: &str, code: &str) {
        assert_eq!(faults(name, code), [""; 0], "{code}");
    }

    #[test]
    fn an_upward_use_is_refused_however_it_is_written() {
        for code in [
            "use crate::world::World;",
            "use crate::World;",
            "use crate::{entity::Entity, world::{Bundle, World}};",
            "use crate::{\n    entity::Entity,\n    World,\n};",
            "use super::super::world;",
            "use esker::world::World;",
            "fn f(w: &crate::world::World) {}",
            "#[cfg(test)]\nmod tests;\nuse crate::world::World;",
        ] {
            refused("storage/map.rs", code, "of module `world`");
        }
    }

    #[test]
    fn an_exported_macro_belongs_to_its_module() {
        let code = "#[macro_export]\nmacro_rules! shout { () => {} }";
        let at_root = exported_macros("world/gate.rs", code).into_iter().collect();

        let upward = check("cell/flag.rs", "//! A file.\nuse crate::shout;", &at_root);
        assert!(upward[0].contains("of module `world`"), "{upward:?}");
        assert_eq!(check("query/mod.rs", "//! A file.\nuse crate::shout;", &at_root), [""; 0]);
    }

    #[test]
    fn modules_of_one_layer_do_not_see_each_other() {
        refused("cell/flag.rs", "use crate::component::Component;", "of module `component`");
        refused("component/mod.rs", "use crate::cell::Cell;", "of module `cell`");
    }

    #[test]
    fn a_module_without_a_layer_is_refused() {
        refused("utils.rs", "", "has no layer");
        refused("world/mod.rs", "use crate::utils::f;", "belongs to no layer");
    }

    #[test]
    fn downward_uses_own_parts_text_and_tests_are_accepted() {
        for code in [
            "use crate::entity::Entity;\nuse crate::sparse::{Slot, SparseSet};\nuse super::Packed;",
            "use crate::storage::Packed;",
            "/// See [`World`](crate::world::World).\nfn f() {}",
            "fn f() -> &'static str { \"crate::world::World is unsafe\" }",
            "#[cfg(test)]\nmod tests {\n    use crate::world::World;\n}",
        ] {
            accepted("storage/map.rs", code);
        }
        accepted("query/mod.rs", "use crate::world::{BorrowConflict, World};");
        accepted("storage/tests.rs", "use crate::world::World;");
    }

    #[test]
    fn unsafe_outside_the_list_is_refused() {
        let code = "fn f<'a>(c: char) { if c == '\"' { unsafe { g() } } }";

        refused("world/gate.rs", code, "says `unsafe`");
        accepted("world/pools.rs", code);
        accepted("world/gate.rs", "#![deny(unsafe_code)] // unsafe is not for here");
    }

    #[test]
    fn long_files_and_files_without_an_opening_are_refused() {
        refused("world/gate.rs", &"\n".repeat(LONGEST_FILE), "has 501 lines");

        let faults = check("world/gate.rs", "use std::fmt;\n", &HashMap::new());
        assert!(faults[0].contains("does not open"), "{faults:?}");
    }
}
