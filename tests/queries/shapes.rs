//! The shapes of queries that are tested, and how one is tested.

use esker::{AnyOf, Entity, EntityRef, Has, Or, Query, With, Without, World};

use crate::Rng;
use crate::kinds::{A, B, C, Kind, Rare, Stable, Tag, Text};
use crate::model::Want;
use crate::reads::{self, Read};
use crate::scene::{Scene, shuffle};
use crate::slices::SliceTerm;
use crate::terms::{Condition, Term};
use crate::writes::{self, Write};

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    Walks,
    Parts,
    Sizes,
    Lookups,
    Combinations,
    Parallel,
    Runs,
    Writes,
    Explanations,
}

/// Tests one shape in a world.
pub type Shape = fn(&mut Scene, &[Topic]);

/// A way to use a query.
enum Way<D: Term, F: Condition> {
    Read(Read<D, F>),
    Write(Write<D, F>),
}

impl<D: Term, F: Condition> Clone for Way<D, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: Term, F: Condition> Copy for Way<D, F> {}

fn ways<D: Term, F: Condition>(topic: Topic) -> Vec<Way<D, F>> {
    use Way::{Read, Write};
    match topic {
        Topic::Walks => vec![
            Read(reads::by_next),
            Read(reads::by_for),
            Read(reads::by_for_each),
            Read(reads::by_fold),
        ],
        Topic::Parts => vec![Read(reads::in_parts), Write(writes::in_parts)],
        Topic::Sizes => vec![Read(reads::by_count), Read(reads::by_size_hint)],
        Topic::Lookups => vec![
            Read(reads::by_id),
            Read(reads::by_many_ids),
            Read(reads::as_the_only_one),
            Write(writes::by_id),
            Write(writes::by_many_ids),
            Write(writes::several_at_once),
            Write(writes::as_the_only_one),
        ],
        Topic::Combinations => {
            vec![Read(reads::by_combinations), Write(writes::by_combinations)]
        }
        #[cfg(feature = "parallel")]
        Topic::Parallel => vec![Read(reads::in_parallel), Write(writes::in_parallel)],
        #[cfg(not(feature = "parallel"))]
        Topic::Parallel => vec![],
        Topic::Runs => vec![],
        Topic::Writes => {
            vec![Write(writes::all_lent), Write(writes::by_for), Write(writes::by_for_each)]
        }
        Topic::Explanations => vec![Read(reads::by_explanation)],
    }
}

/// Uses queries of one shape in all these ways.
fn check<D: Term, F: Condition>(
    scene: &mut Scene,
    open: impl for<'w> Fn(&'w mut World, &mut Rng) -> Query<'w, D, F>,
    driven_by: Option<usize>,
    ways: Vec<Way<D, F>>,
) {
    if ways.is_empty() {
        return;
    }
    let Scene { world, model, rng, .. } = scene;
    let mut order = vec![rng.pick(&ways), rng.pick(&ways)];
    order.extend(ways);
    shuffle(rng, &mut order[2..]);

    // Through `&mut World` pools may be brought into another order first.
    _ = world.query_mut::<Entity>();
    model.read_orders(world);
    let mut want = Want::of::<D, F>(model, driven_by);
    for way in order {
        match way {
            Way::Read(read) => read(&open(world, rng), &want, rng),
            Way::Write(write) => {
                for entity in write(&mut open(world, rng), &want, rng) {
                    D::written(model, entity);
                }
                model.assert_values(world);
                want = Want::of::<D, F>(model, driven_by);
            }
        }
    }
}

/// The query, opened in one of both ways.
fn either<'w, D: Term, F: Condition>(world: &'w mut World, rng: &mut Rng) -> Query<'w, D, F> {
    if rng.below(2) == 0 { world.query_filtered() } else { world.query_filtered_mut() }
}

fn shape<D: Term, F: Condition>(scene: &mut Scene, topics: &[Topic]) {
    let ways = topics.iter().flat_map(|&topic| ways(topic)).collect();
    check::<D, F>(scene, either, None, ways);
}

