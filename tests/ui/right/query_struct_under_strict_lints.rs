//! What `derive(QueryData)` writes is nothing that a strict author would have to excuse.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, missing_debug_implementations, dead_code)]

use esker::prelude::*;

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
struct Armour;

#[derive(QueryData)]
struct Fighter<'w, T: Component> {
    id: Entity,
    health: &'w mut Health,
    armour: &'w T,
    poisoned: Has<Armour>,
}

mod shown {
    use super::*;

    /// A component.
    #[derive(Component, Debug)]
    pub struct Shown;

    /// A query.
    #[derive(QueryData, Debug)]
    pub struct Anybody<'a> {
        /// Whose it is.
        pub id: Entity,
        /// What it is.
        pub shown: Option<&'a Shown>,
    }
}

fn main() {
    let mut world = World::new();
    world.spawn((Health(1), Armour, shown::Shown));
    for fighter in &mut world.query::<Fighter<Armour>>() {
        fighter.health.0 += 1;
    }
    let healths: Vec<u32> = world.query::<&Health>().iter().map(|health| health.0).collect();
    assert_eq!(healths, [2]);
    assert_eq!(world.query::<shown::Anybody>().count(), 1);
}
