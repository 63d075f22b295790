//! The derives: what they accept, what they make, and what they say when something is wrong.
//!
//! The cases in `tests/ui` do not compile, and the file beside each says with which words.
//! `TRYBUILD=overwrite cargo test --test derives` writes them anew; read them before you commit.

#![cfg(feature = "derive")]

use std::marker::PhantomData;

use esker::prelude::*;
use esker::storage::{Hashed, Indexed, Packed};
use esker::world::Bundle as BundleTrait;

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Position(f32, f32);

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Velocity {
    x: f32,
    y: f32,
}

#[derive(Component, Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Running(u8),
}

#[derive(Component, Debug, Clone, Copy, PartialEq, Eq)]
struct Tag;

mod components {
    use super::*;

    /// Compiles if the storage of `T` is `S`.
    fn stored_in<T: Component<Storage = S>, S>() {}

    #[derive(Component)]
    #[component(storage = Packed)]
    struct InPacked;

    #[derive(Component)]
    #[component(storage = Indexed)]
    struct InIndexed;

    #[derive(Component)]
    #[component(storage = Hashed)]
    struct InHashed;

    #[derive(Component)]
    #[component(storage = esker::storage::Indexed)]
    struct ByPath;

    type Alias<T> = Indexed<T>;

    #[derive(Component)]
    #[component(storage = Alias)]
    struct ByAlias;

    #[test]
    fn the_storage_is_packed_unless_another_is_chosen() {
        stored_in::<Tag, Packed<Tag>>();
        stored_in::<InPacked, Packed<InPacked>>();
        stored_in::<InIndexed, Indexed<InIndexed>>();
        stored_in::<InHashed, Hashed<InHashed>>();
        stored_in::<ByPath, Indexed<ByPath>>();
        stored_in::<ByAlias, Indexed<ByAlias>>();
    }

    #[derive(Component, Debug, PartialEq)]
    #[component(storage = Hashed)]
    struct Generic<T, const N: usize = 2>
    where
        T: Clone,
    {
        values: [T; N],
    }

    #[test]
    fn each_instance_of_a_generic_component_has_a_pool_of_its_own() {
        let mut world = World::new();
        let e = world.spawn((Generic { values: [1_u8, 2] }, Generic { values: ["a"; 3] }));
        world.insert(e, Generic { values: [1_u16, 2] }).unwrap();

        assert_eq!(world.component_names(e).count(), 3);
        assert_eq!(world.get::<Generic<u8>>(e).unwrap().values, [1, 2]);
        assert_eq!(world.get::<Generic<&str, 3>>(e).unwrap().values, ["a"; 3]);
        assert_eq!(world.remove::<Generic<u16>>(e).unwrap(), Some(Generic { values: [1, 2] }));
        assert!(!world.has::<Generic<u16>>(e) && world.has::<Generic<u8>>(e));
        stored_in::<Generic<u8>, Hashed<Generic<u8>>>();
    }

    #[derive(Component)]
    struct Marker<T: ?Sized>(PhantomData<fn(&T)>);

    #[test]
    fn a_generic_component_need_not_own_its_parameter() {
        let mut world = World::new();

        let e = world.spawn((Marker::<str>(PhantomData), Marker::<[u8]>(PhantomData)));

        assert!(world.has::<(Marker<str>, Marker<[u8]>)>(e));
    }