/// As `shape`, for one that can be had as slices.
fn sliced<D: SliceTerm, F: Condition>(scene: &mut Scene, topics: &[Topic]) {
    shape::<D, F>(scene, topics);
    if topics.contains(&Topic::Runs) {
        let ways = vec![Way::Read(reads::by_runs), Way::Write(writes::by_runs)];
        check::<D, F>(scene, either, None, ways);
    }
}

/// As `shape`, in the order of `T`.
fn driven<D: Term, F: Condition, T: Kind>(scene: &mut Scene, topics: &[Topic]) {
    let ways = topics.iter().flat_map(|&topic| ways(topic)).collect();
    check::<D, F>(scene, |world, rng| either(world, rng).drive_by::<T>(), Some(T::NUMBER), ways);
}

type Id = Entity;
type Wide = (&'static A, &'static B, &'static C, &'static Text);

pub const SHAPES: &[Shape] = &[
    // References.
    sliced::<&A, ()>,
    sliced::<(&mut A, &B), ()>,
    sliced::<(Id, &A, &B), ()>,
    sliced::<(Id, &Text, (&mut Rare, (&B, &Tag))), ()>,
    sliced::<(&mut C, &A, &mut Text, &Rare, &B), ()>,
    shape::<(Id, &Stable, &A), ()>,
    shape::<(&mut Stable, &mut Rare, &C), ()>,
    // Many pools, some of them several times.
    sliced::<(Id, (Wide, Wide), (Option<Wide>, Option<Wide>), &mut Tag), ()>,
    // What may be missing.
    sliced::<(Id, Option<&B>), ()>,
    sliced::<(Id, &A, Option<&B>), ()>,
    sliced::<(&A, Option<&mut B>, Option<&Rare>), ()>,
    sliced::<(Id, &C, Option<(&A, &mut Text)>), ()>,
    sliced::<(Id, &B, Option<Option<&C>>, Option<Id>), ()>,
    sliced::<(Id, &A, Option<(Option<&B>, &C)>), ()>,
    shape::<(&B, Option<&mut Stable>, Has<Rare>), ()>,
    // Who has it?
    sliced::<(Id, Has<Tag>), ()>,
    sliced::<(Id, &mut A, Has<Tag>, Has<Rare>), ()>,
    sliced::<(Id, &A, Option<Has<Tag>>, Option<(Has<B>, &C)>), ()>,
    // One of them.
    sliced::<(Id, AnyOf<(&A, &mut B)>), ()>,
    sliced::<(Id, &Text, AnyOf<(&A, &B, Has<Tag>)>), ()>,
    sliced::<(Id, &Rare, AnyOf<((&A, &B), &mut C)>, Option<AnyOf<(&Tag, &Text)>>), ()>,
    // The entity itself.
    shape::<EntityRef<'_>, ()>,
    shape::<(EntityRef<'_>, &A, &mut B), Without<Tag>>,
    sliced::<Id, ()>,
    // Filters.
    sliced::<Id, With<Tag>>,
    sliced::<Id, (With<A>, With<B>)>,
    sliced::<Id, Without<C>>,
    sliced::<(Id, &A), Without<B>>,
    sliced::<&mut A, With<A>>,
    sliced::<(Id, &mut B, &Tag), (With<A>, Without<Rare>, With<Stable>)>,
    sliced::<(Id, &A), Or<(With<B>, Without<C>)>>,
    sliced::<Id, Or<(With<Rare>, (With<A>, Without<Tag>))>>,
    sliced::<(&mut A, Option<&B>), (Or<(Without<Text>, Or<(With<Tag>, With<Rare>)>)>, With<C>)>,
    shape::<(Id, &mut Stable, Option<&A>), Or<(With<A>, With<Tag>)>>,
    // In another order.
    driven::<(Id, &A, &mut B), (), B>,
    driven::<(Id, &A, &B), (), A>,
    driven::<(&mut A, Option<&C>), (With<Rare>, Without<Tag>), Rare>,
];
