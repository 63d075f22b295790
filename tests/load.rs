//! Many entities, many component types, many components on one entity, and hours of the same work:
//! nothing is lost, and memory stays where it belongs.
//!
//! Small as it stands. `ESKER_LOAD_ENTITIES=10000000 ESKER_LOAD_SECONDS=3600 cargo test --release
//! --test load -- --nocapture` is the long mode, and `RUSTFLAGS="--cfg esker_load"` makes it 5,000
//! component types, 300 of them on one entity, which takes minutes to compile.

#![cfg(feature = "derive")]
#![allow(unreachable_pub, reason = "modules of one test crate")]

mod common;
#[path = "common/counting.rs"]
mod counting;

use std::marker::PhantomData;
use std::time::{Duration, Instant};

use common::Rng;
use counting::{in_use, in_use_by_team, join_team};
use esker::prelude::*;
use esker::storage::Packed;

fn number_from(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

#[derive(Component)]
struct Place([f32; 2]);

#[derive(Component)]
struct Speed([f32; 2]);

#[derive(Component)]
struct Health(u32);

#[derive(Component)]
struct Mark(u8);

type All = (Place, Speed, Health, Mark);

fn all(n: usize) -> All {
    (Place([n as f32; 2]), Speed([1.0; 2]), Health(n as u32), Mark(n as u8))
}

#[test]
fn many_entities_take_little_more_memory_than_their_values_and_ids() {
    let count = number_from("ESKER_LOAD_ENTITIES").unwrap_or(20_000);
    // A slot of the book; per component an id, a slot and the value.
    let least = count * (16 + 4 * 16 + size_of::<(Place, Speed, Health)>() + size_of::<Mark>());
    // The process remembers its component types.
    World::new().spawn(all(0));
    let before = in_use();
    let mut world = World::new();

    let mut entities: Vec<Entity> = world.spawn_batch((0..count).map(all)).collect();
    for at in (0..count).step_by(2) {
        world.despawn(entities[at]).unwrap();
        assert!(world.despawn(entities[at]).is_err());
    }
    assert_eq!(world.len(), count / 2);
    for at in (0..count).step_by(2) {
        let old = std::mem::replace(&mut entities[at], world.spawn(all(at)));
        assert!(!world.is_alive(old) && !world.has::<Health>(old));
    }

    let used = (in_use() - before) as usize - entities.capacity() * size_of::<Entity>();
    // Arrays double as long as they are small, and then grow by half; nothing but that.
    let most = if count < 1_000_000 { 2.0 } else { 1.5 };
    assert!(used as f64 <= most * least as f64, "{used} bytes for {least}");
    world.shrink_to_fit();
    let shrunk = (in_use() - before) as usize - entities.capacity() * size_of::<Entity>();
    assert!(shrunk as f64 <= 1.25 * least as f64, "{shrunk} bytes for {least}");
    let mut seen = vec![false; count];
    for (entity, health, mark) in world.query::<(Entity, &Health, &Mark)>().iter() {
        let at = health.0 as usize;
        assert!(entity == entities[at] && mark.0 == at as u8 && !seen[at]);
        seen[at] = true;
    }
    assert!(seen.into_iter().all(|seen| seen));
    world.verify().unwrap();
    drop(world);
    drop(entities);
    assert_eq!(in_use() - before, 0, "bytes are not given back");
    // Not before: what is printed is kept by the harness.
    println!("{count} entities: {used} bytes, {least} at least; after `shrink_to_fit`: {shrunk}");
}

type Digits<A, B, C> = fn() -> (A, B, C);

/// A component type for each list of digits.
struct Kind<A, B, C>(u32, PhantomData<Digits<A, B, C>>);

impl<A: 'static, B: 'static, C: 'static> Component for Kind<A, B, C> {
    type Storage = Packed<Self>;
}

struct Digit<const N: usize>;

/// Something to be done for each of many component types.
trait Work {
    fn with<T: Component>(&mut self, make: fn(u32) -> T, value: fn(&T) -> u32);
}

/// Calls a function with each digit behind those that are given. Not written as a call, which the formatter
/// would take for one.
macro_rules! each_digit {
    ($call:ident [$($given:ty),*] $work:ident) => {
        each_digit!(@ $call [$($given),*] $work 0 1 2 3 4 5 6 7 8 9);
        #[cfg(esker_load)]
        each_digit!(@ $call [$($given),*] $work 10 11 12 13 14 15 16);
    };
    (@ $call:ident $given:tt $work:ident $($digit:literal)*) => {
        $(each_digit!(# $call $given $work $digit);)*
    };
    (# $call:ident [$($given:ty),*] $work:ident $digit:literal) => {
        $call::<_ $(, $given)*, Digit<$digit>>($work)
    };
}

fn first<W: Work, A: 'static>(work: &mut W) {
    each_digit!(second [A] work);
}

fn second<W: Work, A: 'static, B: 'static>(work: &mut W) {
    each_digit!(third [A, B] work);
}

fn third<W: Work, A: 'static, B: 'static, C: 'static>(work: &mut W) {
    work.with::<Kind<A, B, C>>(|value| Kind(value, PhantomData), |kind| kind.0);
}

/// Works with 100 component types, or with 578.
fn for_some_types(work: &mut impl Work) {
    first::<_, Digit<0>>(work);
    #[cfg(esker_load)]
    first::<_, Digit<17>>(work);
}

/// Works with 100 component types, or with 5,202.
fn for_each_type(work: &mut impl Work) {
    #[cfg(not(esker_load))]
    first::<_, Digit<0>>(work);
    #[cfg(esker_load)]
    {
        each_digit!(first [] work);
        first::<_, Digit<17>>(work);
    }
}

