//! Writes many mutants into one copy of the sources, to be switched on one at a time.
//!
//! The body of a function becomes a `match` on a number that the environment gives: one arm for each
//! mutant, and one for the body as it is. So all of them are built once, and each costs only a run.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::list::{Genre, Mutant, Span};

/// What the environment gives the number of the mutant in.
pub(super) const VARIABLE: &str = "ESKER_MUTANT";

/// Goes to the end of `lib.rs`.
pub(super) const SWITCH: &str = r#"
#[doc(hidden)]
pub fn __mutant() -> usize {
    static NUMBER: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    let read = || std::env::var("ESKER_MUTANT").ok().and_then(|number| number.parse().ok());
    *NUMBER.get_or_init(|| read().unwrap_or(usize::MAX))
}
"#;

/// Lines of a file of the copy, and the mutants that are to blame for what is wrong there.
pub(super) type Blame = (RangeInclusive<usize>, Vec<usize>);

/// A file with the mutants in it. Those that have no place in it are returned, too: functions that the
/// compiler runs cannot ask for a number, nor can what is in a function within a function.
pub(super) fn switched(
    source: &str,
    mutants: &[(usize, &Mutant)],
) -> (String, Vec<Blame>, Vec<usize>) {
    let mut functions: BTreeMap<Span, Vec<(usize, &Mutant)>> = BTreeMap::new();
    let mut impossible = Vec::new();
    for &(number, mutant) in mutants {
        match &mutant.function {
            Some(function) => functions.entry(function.span).or_default().push((number, mutant)),
            None => impossible.push(number),
        }
    }
    let (mut text, mut blames, mut done) = (String::new(), Vec::new(), 0);
    for (span, mutants) in functions {
        let numbers: Vec<usize> = mutants.iter().map(|(number, _)| *number).collect();
        let (start, end) = (span.start.offset(source), span.end.offset(source));
        let body = start + body(&source[start..end]);
        if start < done || body == end || source[start..body].contains("const fn") {
            impossible.extend(numbers);
            continue;
        }
        text += &source[done..body];
        let first = line(&text);
        let bounds = opaque(&source[start..body]);
        let arm = |block: &str| match bounds {
            Some(bounds) => format!("Box::new({block}) as Box<dyn {bounds} + '_>,"),
            None => block.to_owned(),
        };
        text += "{ match crate::__mutant() {\n";
        for (number, mutant) in mutants {
            let first = line(&text);
            text += &format!("{number} => {}\n", arm(&changed(source, body, end, mutant)));
            blames.push((first..=line(&text) - 1, vec![number]));
        }
        text += &format!("_ => {}\n}} }}", arm(&source[body..end]));
        blames.push((first..=line(&text), numbers));
        done = end;
    }
    text += &source[done..];
    (text, blames, impossible)
}

/// The bounds of what a function returns, if its type has no name: arms of several types need one.
fn opaque(head: &str) -> Option<&str> {
    let (_, returned) = head.rsplit_once("-> impl ")?;
    Some(returned.split_once("where").map_or(returned, |(returned, _)| returned).trim())
}

/// The line that comes next.
fn line(text: &str) -> usize {
    text.matches('\n').count() + 1
}

/// The body of a function with the change.
fn changed(source: &str, body: usize, end: usize, mutant: &Mutant) -> String {
    let Mutant { replacement, span, .. } = mutant;
    if mutant.genre == Genre::FnValue {
        return format!("{{ {replacement} }}");
    }
    let (from, to) = (span.start.offset(source), span.end.offset(source));
    format!("{} {replacement} {}", &source[body..from], &source[to..end])
}

/// Where the body of a function begins: at the first brace that is in no comment, text or bracket.
fn body(function: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(next) = function[at..].chars().next() {
        let rest = &function[at..];
        at += match next {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => 2 + rest[1..].find('"').unwrap_or(rest.len() - 2),
            '{' if depth == 0 => return at,
            '(' | '[' | '{' => {
                depth += 1;
                1
            }
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                1
            }
            _ => next.len_utf8(),
        };
    }
    function.len()
}
