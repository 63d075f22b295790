use esker::prelude::*;

#[derive(QueryData)]
struct Anybody;

fn main() {}
