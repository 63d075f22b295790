//! Operations that move entities about, or the whole world: groups, order, readers, listeners,
//! commands, snapshots. They come in runs of their own, because the order of pools is not foretold.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use esker::snapshot::{Rollback, SnapshotTypes};
use esker::world::{GroupConflict, GroupId, MessageCursor, RemovedCursor};
use esker::{Added, Changed, Commands, Component, Entity, Tick, World};
use rayon::iter::ParallelIterator;

use crate::kinds::*;
use crate::ops::{self, Operation};
use crate::run::{Model, Run};

/// The operations with their names.
pub const OPERATIONS: &[(&str, Operation)] = &[
    ("group", group),
    ("group again", group),
    ("ungroup", ungroup),
    ("sort a pool", sort_pool),
    ("sort a group", sort_group),
    ("align", align),
    ("advance_tick", advance_tick),
    ("changes since", changes),
    ("refresh", refresh),
    ("read removals", removals),
    ("messages", messages),
    ("listener that acts", spark),
    ("commands of a system", commands),
    ("reactive set", reacted),
    ("load in place", load_in_place),
    ("load and go on", load_and_go_on),
    ("try_clone and go on", clone_and_go_on),
    ("rollback", rollback),
    ("parallel query", parallel),
];

/// Makes a listener do something to another entity.
#[derive(Component, Debug)]
struct Spark(usize, Entity);

/// The entities that have got or lost an `Aligned`.
struct Touched;

/// How often each entity was heard to get a `Stable`, less how often to lose it.
type Heard = Arc<Mutex<BTreeMap<Entity, i32>>>;

type Build = fn(&mut World) -> Result<GroupId, GroupConflict>;

/// Conditions of groups: kinds to have, kinds not to have, and how to build it.
const GROUPS: &[(&[usize], &[usize], Build)] = &[
    (&[0, 1], &[], |world| world.group::<(Plain, Owned)>().build()),
    (&[0, 1, 8], &[], |world| world.group::<(Plain, Owned, Watched)>().build()),
    (&[0, 1, 2], &[5], |world| {
        world.group::<(Plain, Owned)>().observe::<Stable>().exclude::<Tag>().build()
    }),
    (&[6, 2], &[], |world| world.group::<Aligned>().observe::<Stable>().build()),
    (&[4], &[5], |world| world.group::<()>().observe::<Rare>().exclude::<Tag>().build()),
    (&[4, 9], &[], |world| world.group::<(Rare, Foreign)>().build()),
    (&[9, 8], &[], |world| world.group::<(Foreign, Watched)>().build()),
    (&[9], &[7], |world| world.group::<Foreign>().exclude::<Ghost>().build()),
];

#[derive(Debug)]
pub struct Wild {
    groups: Vec<(GroupId, usize)>,
    readers: (RemovedCursor<Owned>, RemovedCursor<Rare>, RemovedCursor<Watched>),
    mail: MessageCursor<u64>,
    sent: Vec<u64>,
    heard: Heard,
    types: SnapshotTypes,
    /// Up to here changes were looked at.
    seen: Tick,
}

impl Wild {
    /// Starts to listen and to read; what is there already counts as heard.
    pub fn new(world: &mut World) -> Self {
        let heard = Heard::default();
        let living = world.pool::<Stable>().entities().to_vec();
        heard.lock().unwrap().extend(living.into_iter().map(|entity| (entity, 1)));
        for (is_add, step) in [(true, 1), (false, -1)] {
            let heard = Arc::clone(&heard);
            let hear = move |_: &World, entity: Entity, _: &mut Commands<'_, '_>| {
                *heard.lock().unwrap().entry(entity).or_default() += step;
            };
            _ = if is_add { world.on_add::<Stable>(hear) } else { world.on_remove::<Stable>(hear) };
        }
        _ = world.on_add::<Spark>(|world, entity, commands| {
            let Some(&Spark(act, target)) = world.get::<Spark>(entity).as_deref() else { return };
            commands.remove::<Spark>(entity);
            match act {
                0 => commands.despawn(target),
                1 => commands.remove::<(Owned, Rare)>(target),
                2 => commands.insert(target, Tag),
                _ => _ = commands.spawn(Tag),
            }
        });
        world.reactive::<Touched>().added::<Aligned>().removed::<Aligned>().build();
        let readers = (world.removed(), world.removed(), world.removed());
        let types = SnapshotTypes::new().ignore::<Spark>().ignore_resource::<()>();
        let types = types.component::<Plain>().component::<Owned>().component::<Stable>();
        let types = types.component::<Wide>().component::<Rare>().component::<Tag>();
        let types = types.component::<Aligned>().component::<Ghost>().component::<Watched>();
        let types = types.component::<Foreign>().registered_only();
        let (groups, sent, mail) = (Vec::new(), Vec::new(), world.message_cursor());
        Self { groups, readers, mail, sent, heard, types, seen: world.advance_tick() }
    }

