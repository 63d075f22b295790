use esker::SystemParam;
use esker::prelude::*;

#[derive(SystemParam)]
struct Counted<'w, 's: 'w> {
    commands: Commands<'w, 's>,
}

fn main() {}