/// What is done for each type is little: it is compiled as often.
#[test]
fn one_entity_can_have_hundreds_of_components_beside_thousands_of_types() {
    struct Spawn<'w>(&'w mut World, Vec<Entity>);
    impl Work for Spawn<'_> {
        fn with<T: Component>(&mut self, make: fn(u32) -> T, value: fn(&T) -> u32) {
            let entity = self.0.spawn(make(self.1.len() as u32));
            assert_eq!(value(&self.0.get::<T>(entity).unwrap()), self.1.len() as u32);
            assert_eq!(self.0.component_ids(entity).count(), 1);
            self.1.push(entity);
        }
    }
    struct Fill<'w>(&'w mut World, Entity, u32);
    impl Work for Fill<'_> {
        fn with<T: Component>(&mut self, make: fn(u32) -> T, value: fn(&T) -> u32) {
            if self.2 < 300 {
                self.2 += 1;
                self.0.insert(self.1, make(self.2)).unwrap();
                assert_eq!(value(&self.0.get::<T>(self.1).unwrap()), self.2);
            }
        }
    }
    struct Left<'w>(&'w World, &'w [Entity], usize);
    impl Work for Left<'_> {
        fn with<T: Component>(&mut self, _: fn(u32) -> T, value: fn(&T) -> u32) {
            let left = self.0.get::<T>(self.1[self.2]).unwrap();
            assert_eq!(value(&left) as usize, self.2, "{}", std::any::type_name::<T>());
            self.2 += 1;
        }
    }
    let mut world = World::new();
    let rich = world.spawn(());

    let mut spawned = Spawn(&mut world, vec![]);
    for_each_type(&mut spawned);
    let poor = spawned.1;
    let mut filled = Fill(&mut world, rich, 0);
    for_some_types(&mut filled);
    let (count, components) = (poor.len(), filled.2 as usize);

    println!("{count} component types, {components} of them on one entity");
    assert_eq!(world.component_ids(rich).count(), components);
    world.verify().unwrap();
    world.despawn(rich).unwrap();
    world.verify().unwrap();
    for_each_type(&mut Left(&world, &poor, 0));
    assert_eq!(world.despawn_batch(poor), count);
    assert!(world.is_empty());
    world.verify().unwrap();
}

#[derive(Component)]
#[component(track)]
struct Heat(u32);

#[derive(Component)]
#[component(storage = Hashed)]
struct Rare(#[expect(dead_code, reason = "for its memory")] String);

/// A little of everything, the same each time; ends as it began.
fn cycle(world: &mut World, schedule: &mut Schedule) {
    let mut rng = Rng::new(7);
    let mut gone = world.removed::<Heat>();
    let mut living: Vec<Entity> = Vec::new();
    for round in 0..40 {
        living.extend(
            world.spawn_batch((0..50).map(|n| (Place([0.0; 2]), Speed([1.0; 2]), Heat(n)))),
        );
        for _ in 0..100 {
            let entity = living[rng.below(living.len())];
            match rng.below(5) {
                0 => world.insert(entity, Rare(round.to_string())).unwrap(),
                1 => drop(world.remove::<Rare>(entity).unwrap()),
                2 => drop(world.remove::<Speed>(entity).unwrap()),
                3 => world.insert(entity, Speed([2.0; 2])).unwrap(),
                _ => world.insert(entity, Heat(round)).unwrap(),
            }
        }
        for _ in 0..20 {
            let entity = living.swap_remove(rng.below(living.len()));
            world.despawn(entity).unwrap();
        }
        schedule.step(world);
        assert!(gone.read(world).len() <= 70);
    }
    world.clear();
    world.refresh();
}

#[test]
fn the_same_work_for_ever_takes_the_same_memory() {
    let time = number_from("ESKER_LOAD_SECONDS").map(|seconds| Duration::from_secs(seconds as u64));
    // The workers come to be when a step seems worth it, which may be after hours; they stay.
    #[cfg(feature = "parallel")]
    rayon::broadcast(|_| {
        rayon::join(|| (), || ());
        join_team();
    });
    join_team();
    let mut world = World::new();
    world.group::<(Place, Speed)>().build().unwrap();
    world.on_add::<Rare>(|_: &World, entity: Entity, commands: &mut Commands<'_, '_>| {
        commands.insert(entity, Mark(1));
    });
    let mut schedule = Schedule::new();
    schedule.add_systems((
        |mut moved: Query<(&mut Place, &Speed)>| {
            moved.iter_mut().for_each(|(place, speed)| place.0[0] += speed.0[0]);
        },
        |hot: Query<(Entity, &Heat), Changed<Heat>>, mut commands: Commands| {
            for (entity, heat) in hot.iter().filter(|(_, heat)| heat.0 % 3 == 0) {
                commands.insert(entity, Health(heat.0));
            }
        },
        |marked: Query<Entity, With<Mark>>, mut commands: Commands| {
            marked.iter().for_each(|entity| commands.remove::<Mark>(entity));
            commands.spawn(Health(0));
        },
    ));

    for _ in 0..8 {
        cycle(&mut world, &mut schedule);
    }
    let (settled, begun) = (in_use_by_team(), Instant::now());
    let mut cycles = 0;
    while cycles < 8 || time.is_some_and(|time| begun.elapsed() < time) {
        cycle(&mut world, &mut schedule);
        cycles += 1;
        let used = in_use_by_team();
        assert!(
            used <= settled + settled / 100,
            "{used} bytes after {cycles} cycles, not {settled}"
        );
        if cycles % 5000 == 0 {
            eprintln!("{cycles} cycles: {used} bytes");
        }
    }

    println!("{cycles} cycles: {settled} bytes before, {} after", in_use_by_team());
    world.verify().unwrap();
}