    #[derive(Component)]
    struct Borrowed<'a>(&'a str);

    #[test]
    fn a_component_with_a_lifetime_is_one_for_static_borrows() {
        let mut world = World::new();

        let e = world.spawn(Borrowed("for ever"));

        assert_eq!(world.get::<Borrowed<'static>>(e).unwrap().0, "for ever");
    }

    #[test]
    fn enums_and_types_of_a_function_are_components() {
        #[derive(Component)]
        struct Local(u8);
        let mut world = World::new();

        let e = world.spawn((State::Idle, Local(1)));
        world.insert(e, State::Running(2)).unwrap();

        assert_eq!(*world.get::<State>(e).unwrap(), State::Running(2));
        assert_eq!(world.get::<Local>(e).unwrap().0, 1);
    }

    #[test]
    fn equal_names_in_two_places_are_two_components() {
        mod other {
            #[derive(esker::Component)]
            pub(super) struct Tag;
        }
        let mut world = World::new();

        let e = world.spawn(other::Tag);

        assert!(world.has::<other::Tag>(e) && !world.has::<Tag>(e));
    }

    #[test]
    fn a_component_written_by_hand_works_like_a_derived_one() {
        struct ByHand(u8);
        impl Component for ByHand {
            type Storage = Indexed<Self>;
        }
        let mut world = World::new();

        let e = world.spawn((Tag, ByHand(3)));

        assert_eq!(world.query::<(&Tag, &ByHand)>().get(e).unwrap().1.0, 3);
    }

    #[test]
    fn names_in_scope_do_not_disturb_the_derives() {
        #![allow(dead_code, reason = "they are there to be in the way")]
        struct Option;
        struct Some;
        trait Send {}
        trait Sync {}
        mod core {}
        mod std {}

        #[derive(esker::Component)]
        struct Inner<T>(T);
        #[derive(esker::Bundle)]
        struct Outer {
            inner: Inner<u8>,
            r#type: Inner<u16>,
        }

        let mut world = World::new();
        let e = world.spawn(Outer { inner: Inner(1), r#type: Inner(2) });
        assert!(world.has::<Outer>(e));
    }
}

mod bundles {
    use super::*;

    #[derive(Bundle, Debug, PartialEq)]
    struct Moving {
        position: Position,
        velocity: Velocity,
    }

    #[derive(Bundle, Debug, PartialEq)]
    struct Pair(Position, Tag);

    #[derive(Bundle, Debug, PartialEq)]
    struct Nothing;

    #[derive(Bundle, Debug, PartialEq)]
    struct Nested {
        moving: Moving,
        more: (State, (Tag,)),
        nothing: Nothing,
    }

    const MOVING: Moving =
        Moving { position: Position(1.0, 2.0), velocity: Velocity { x: 3.0, y: 4.0 } };

    #[test]
    fn a_struct_with_names_comes_and_goes_as_a_whole() {
        let mut world = World::new();
        let e = world.spawn(MOVING);
        assert_eq!(world.component_names(e).count(), 2);
        assert_eq!(*world.get::<Position>(e).unwrap(), Position(1.0, 2.0));

        assert_eq!(world.take::<Moving>(e), Ok(Some(MOVING)));

        assert!(world.is_orphan(e));
        world.insert(e, Tag).unwrap();
        assert_eq!(world.take::<Moving>(e), Ok(None));
    }

    #[test]
    fn a_part_of_a_bundle_is_not_taken_but_can_be_removed() {
        let mut world = World::new();
        let e = world.spawn(Position(5.0, 6.0));

        assert!(!world.has::<Moving>(e) && world.has_any::<Moving>(e));
        assert_eq!(world.take::<Moving>(e), Ok(None));
        assert!(world.has::<Position>(e), "nothing was taken");
        assert_eq!(world.remove::<Moving>(e), Ok((Some(Position(5.0, 6.0)), None)));
    }

    #[test]
    fn tuple_structs_and_unit_structs_are_bundles() {
        let mut world = World::new();

        let e = world.spawn((Pair(Position(0.0, 0.0), Tag), Nothing));

        assert_eq!(world.component_names(e).count(), 2);
        assert_eq!(world.take::<Pair>(e), Ok(Some(Pair(Position(0.0, 0.0), Tag))));
        assert_eq!(world.take::<Nothing>(e), Ok(Some(Nothing)));
    }

    #[test]
    fn bundles_nest() {
        let mut world = World::new();
        let nested = || Nested { moving: MOVING, more: (State::Idle, (Tag,)), nothing: Nothing };

        let e = world.spawn(nested());

        assert!(world.has::<(Position, Velocity, State, Tag)>(e));
        assert!(world.has::<Nested>(e));
        assert_eq!(world.take::<Nested>(e), Ok(Some(nested())));
        assert!(world.is_orphan(e));
    }

    #[test]
    fn components_go_in_from_first_to_last() {
        let mut world = World::new();

        world.spawn((Pair(Position(0.0, 0.0), Tag), State::Idle));

        let names: Vec<&str> = world.memory_report().pools.iter().map(|pool| pool.name).collect();
        let expected = ["Position", "Tag", "State"];
        assert!(names.iter().zip(expected).all(|(name, end)| name.ends_with(end)), "{names:?}");
    }

    #[test]
    fn a_component_named_twice_keeps_the_last_value_and_cannot_be_taken() {
        let mut world = World::new();
        let e = world.spawn((MOVING, Position(9.0, 9.0)));

        assert_eq!(*world.get::<Position>(e).unwrap(), Position(9.0, 9.0));
        let taken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            world.take::<(Moving, Position)>(e).is_ok()
        }));
        assert!(taken.is_err());
        assert!(world.has::<Moving>(e), "nothing was taken");
    }

    #[derive(Bundle, Debug, PartialEq)]
    struct Labelled<B, L = Tag>
    where
        B: Send,
    {
        inner: B,
        label: L,
    }

    #[test]
    fn a_generic_bundle_takes_components_and_bundles() {
        let mut world = World::new();

        let a = world.spawn(Labelled { inner: State::Idle, label: Tag });
        let b = world.spawn(Labelled { inner: MOVING, label: (Tag, State::Idle) });

        assert!(world.has::<Labelled<State>>(a) && world.has::<(State, Tag)>(a));
        assert!(world.has::<(Position, Velocity, Tag, State)>(b));
        assert_eq!(world.take(a), Ok(Some(Labelled { inner: State::Idle, label: Tag })));
    }

    #[test]
    fn tuples_of_sixteen_and_more_by_nesting_are_bundles() {
        fn components<B: BundleTrait>() -> usize {
            struct Count(usize);
            impl esker::world::ComponentVisitor for Count {
                fn visit<T: Component>(&mut self) {
                    self.0 += 1;
                }
            }
            let mut count = Count(0);
            B::visit(&mut count);
            count.0
        }
        type Four = (Tag, Tag, Tag, Tag);
        type Sixteen =
            (Tag, Tag, Tag, Tag, Tag, Tag, Tag, Tag, Tag, Tag, Tag, Tag, Four, Tag, Tag, Tag);

        assert_eq!(components::<()>(), 0);
        assert_eq!(components::<Sixteen>(), 19);
        assert_eq!(components::<(Sixteen, (Sixteen, Four), Moving)>(), 44);
    }
}