    /// Groups against brute force.
    #[track_caller]
    pub fn compare(&self, world: &World, model: &Model) {
        for &(group, nth) in &self.groups {
            let (with, without, _) = GROUPS[nth];
            let fits = |&entity: &Entity| {
                with.iter().all(|&kind| model.has(entity, kind))
                    && !without.iter().any(|&kind| model.has(entity, kind))
            };
            let expected: Vec<Entity> = model.rows.keys().copied().filter(fits).collect();
            let mut members = world.grouped::<Entity>(group).unwrap().entities().to_vec();
            members.sort_unstable();
            assert_eq!(members, expected, "members of group {nth}");
            assert_eq!(world.group_len(group), Some(expected.len()));
        }
    }
}

fn wild(run: &mut Run) -> &mut Wild {
    run.wild.as_mut().expect("wild operations come in wild runs")
}

fn group(run: &mut Run) {
    let nth = run.rng.below(GROUPS.len());
    let built = GROUPS[nth].2(&mut run.world);
    if let Ok(group) = built
        && wild(run).groups.iter().all(|&(other, _)| other != group)
    {
        wild(run).groups.push((group, nth));
    }
    run.adopt_order();
    run.compare();
}

fn ungroup(run: &mut Run) {
    let count = wild(run).groups.len();
    if count > 0 {
        let at = run.rng.below(count);
        let (group, _) = wild(run).groups.swap_remove(at);
        assert!(run.world.ungroup(group) && !run.world.ungroup(group));
    }
}

fn sort_pool(run: &mut Run) {
    let kind = run.any_kind();
    with_kind!(kind, K => {
        let mut pool = run.world.pool_mut::<K>();
        if pool.sort_by(|a, b| a.value().cmp(&b.value())).is_ok() {
            let values: Vec<u64> = pool.iter().map(|(_, value)| value.value()).collect();
            assert!(values.is_sorted());
        }
    });
    run.adopt_order();
    run.compare();
}

fn sort_group(run: &mut Run) {
    for (group, _) in wild(run).groups.clone() {
        run.world.sort_group_by::<Entity>(group, |a, b| b.cmp(a)).unwrap();
    }
    run.adopt_order();
    run.compare();
}

fn align(run: &mut Run) {
    _ = run.world.align::<(Plain, Aligned, Foreign)>();
    run.adopt_order();
    run.compare();
}

fn advance_tick(run: &mut Run) {
    wild(run).seen = run.world.advance_tick();
}

fn changes(run: &mut Run) {
    let seen = wild(run).seen;
    let find = |tick: fn(&(u64, u64)) -> u64| -> Vec<Entity> {
        let later = run.model.ticks.iter().filter(|(_, ticks)| tick(ticks) > seen.get());
        later.map(|(&entity, _)| entity).collect()
    };
    let sorted = |mut found: Vec<Entity>| {
        found.sort_unstable();
        found
    };
    let world = &run.world;
    let added = world.query_filtered::<Entity, Added<Watched>>().since(seen).iter().collect();
    assert_eq!(sorted(added), find(|ticks| ticks.0), "added since {seen:?}");
    let changed = world.query_filtered::<Entity, Changed<Watched>>().since(seen).iter().collect();
    assert_eq!(sorted(changed), find(|ticks| ticks.1), "changed since {seen:?}");
}

