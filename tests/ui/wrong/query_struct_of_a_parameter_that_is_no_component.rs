use esker::prelude::*;

#[derive(QueryData)]
struct Counted<'w, T> {
    count: &'w mut T,
}

fn main() {}