#[test]
#[cfg_attr(miri, ignore = "starts a compiler")]
fn wrong_programs_are_refused_with_helpful_words() {
    // The words are the compiler's too, and change with it. To write those of another version:
    // change the number here and run with TRYBUILD=overwrite.
    const WORDS_OF: &str = "rustc 1.95.";
    let version = std::process::Command::new("rustc").arg("--version").output();
    let version = version.map_or_else(|_| Vec::new(), |output| output.stdout);
    if !version.starts_with(WORDS_OF.as_bytes()) {
        eprintln!("skipped: the expected words are those of {WORDS_OF}x");
        return;
    }
    let cases = trybuild::TestCases::new();
    // With a case that passes, programs are built and not only checked: one of the errors is
    // found no earlier.
    cases.pass("tests/ui/right/plain.rs");
    cases.compile_fail("tests/ui/wrong/*.rs");
}

#[test]
#[cfg_attr(miri, ignore = "starts a compiler")]
fn the_parameters_of_a_bundle_may_have_any_name() {
    trybuild::TestCases::new().pass("tests/ui/right/bundle_with_any_parameter_names.rs");
}

#[test]
#[cfg_attr(miri, ignore = "starts a compiler")]
fn strict_lints_find_nothing_in_what_a_query_derives() {
    trybuild::TestCases::new().pass("tests/ui/right/query_struct_under_strict_lints.rs");
}