/// Listeners have heard of everything then, also of what was done through `&World`.
fn refresh(run: &mut Run) {
    run.world.refresh();
    run.adopt_order();
    let heard = wild(run).heard.lock().unwrap().clone();
    for (entity, net) in heard {
        assert_eq!(net, i32::from(run.model.has(entity, Stable::NUMBER)), "heard of {entity}");
    }
}

fn removals(run: &mut Run) {
    let Run { world, model, wild, .. } = run;
    let readers = &mut wild.as_mut().expect("a wild run").readers;
    let read = [
        (Owned::NUMBER, readers.0.read(world).entities().collect::<Vec<_>>()),
        (Rare::NUMBER, readers.1.read(world).entities().collect()),
        (Watched::NUMBER, readers.2.read(world).entities().collect()),
    ];
    for (kind, mut removed) in read {
        let mut expected = std::mem::take(&mut model.lost[kind]);
        removed.sort_unstable();
        expected.sort_unstable();
        assert_eq!(removed, expected, "removals of kind {kind}");
    }
}

fn messages(run: &mut Run) {
    let word = run.rng.next();
    run.world.send(word);
    wild(run).sent.push(word);
    if run.rng.one_in(3) {
        let Run { world, wild, .. } = run;
        let wild = wild.as_mut().expect("a wild run");
        let read: Vec<u64> = wild.mail.read(world).iter().copied().collect();
        assert_eq!(read, std::mem::take(&mut wild.sent));
    }
}

fn spark(run: &mut Run) {
    let (entity, target, act) = (run.living_id(), run.any_id(), run.rng.below(4));
    // What is reserved comes to life with the next operation, whatever that is.
    run.world.settle();
    if run.world.insert(entity, Spark(act, target)).is_err() {
        return assert!(!run.model.is_alive(entity));
    }
    let alive = run.model.is_alive(target);
    match act {
        0 => _ = run.bury(target),
        1 => [Owned::NUMBER, Rare::NUMBER].into_iter().for_each(|kind| {
            run.model.take(target, kind);
        }),
        2 if alive => _ = run.model.put(target, Tag::NUMBER, 0),
        2 => {}
        _ => {
            let born = run.model.ids.reserve().expect("ids are not limited");
            run.model.born(born, &[(Tag::NUMBER, 0)]);
        }
    }
}

fn commands(run: &mut Run) {
    let plan: Vec<(usize, Entity)> = (0..4).map(|_| (run.rng.below(3), run.any_id())).collect();
    let mut values: Vec<Option<Foreign>> = Vec::new();
    let mut numbers = Vec::new();
    for &(_, entity) in &plan {
        let (value, number) = run.maker.make::<Foreign>(entity);
        values.push(Some(value));
        numbers.push(number);
    }
    let acts = plan.clone();
    run.world.run_system(move |mut commands: Commands<'_, '_>| {
        for (&(act, entity), value) in acts.iter().zip(&mut values) {
            match (act, value.take()) {
                (0, Some(value)) => commands.insert(entity, value),
                (1, _) => commands.remove::<(Owned, Foreign)>(entity),
                _ => commands.despawn(entity),
            }
        }
    });
    run.model.now = run.world.tick().get();
    for ((act, entity), number) in plan.into_iter().zip(numbers) {
        match act {
            0 if run.model.is_alive(entity) => {
                run.model.put(entity, Foreign::NUMBER, number);
            }
            0 => {}
            1 => [Owned::NUMBER, Foreign::NUMBER].into_iter().for_each(|kind| {
                run.model.take(entity, kind);
            }),
            _ => _ = run.bury(entity),
        }
    }
    run.adopt_order();
}

