//! Parameters of your own for systems: one derived from others, one made by hand.
//!
//! ```sh
//! cargo run --example custom_param
//! ```

use std::ops::Deref;

use esker::prelude::*;
use esker::system::{ParamError, Run};
use esker::{AccessSet, SystemParam};

#[derive(Component)]
struct Purse(u32);

#[derive(Component)]
struct King {
    name: &'static str,
}

struct TaxRate(u32);

/// What the treasury works with. A struct of parameters is a parameter, so systems that need the same
/// things say so with one word, and what they do with them can be a method.
#[derive(SystemParam)]
struct Treasury<'w, 's> {
    purses: Query<'w, &'static mut Purse>,
    rate: Res<'w, TaxRate>,
    collected: Local<'s, u32>,
}

impl Treasury<'_, '_> {
    fn collect(&mut self) -> u32 {
        for purse in &mut self.purses {
            let tax = purse.0 * self.rate.0 / 100;
            purse.0 -= tax;
            *self.collected += tax;
        }
        *self.collected
    }
}

/// The one component of its type: a parameter that refuses worlds in which there is none, or more
/// than one.
struct Only<'w, T: Component> {
    query: Query<'w, &'static T>,
}

impl<T: Component> Deref for Only<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.query.single().expect("looked at when the parameter was made")
    }
}

// Nothing here is unsafe: a parameter gets at the world through guards, as everybody does. It is made
// of another one, so it uses what that one uses.
impl<T: Component> SystemParam for Only<'_, T> {
    type State = ();
    type Item<'w, 's> = Only<'w, T>;

    fn init(world: &mut World, access: &mut AccessSet) {
        <Query<'static, &'static T> as SystemParam>::init(world, access);
    }

    fn get<'w>((): &mut (), run: Run<'w>) -> Result<Only<'w, T>, ParamError> {
        let query = <Query<'static, &'static T> as SystemParam>::get(&mut (), run)?;
        query.single().map_err(ParamError::new)?;
        Ok(Only { query })
    }
}

struct Revenue(u32);
impl SystemOutput for Revenue {}

fn collect_taxes(mut treasury: Treasury) -> Revenue {
    Revenue(treasury.collect())
}

fn report(king: Only<King>, revenue: Output<Revenue>) {
    println!("{} has {} coins", king.name, revenue.0);
}

/// `Option` makes a parameter of one that may be refused.
fn mourn(king: Option<Only<King>>) {
    if king.is_none() {
        println!("the throne is empty");
    }
}

fn main() {
    let mut world = World::new();
    world.insert_resource(TaxRate(10));
    world.spawn_batch((0..100).map(|i| Purse(10 * i)));
    let king = world.spawn(King { name: "Harald" });

    let mut schedule = Schedule::new();
    schedule.add_systems((
        collect_taxes,
        report.run_if(|kings: Pool<King>| !kings.is_empty()),
        mourn,
    ));
    schedule.step(&mut world);
    let left: u32 = world.query::<&Purse>().iter().map(|purse| purse.0).sum();
    assert_eq!(left, 49_500 - 4_950);

    world.despawn(king).unwrap();
    schedule.step(&mut world);
}
