//! The hot operations, each in a function of its own, for counting instructions.
//!
//! `cargo xtask instructions` runs this under callgrind and compares the counts with
//! `benches/instructions.txt`. Run by itself it only does the work: `instructions OPERATION`.
//!
//! Memory is made ready beforehand, so that what is counted is Esker and not the allocator.

use std::hint::black_box;

use esker::{Component, Entity, PoolMut, Query, Schedule, World};

/// Entities per operation, or how often it is done; `xtask` divides by it.
const N: usize = 4096;

/// Entities of a world in which what is done once for all of them counts.
const FEW: usize = 16;

#[derive(Component, Clone, Copy, Default)]
struct A([f32; 2]);
#[derive(Component, Clone, Copy, Default)]
struct B([f32; 2]);
#[derive(Component, Clone, Copy, Default)]
struct C([f32; 2]);
#[derive(Component, Clone, Copy, Default)]
struct D([f32; 2]);
#[derive(Component, Clone, Copy, Default)]
struct E([f32; 2]);

type Five = (A, B, C, D, E);

/// Name, how to make the world, and what is counted.
type Operation = (&'static str, fn() -> State, fn(&mut State));

const OPERATIONS: [Operation; 37] = [
    ("spawn_empty", ready, counted_spawn_empty),
    ("spawn_2", ready, counted_spawn_2),
    ("spawn_2_recycled", recycled, counted_spawn_2),
    ("spawn_batch_2", ready, counted_spawn_batch_2),
    ("despawn_2", pairs, counted_despawn),
    ("despawn_batch_2", pairs, counted_despawn_batch),
    ("insert", empties, counted_insert),
    ("replace", pairs, counted_insert),
    ("remove", pairs, counted_remove),
    ("pool_insert", empties, counted_pool_insert),
    ("pool_remove", pairs, counted_pool_remove),
    ("pool_insert_alone", empties, counted_pool_insert_alone),
    ("pool_remove_alone", pairs, counted_pool_remove_alone),
    ("pool_get", pairs, counted_pool_get),
    ("world_get", pairs, counted_world_get),
    ("world_get_mut", pairs, counted_world_get_mut),
    ("has", pairs, counted_has),
    ("query_get_2", pairs, counted_query_get_2),
    ("query_view_2", pairs, counted_query_view_2),
    ("query_view_2_in_one_order", viewed_pairs, counted_query_view_2),
    ("query_1", fives, counted_query_1),
    ("query_2", fives, counted_query_2),
    ("query_5", fives, counted_query_5),
    ("query_2_in_one_order", walked_fives, counted_query_2),
    ("query_2_by_look_ups", walked_mix, counted_query_2),
    ("query_2_in_a_group", grouped_pairs, counted_query_2),
    ("small_query_2", few, counted_small_query_2),
    ("small_query_5", few, counted_small_query_5),
    ("small_step_3", few, counted_small_step_3),
    ("grouped_insert", grouped_singles, counted_insert),
    ("grouped_remove", grouped_pairs, counted_remove),
    ("grouped_pool_insert", grouped_singles, counted_pool_insert),
    ("grouped_pool_remove", grouped_pairs, counted_pool_remove),
    ("grouped_pool_insert_alone", grouped_singles, counted_pool_insert_alone),
    ("grouped_pool_remove_alone", grouped_pairs, counted_pool_remove_alone),
    ("grouped_spawn_2", grouped_ready, counted_spawn_2),
    ("grouped_despawn_2", grouped_pairs, counted_despawn),
];

#[derive(Default)]
struct State {
    world: World,
    ids: Vec<Entity>,
    schedule: Schedule,
}

/// A world that has never had an entity, with room for `N` of them.
///
/// Pages of slots are made on the way: they belong to what a first spawn costs.
fn ready() -> State {
    let mut world = World::new();
    world.reserve(N);
    world.register::<A>();
    world.register::<B>();
    world.pool_mut::<A>().reserve(N);
    world.pool_mut::<B>().reserve(N);
    State { world, ..State::default() }
}

/// A world in which `N` entities have lived and died.
fn recycled() -> State {
    let mut state = pairs();
    for id in state.ids.drain(..).rev() {
        state.world.despawn(id).expect("it is alive");
    }
    state
}

fn empties() -> State {
    let mut state = recycled();
    state.ids = (0..N).map(|_| state.world.spawn_empty()).collect();
    state
}

fn pairs() -> State {
    let mut world = World::new();
    let ids = (0..N).map(|_| world.spawn((A::default(), B::default()))).collect();
    State { world, ids, ..State::default() }
}

/// Pairs of which it is known that their pools are in one order.
fn viewed_pairs() -> State {
    let state = pairs();
    (0..2).for_each(|_| _ = state.world.query::<(&A, &B)>().view());
    state
}

fn fives() -> State {
    let mut world = World::new();
    let ids = (0..N).map(|_| world.spawn(Five::default())).collect();
    State { world, ids, ..State::default() }
}

/// A small world and a schedule for it, of which the queries have been walked before.
fn few() -> State {
    fn add_b(mut query: Query<(&mut A, &B)>) {
        query.iter_mut().for_each(|(a, b)| a.0[0] += b.0[0]);
    }
    fn add_c_to_d(mut query: Query<(&mut D, &C)>) {
        query.iter_mut().for_each(|(d, c)| d.0[0] += c.0[0]);
    }
    fn add_c_to_e(mut query: Query<(&mut E, &C)>) {
        query.iter_mut().for_each(|(e, c)| e.0[0] += c.0[0]);
    }
    let mut state = State::default();
    state.ids = (0..FEW).map(|_| state.world.spawn(Five::default())).collect();
    // Serial: callgrind is slow enough for threads to seem worth it.
    state.schedule.add_systems((add_b, add_c_to_d, add_c_to_e)).set_serial(true);
    for _ in 0..2 {
        state.schedule.step(&mut state.world);
        small_query_5(&mut state.world);
    }
    state
}

/// As `fives`; the pools are known to be in one order.
fn walked_fives() -> State {
    let state = fives();
    walk_twice(&state.world);
    state
}

/// Pools in different orders, which were compared.
fn walked_mix() -> State {
    let mut state = empties();
    for at in 0..N {
        // An odd step visits all of them.
        let id = state.ids[at * 2001 % N];
        state.world.insert(id, A::default()).expect("it is alive");
    }
    for &id in &state.ids {
        state.world.insert(id, B::default()).expect("it is alive");
    }
    walk_twice(&state.world);
    state
}

/// The second walk compares the pools.
fn walk_twice(world: &World) {
    for _ in 0..2 {
        world.query::<(&mut A, &B)>().iter_mut().for_each(|(a, b)| a.0[0] += b.0[0]);
    }
}

fn grouped_ready() -> State {
    let mut state = ready();
    state.world.group::<(A, B)>().build().expect("it is the only group");
    state
}

fn grouped_pairs() -> State {
    let mut state = pairs();
    state.world.group::<(A, B)>().build().expect("it is the only group");
    state
}

/// Entities that lack one component for their group.
fn grouped_singles() -> State {
    let mut state = grouped_pairs();
    state.ids.iter().for_each(|&id| _ = state.world.remove::<B>(id));
    state
}

#[inline(never)]
fn counted_spawn_empty(state: &mut State) {
    for _ in 0..N {
        black_box(state.world.spawn_empty());
    }
}

#[inline(never)]
fn counted_spawn_2(state: &mut State) {
    for _ in 0..N {
        black_box(state.world.spawn((A::default(), B::default())));
    }
}

#[inline(never)]
fn counted_spawn_batch_2(state: &mut State) {
    state.world.spawn_batch((0..N).map(|_| (A::default(), B::default())));
}

#[inline(never)]
fn counted_despawn(state: &mut State) {
    for &id in &state.ids {
        black_box(state.world.despawn(id)).expect("it is alive");
    }
}

#[inline(never)]
fn counted_despawn_batch(state: &mut State) {
    let died = state.world.despawn_batch(state.ids.iter().copied());
    assert_eq!(died, state.ids.len(), "they are alive");
}

#[inline(never)]
fn counted_insert(state: &mut State) {
    for &id in &state.ids {
        black_box(state.world.insert(id, B([1.0, 2.0]))).expect("it is alive");
    }
}

#[inline(never)]
fn counted_remove(state: &mut State) {
    for &id in &state.ids {
        black_box(state.world.remove::<B>(id)).expect("it is alive");
    }
}

#[inline(never)]
fn counted_pool_insert(state: &mut State) {
    insert_into(state.world.pool_mut(), &state.ids);
}

#[inline(never)]
fn counted_pool_insert_alone(state: &mut State) {
    insert_into(state.world.edit_pool(), &state.ids);
}

#[inline(always)]
fn insert_into(mut pool: PoolMut<'_, B>, ids: &[Entity]) {
    for &id in ids {
        black_box(pool.insert(id, B([1.0, 2.0]))).expect("it is alive");
    }
}

#[inline(never)]
fn counted_pool_remove(state: &mut State) {
    remove_from(state.world.pool_mut(), &state.ids);
}

#[inline(never)]
fn counted_pool_remove_alone(state: &mut State) {
    remove_from(state.world.edit_pool(), &state.ids);
}

#[inline(always)]
fn remove_from(mut pool: PoolMut<'_, B>, ids: &[Entity]) {
    for &id in ids {
        black_box(pool.remove(id));
    }
}

#[inline(never)]
fn counted_pool_get(state: &mut State) {
    let pool = state.world.pool::<B>();
    for &id in &state.ids {
        black_box(pool.get(id));
    }
}

#[inline(never)]
fn counted_world_get(state: &mut State) {
    for &id in &state.ids {
        black_box(state.world.get::<B>(id).is_some());
    }
}

#[inline(never)]
fn counted_world_get_mut(state: &mut State) {
    for &id in &state.ids {
        black_box(state.world.get_mut::<B>(id));
    }
}

#[inline(never)]
fn counted_has(state: &mut State) {
    for &id in &state.ids {
        black_box(state.world.has::<B>(id));
    }
}

#[inline(never)]
fn counted_query_get_2(state: &mut State) {
    let query = state.world.query::<(&A, &B)>();
    for &id in &state.ids {
        black_box(query.get(id));
    }
}

#[inline(never)]
fn counted_query_view_2(state: &mut State) {
    let query = state.world.query::<(&A, &B)>();
    let view = query.view();
    for &id in &state.ids {
        black_box(view.get(id));
    }
}

#[inline(never)]
fn counted_query_1(state: &mut State) {
    state.world.query::<&mut A>().iter_mut().for_each(|a| a.0[0] += 1.0);
}

#[inline(never)]
fn counted_query_2(state: &mut State) {
    state.world.query::<(&mut A, &B)>().iter_mut().for_each(|(a, b)| a.0[0] += b.0[0]);
}

#[inline(never)]
fn counted_query_5(state: &mut State) {
    let mut query = state.world.query::<(&mut A, &B, &C, &D, &E)>();
    query.iter_mut().for_each(|(a, b, c, d, e)| a.0[0] += b.0[0] * c.0[0] + d.0[0] * e.0[0]);
}

#[inline(never)]
fn counted_small_query_2(state: &mut State) {
    for _ in 0..N {
        let mut query = state.world.query_mut::<(&mut A, &B)>();
        query.iter_mut().for_each(|(a, b)| a.0[0] += b.0[0]);
    }
}

#[inline(never)]
fn counted_small_query_5(state: &mut State) {
    (0..N).for_each(|_| small_query_5(&mut state.world));
}

fn small_query_5(world: &mut World) {
    let mut query = world.query_mut::<(&mut A, &B, &C, &D, &E)>();
    query.iter_mut().for_each(|(a, b, c, d, e)| a.0[0] += b.0[0] * c.0[0] + d.0[0] * e.0[0]);
}

#[inline(never)]
fn counted_small_step_3(state: &mut State) {
    for _ in 0..N {
        black_box(state.schedule.step(&mut state.world));
    }
}

fn main() {
    let asked: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if asked.is_empty() {
        // What `xtask` reads: the operations, and the entities of each.
        println!("{N}");
        OPERATIONS.iter().for_each(|(name, ..)| println!("{name}"));
    }
    for (name, make, operation) in OPERATIONS {
        if asked.iter().any(|word| word == name) {
            let mut state = make();
            operation(&mut state);
            black_box(&state.world);
        }
    }
}
