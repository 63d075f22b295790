//! One step of the world: plain functions, called one after the other.

use esker::prelude::*;
use esker::sparse::SparseSet;
use fastrand::Rng;

use crate::grid::{GrazerGrid, Grid, HunterGrid, Member};
use crate::life::*;

const GRASS_GROWS: f32 = 0.03;
const BITE: f32 = 0.05;
const GRAZER_COST: f32 = 0.007;
const FLEEING_COST: f32 = 0.004;
const GRAZER_BIRTH: f32 = 0.7;
const HUNTER_COST: f32 = 0.04;
const HUNTER_HUNGRY: f32 = 0.9;
const HUNTER_BIRTH: f32 = 1.0;
const MEAL: f32 = 0.2;
const REACH: f32 = 0.45;
const FLIGHT: u8 = 3;

/// Lets the world live one step.
pub fn step(world: &mut World) {
    grow(world);
    sort_into_grids(world);
    flee(world);
    flock(world);
    hunt(world);
    travel(world);
    graze(world);
    let prey = feed(world);
    let eaten = world.despawn_batch(&prey);
    let exhausted = live(world);
    let starved = world.despawn_batch(exhausted);
    let births = give_birth(world);

    let mut census = world.resource_mut::<Census>();
    census.births += births;
    census.eaten += eaten;
    census.starved += starved;
    census.grazers = world.pool::<Grazer>().len();
    census.hunters = world.pool::<Hunter>().len();
}

fn grow(world: &World) {
    for cell in &mut world.resource_mut::<Grass>().cells {
        *cell = (*cell + GRASS_GROWS).min(1.0);
    }
}

fn sort_into_grids(world: &World) {
    let member = |(entity, &position, &velocity)| Member { entity, position, velocity };
    type Bodies<'a> = (Entity, &'a Position, &'a Velocity);
    let grazers = world.query_filtered::<Bodies<'_>, With<Grazer>>();
    world.resource_mut::<GrazerGrid>().0.rebuild(grazers.iter().map(member));
    let hunters = world.query_filtered::<Bodies<'_>, With<Hunter>>();
    world.resource_mut::<HunterGrid>().0.rebuild(hunters.iter().map(member));
}

/// Grazers near a hunter run from it; those that ran long enough calm down.
fn flee(world: &World) {
    let (grazers, hunters) = (world.resource::<GrazerGrid>(), world.resource::<HunterGrid>());
    let mut velocities = world.pool_mut::<Velocity>();
    let mut fleeing = world.pool_mut::<Fleeing>();
    fleeing.retain(|_, fleeing| {
        fleeing.0 -= 1;
        fleeing.0 > 0
    });
    for hunter in hunters.0.members() {
        for grazer in grazers.0.near(hunter.position) {
            let (x, y) = grazers.0.way(hunter.position, grazer.position);
            let velocity = velocities.get_mut(grazer.entity).expect("every grazer moves");
            (velocity.x, velocity.y) = (velocity.x + 0.5 * x, velocity.y + 0.5 * y);
            fleeing.insert(grazer.entity, Fleeing(FLIGHT)).expect("nobody died in this step yet");
        }
    }
}

/// The way to the nearest member of a grid, if one is in sight.
fn nearest(grid: &Grid, from: Position) -> Option<(f32, f32)> {
    let ways = grid.near(from).map(|member| grid.way(from, member.position));
    ways.min_by(|a, b| square(*a).total_cmp(&square(*b)))
}

fn square((x, y): (f32, f32)) -> f32 {
    x * x + y * y
}

/// Grazers at peace go with their neighbours, and to where the grass is.
fn flock(world: &World) {
    let grid = &world.resource::<GrazerGrid>().0;
    let grass = &world.resource::<Grass>().cells;
    let mut rng = world.resource_mut::<Rng>();
    let sums: Vec<_> = (0..grass.len()).map(|cell| sum_of_velocities(grid, cell)).collect();
    let pulls: Vec<_> = (0..grass.len()).map(|cell| pull(grid, grass, &sums, cell)).collect();
    for (&position, velocity) in
        &mut world.query_filtered::<(&Position, &mut Velocity), (With<Grazer>, Without<Fleeing>)>()
    {
        let (x, y) = pulls[grid.cell(position)];
        velocity.x = 0.7 * velocity.x + x + jitter(&mut rng);
        velocity.y = 0.7 * velocity.y + y + jitter(&mut rng);
    }
}

fn sum_of_velocities(grid: &Grid, cell: usize) -> (f32, f32, f32) {
    let members = grid.members_of(cell).iter();
    members.fold((0.0, 0.0, 0.0), |(x, y, n), m| (x + m.velocity.x, y + m.velocity.y, n + 1.0))
}

/// Where a cell pulls its grazers: a part of the mean velocity around, and up the slope of grass.
fn pull(grid: &Grid, grass: &[f32], sums: &[(f32, f32, f32)], cell: usize) -> (f32, f32) {
    let around = grid.cells_around(cell).map(|cell| sums[cell]);
    let (x, y, n) = around.fold((0.0, 0.0, 1e-6), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2));
    let [left, right, up, down] = grid.beside(cell).map(|cell| grass[cell]);
    (0.3 * x / n + 0.04 * (right - left), 0.3 * y / n + 0.04 * (down - up))
}