/// Whoever has lost an `Aligned` was collected, and whoever has got one.
fn reacted(run: &mut Run) {
    run.world.refresh();
    run.adopt_order();
    let touched = run.world.drain_reacted::<Touched>();
    for entity in std::mem::take(&mut run.model.lost[Aligned::NUMBER]) {
        assert!(touched.contains(&entity), "{entity} has lost it");
    }
    assert!(run.world.drain_reacted::<Touched>().is_empty());
}

/// All values count as added now.
fn renew_ticks(run: &mut Run) {
    run.model.now = run.world.tick().get();
    for entity in run.model.order[Watched::NUMBER].clone() {
        run.model.ticks.insert(entity, (run.model.now, run.model.now));
    }
}

fn load_in_place(run: &mut Run) {
    let types = wild(run).types.clone();
    let bytes = types.save().to_bytes(&run.world).unwrap();
    types.load().replace(&mut run.world, &bytes).unwrap();
    for kind in 0..KINDS {
        let all = run.model.order[kind].clone();
        run.model.lost[kind].extend(all);
    }
    renew_ticks(run);
    assert_eq!(types.save().to_bytes(&run.world).unwrap(), bytes, "saved again");
}

/// Goes on with another world, which has neither groups nor readers yet.
fn move_to(run: &mut Run, world: World) {
    run.world = world;
    run.model.lost = Default::default();
    for kind in 0..KINDS {
        // In the order in which the model knows them, as far as the world does not.
        with_kind!(kind, K => _ = run.world.register::<K>());
    }
    run.model.known.sort_by_key(|&kind| with_kind!(kind, K => run.world.component_id::<K>()));
    run.wild = Some(Wild::new(&mut run.world));
    run.adopt_order();
}

fn load_and_go_on(run: &mut Run) {
    let types = wild(run).types.clone();
    let bytes = types.save().to_bytes(&run.world).unwrap();
    let world = types.load().to_world(&bytes).unwrap();
    run.world = World::new();
    move_to(run, world);
    let now = run.world.tick().get();
    for ticks in run.model.ticks.values_mut() {
        *ticks = (now, now);
    }
    wild(run).seen = run.world.advance_tick();
}

fn clone_and_go_on(run: &mut Run) {
    let types = wild(run).types.clone();
    let clone = types.clone_world(&run.world).unwrap();
    assert_eq!(
        types.hash_world(&clone).unwrap(),
        types.hash_world(&run.world).unwrap(),
        "a clone is the same"
    );
    // It has the groups, but nobody has its ids: they go on unnamed.
    move_to(run, clone);
}

fn rollback(run: &mut Run) {
    // Nobody is told of it, so nothing must be waiting to be told.
    run.world.refresh();
    run.adopt_order();
    run.model.now = run.world.tick().get();
    let mut past = Rollback::new(wild(run).types.clone(), 1);
    past.keep(&run.world).unwrap();
    let kept = run.model.clone();
    for _ in 0..run.rng.below(4) {
        let act = run.rng.pick(&[ops::spawn as Operation, ops::despawn, ops::insert, ops::remove]);
        act(run);
        run.adopt_order();
    }
    past.back(&mut run.world, 0).unwrap();
    drop(past);
    let lost = std::mem::take(&mut run.model.lost);
    run.model = Model { lost, ..kept };
    let heard = run.model.order[Stable::NUMBER].iter().map(|&entity| (entity, 1)).collect();
    *wild(run).heard.lock().unwrap() = heard;
}

fn parallel(run: &mut Run) {
    let mut found: Vec<(Entity, u64)> = run
        .world
        .query::<(Entity, &Owned, Option<&Rare>)>()
        .par_iter()
        .map(|(entity, owned, rare)| (entity, owned.value() ^ rare.map_or(0, Kind::value)))
        .collect();
    found.sort_unstable();
    let rows = run.model.rows.iter().filter(|(_, row)| row.contains_key(&Owned::NUMBER));
    let value = |row: &BTreeMap<usize, u64>| row[&Owned::NUMBER] ^ row.get(&4).unwrap_or(&0);
    assert!(found.into_iter().eq(rows.map(|(&entity, row)| (entity, value(row)))));
}
