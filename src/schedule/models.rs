//! The hand-over of systems under all orders of the threads (T1, T2). See `crate::sync`.
//!
//! A task is a thread of loom's here, and the end of the scope is that all of them are joined; that
//! part is rayon's in a schedule. All else is what a schedule runs.

use std::cell::RefCell;
use std::panic::resume_unwind;

use loom::cell::Cell;
use loom::sync::Arc;
use loom::thread::{self, JoinHandle};

use super::handover::{Crew, Handover};
use super::outcome::{Failure, Outcome};
use crate::component::Component;
use crate::storage::Packed;
use crate::world::{Commands, Queue, World};

/// The edges of a graph: for each system those that wait for it.
type Edges = &'static [&'static [usize]];

/// Systems, the crew that runs them, and their tasks.
struct Scope<C, O> {
    crew: C,
    handover: Handover<usize, O>,
    tasks: RefCell<Vec<JoinHandle<()>>>,
}

impl<O: Default + 'static, C: Crew<usize, O> + 'static> Scope<C, O> {
    /// Runs a system for each list of edges; returns the crew, and the outcomes in the serial order.
    fn run(crew: C, edges: Edges) -> (C, Vec<O>) {
        let waits = |place| edges.iter().filter(|behind| behind.contains(&place)).count();
        let handover = Handover::new((0..edges.len()).map(|place| (place, waits(place))));
        let ready = (0..edges.len()).filter(|&place| waits(place) == 0).collect();
        let scope = Arc::new(Self { crew, handover, tasks: RefCell::default() });

        Self::start(&scope, ready);
        while let Some(task) = { scope.tasks.borrow_mut().pop() } {
            task.join().expect("a panic ends in the outcome of its system");
        }

        let scope = Arc::try_unwrap(scope).unwrap_or_else(|_| panic!("all tasks have ended"));
        (scope.crew, scope.handover.into_outcomes().collect())
    }

    fn start(scope: &Arc<Self>, ready: Vec<usize>) {
        scope.handover.carry_on(&scope.crew, ready, |place| {
            let own = Arc::clone(scope);
            let task = thread::spawn(move || {
                let next = own.handover.run_one(&own.crew, place);
                Self::start(&own, next);
            });
            scope.tasks.borrow_mut().push(task);
        });
    }
}

/// Systems that look at what those before them have done. Loom fails a model in which one of them is
/// not ordered after the others.
struct Neighbours {
    edges: Edges,
    /// How often each one ran.
    runs: Vec<Cell<u32>>,
    small: &'static [usize],
    /// Those that panic.
    faulty: &'static [usize],
}

impl Neighbours {
    fn new(edges: Edges) -> Self {
        let runs = edges.iter().map(|_| Cell::new(0)).collect();
        Self { edges, runs, small: &[], faulty: &[] }
    }
}

impl Crew<usize, Outcome> for Neighbours {
    fn run(&self, place: usize, system: usize) -> Outcome {
        assert_eq!(place, system);
        let outcome = Outcome::of(|| {
            let before = (0..place).filter(|&before| self.edges[before].contains(&place));
            for before in before {
                assert_eq!(self.runs[before].get(), 1, "{place} began before {before} was done");
            }
            self.runs[place].set(self.runs[place].get() + 1);
            if self.faulty.contains(&place) {
                resume_unwind(Box::new(place));
            }
            Ok(true)
        });
        match outcome {
            Outcome::Done(_) => Outcome::Done(place as u64),
            failed => failed,
        }
    }

    fn is_small(&self, system: &usize) -> bool {
        self.small.contains(system)
    }

    fn behind(&self, place: usize, each: impl FnMut(usize)) {
        self.edges[place].iter().copied().for_each(each);
    }
}

/// Runs such systems; each must run once, after those it waits for.
fn each_runs_once(neighbours: Neighbours) {
    let edges = neighbours.edges;

    let (neighbours, outcomes) = Scope::run(neighbours, edges);

    let runs: Vec<u32> = neighbours.runs.iter().map(Cell::get).collect();
    assert_eq!(runs, vec![1; edges.len()]);
    let places = outcomes.iter().map(|outcome| match outcome {
        Outcome::Done(place) => *place,
        _ => panic!("a system came out otherwise than it did"),
    });
    assert!(places.eq(0..edges.len() as u64));
}

#[test]
fn two_branches_meet_in_one_system() {
    loom::model(|| each_runs_once(Neighbours::new(&[&[1, 2], &[3], &[3], &[]])));
}

#[test]
fn three_threads_start_what_waited_for_all_of_them() {
    loom::model(|| each_runs_once(Neighbours::new(&[&[3], &[3], &[3], &[]])));
}

#[test]
fn two_systems_start_two_that_wait_for_both() {
    loom::model(|| each_runs_once(Neighbours::new(&[&[2, 3], &[2, 3], &[], &[]])));
}

#[test]
fn small_systems_run_where_somebody_has_come_to_them() {
    loom::model(|| {
        let edges: Edges = &[&[2], &[2, 3], &[4], &[4], &[]];
        each_runs_once(Neighbours { small: &[1, 3], ..Neighbours::new(edges) });
    });
}

#[test]
fn a_panic_lets_the_others_finish_and_the_first_of_the_serial_order_is_kept() {
    loom::model(|| {
        let edges: Edges = &[&[3], &[3], &[], &[]];
        let crew = Neighbours { faulty: &[1, 2], ..Neighbours::new(edges) };

        let (crew, outcomes) = Scope::run(crew, edges);

        assert!(crew.runs.iter().all(|runs| runs.get() == 1), "a system was forgotten");
        assert!(matches!(outcomes[3], Outcome::Done(3)));
        let first = outcomes.into_iter().find_map(|outcome| match outcome {
            Outcome::Failed(failure) => Some(*failure),
            _ => None,
        });
        let Some(Failure::Panic(payload)) = first else { panic!("the panic was lost") };
        assert_eq!(payload.downcast_ref(), Some(&1_usize));
    });
}

#[derive(Debug, PartialEq)]
struct Mark(usize);

impl Component for Mark {
    type Storage = Packed<Self>;
}

/// Systems that record commands for one world, with ids that they reserve there.
struct Recorders {
    world: World,
    edges: Edges,
}

impl Crew<usize, Queue> for Recorders {
    fn run(&self, place: usize, _: usize) -> Queue {
        let mut queue = Queue::default();
        Commands::new(&self.world, &mut queue).spawn(Mark(place));
        queue
    }

    fn is_small(&self, _: &usize) -> bool {
        false
    }

    fn behind(&self, place: usize, each: impl FnMut(usize)) {
        self.edges[place].iter().copied().for_each(each);
    }
}

#[test]
fn commands_of_all_systems_reach_who_applies_them_in_the_serial_order() {
    loom::model(|| {
        let edges: Edges = &[&[], &[], &[]];

        let (Recorders { mut world, .. }, queues) =
            Scope::run(Recorders { world: World::new(), edges }, edges);
        for mut queue in queues {
            world.apply_queue(&mut queue);
        }

        assert_eq!(world.len(), 3);
        assert_eq!(world.pool::<Mark>().as_slice(), [Mark(0), Mark(1), Mark(2)]);
        world.verify().unwrap();
    });
}