fn jitter(rng: &mut Rng) -> f32 {
    (rng.f32() - 0.5) * 0.04
}

/// Hungry hunters turn to the nearest grazer; the others stroll.
fn hunt(world: &World) {
    let grid = &world.resource::<GrazerGrid>().0;
    let mut rng = world.resource_mut::<Rng>();
    for (&position, velocity, hungry) in
        &mut world.query_filtered::<(&Position, &mut Velocity, Option<&Hungry>), With<Hunter>>()
    {
        let prey = hungry.and_then(|_| nearest(grid, position));
        let (x, y) = prey.unwrap_or((0.0, 0.0));
        velocity.x += 0.3 * x + jitter(&mut rng);
        velocity.y += 0.3 * y + jitter(&mut rng);
    }
}

/// Everyone moves, as fast as its state allows.
fn travel(world: &World) {
    let side = world.resource::<GrazerGrid>().0.side() as f32;
    type Mood<'a> = (Option<&'a Fleeing>, Option<&'a Hungry>);
    for (position, velocity, mood) in &mut world.query::<(&mut Position, &mut Velocity, Mood<'_>)>()
    {
        let top = match mood {
            (Some(_), _) => 0.12,
            (_, Some(_)) => 0.25,
            _ => 0.09,
        };
        let speed = square((velocity.x, velocity.y)).sqrt();
        if speed > top {
            velocity.x *= top / speed;
            velocity.y *= top / speed;
        }
        position.x = (position.x + velocity.x).rem_euclid(side);
        position.y = (position.y + velocity.y).rem_euclid(side);
    }
}

fn graze(world: &World) {
    let grid = &world.resource::<GrazerGrid>().0;
    let grass = &mut world.resource_mut::<Grass>().cells;
    for (&position, energy) in
        &mut world.query_filtered::<(&Position, &mut Energy), (With<Grazer>, Without<Fleeing>)>()
    {
        let cell = &mut grass[grid.cell(position)];
        let bite = cell.min(BITE);
        *cell -= bite;
        energy.0 += bite;
    }
}

/// Hungry hunters eat what is in reach; returns who was eaten.
fn feed(world: &World) -> SparseSet {
    let grid = &world.resource::<GrazerGrid>().0;
    let mut eaten = SparseSet::new();
    for (&position, energy) in &mut world.query_filtered::<(&Position, &mut Energy), With<Hungry>>()
    {
        let in_reach = |prey: &&Member| square(grid.way(position, prey.position)) < REACH * REACH;
        // The first to come gets it: `insert` is false for one who is eaten already.
        if grid.near(position).filter(in_reach).any(|prey| eaten.insert(prey.entity)) {
            energy.0 += MEAL;
        }
    }
    eaten
}

/// Living costs; returns who cannot pay. Hunters become hungry and sated on the way.
fn live(world: &World) -> Vec<Entity> {
    let mut exhausted = Vec::new();
    for (entity, energy, fleeing) in
        &mut world.query_filtered::<(Entity, &mut Energy, Option<&Fleeing>), With<Grazer>>()
    {
        energy.0 -= GRAZER_COST + fleeing.map_or(0.0, |_| FLEEING_COST);
        if energy.0 < 0.0 {
            exhausted.push(entity);
        }
    }
    let mut hungry = world.pool_mut::<Hungry>();
    for (entity, energy) in &mut world.query_filtered::<(Entity, &mut Energy), With<Hunter>>() {
        energy.0 -= HUNTER_COST;
        if energy.0 < 0.0 {
            exhausted.push(entity);
        } else if energy.0 < HUNTER_HUNGRY {
            hungry.insert(entity, Hungry).expect("a query yields the living");
        } else {
            hungry.remove(entity);
        }
    }
    exhausted
}

/// Who has enough for two becomes two; returns how many were born.
fn give_birth(world: &mut World) -> usize {
    let calves = litter::<Grazer>(world, GRAZER_BIRTH);
    let cubs = litter::<Hunter>(world, HUNTER_BIRTH);
    let births = calves.len() + cubs.len();
    world.spawn_batch(calves.into_iter().map(|calf| (calf, Grazer)));
    world.spawn_batch(cubs.into_iter().map(|cub| (cub, Hunter)));
    births
}

fn litter<Kind: Component>(world: &World, threshold: f32) -> Vec<Body> {
    let mut litter = Vec::new();
    for (&position, &velocity, energy) in
        &mut world.query_filtered::<(&Position, &Velocity, &mut Energy), With<Kind>>()
    {
        if energy.0 > threshold {
            energy.0 /= 2.0;
            let velocity = Velocity { x: -velocity.x, y: -velocity.y };
            litter.push(Body { position, velocity, energy: *energy });
        }
    }
    litter
}
