//! Code of the user's that panics while a world is saved, loaded or cloned; and what listeners hear.

use std::cell::Cell;
use std::sync::{Arc, Mutex};

use esker::snapshot::{EntityMapper, MapEntities, Mirror, Rollback, Snapshot, SnapshotTypes};
use esker::{Commands, Component, Entity, World};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::common::{panics_as_planned, planned_panic};
use crate::kinds::{Name, Score, Small};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Clone,
    Serialize,
    Deserialize,
    Map,
    Drop,
}

thread_local! {
    /// What panics, and how often it does not before.
    static FUSE: Cell<Option<(Act, usize)>> = const { Cell::new(None) };
}

fn burn(act: Act) {
    if let Some((fatal, left)) = FUSE.get().filter(|fuse| fuse.0 == act) {
        FUSE.set(left.checked_sub(1).map(|left| (fatal, left)));
        if left == 0 {
            planned_panic();
        }
    }
}

/// A value whose every trait may panic.
#[derive(Component, Snapshot, Debug, PartialEq)]
#[snapshot(clone, entities)]
struct Fragile(u32);

impl Clone for Fragile {
    fn clone(&self) -> Self {
        burn(Act::Clone);
        Self(self.0)
    }
}

impl Serialize for Fragile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        burn(Act::Serialize);
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Fragile {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        burn(Act::Deserialize);
        u32::deserialize(from).map(Self)
    }
}

impl MapEntities for Fragile {
    fn map_entities(&mut self, _: &mut EntityMapper<'_>) -> bool {
        burn(Act::Map);
        true
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        burn(Act::Drop);
    }
}

fn types() -> SnapshotTypes {
    SnapshotTypes::new().component::<Fragile>().component::<Name>().resource::<Score>()
}

fn world() -> World {
    let mut world = World::new();
    for n in 0..6 {
        world.spawn((Fragile(n), Name(n.to_string())));
    }
    world.insert_resource(Score(1));
    world
}

#[track_caller]
fn bytes(world: &World) -> Vec<u8> {
    types().save().to_bytes(world).unwrap()
}

fn json(world: &World) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = Vec::new();
    types().save().serialize(world, &mut serde_json::Serializer::new(&mut text))?;
    Ok(text)
}

/// Does something to a world that must panic at the `k`-th act, for all `k` there are; the world
/// is sound and as it was then.
#[track_caller]
fn unharmed(act: Act, work: impl Fn(&mut World)) {
    for k in 0.. {
        let mut world = world();
        world.spawn(Name("more".into()));
        let before = bytes(&world);
        FUSE.set(Some((act, k)));
        let has_panicked = panics_as_planned(|| work(&mut world));
        FUSE.set(None);
        if !has_panicked {
            assert!(k > 0, "nothing ever panicked");
            return;
        }
        world.verify().unwrap();
        assert_eq!(bytes(&world), before, "{act:?} {k}");
    }
}

#[test]
fn a_clone_that_panics_harms_nobody() {
    unharmed(Act::Clone, |world| drop(types().clone_world(world)));
    unharmed(Act::Clone, |world| drop(Rollback::new(types(), 3).keep(world)));
    unharmed(Act::Clone, |world| {
        let mut past = Rollback::new(types(), 3);
        let fuse = FUSE.take();
        past.keep(world).unwrap();
        FUSE.set(fuse);
        past.back(world, 0).unwrap();
    });
}

#[test]
fn a_clone_that_panics_on_the_way_back_costs_that_state_alone() {
    for k in 0..6 {
        let mut world = world();
        let mut past = Rollback::new(types(), 3);
        past.keep(&world).unwrap();
        let before = bytes(&world);
        world.spawn(Fragile(9));
        past.keep(&world).unwrap();
        let kept = bytes(&world);
        world.clear();

        FUSE.set(Some((Act::Clone, k)));
        assert!(panics_as_planned(|| past.back(&mut world, 0).unwrap()));
        FUSE.set(None);

        world.verify().unwrap();
        assert_eq!(bytes(&world), kept, "the world is back");
        assert_eq!(past.len(), 1);
        past.back(&mut world, 0).unwrap();
        assert_eq!(bytes(&world), before);
    }
}

#[test]
fn a_drop_that_panics_on_the_way_back_costs_no_state_but_those_that_go() {
    // Nine values are in the world, and eight in the later state. The copy that `back` keeps takes the place
    // of the nine, so it is told apart.
    let runs = (0..17).map(|k| (true, k)).chain((9..17).map(|k| (false, k)));
    for (takes, k) in runs {
        let mut world = world();
        let mut past = Rollback::new(types(), 4);
        let mut saved = Vec::new();
        for n in 0..3 {
            past.keep(&world).unwrap();
            saved.push(bytes(&world));
            world.spawn(Fragile(n));
        }

        FUSE.set(Some((Act::Drop, k)));
        let has_panicked = panics_as_planned(|| match takes {
            true => past.take_back(&mut world, 1).unwrap(),
            false => past.back(&mut world, 1).unwrap(),
        });
        FUSE.set(None);

        assert!(has_panicked);
        world.verify().unwrap();
        assert_eq!(bytes(&world), saved[1], "the world is back");
        assert_eq!(past.len(), if takes { 1 } else { 2 });
        if !takes {
            past.take_back(&mut world, 0).unwrap();
            assert_eq!(bytes(&world), saved[1]);
        }
        past.take_back(&mut world, 0).unwrap();
        assert_eq!(bytes(&world), saved[0]);
    }
}

#[test]
fn a_value_that_panics_when_written_harms_nobody() {
    unharmed(Act::Serialize, |world| drop(types().save().to_bytes(world)));
    unharmed(Act::Serialize, |world| drop(json(world)));
    unharmed(Act::Serialize, |world| drop(types().hash_world(world)));
    unharmed(Act::Serialize, |left| drop(types().diff(left, &world())));
}

#[test]
fn a_value_that_panics_when_read_harms_nobody() {
    let (saved, text) = (bytes(&world()), json(&world()).unwrap());
    unharmed(Act::Deserialize, |world| drop(types().load().replace(world, &saved)));
    unharmed(Act::Deserialize, |world| drop(types().load().merge(world, &saved)));
    unharmed(Act::Deserialize, |world| {
        let mut from = serde_json::Deserializer::from_slice(&text);
        drop(types().load().deserialize_into(world, &mut from));
    });
    unharmed(Act::Deserialize, |world| drop(Mirror::new(types()).update(world, &saved)));
}

#[test]
fn a_mapping_that_panics_harms_nobody() {
    let saved = bytes(&world());
    unharmed(Act::Map, |world| drop(types().load().merge(world, &saved)));
    let mirror = std::cell::RefCell::new(Mirror::new(types()));
    unharmed(Act::Map, |world| {
        assert_eq!(mirror.borrow().len(), 0);
        drop(mirror.borrow_mut().update(world, &saved));
    });
    let strict = types();
    let strict = strict.load().dangling(esker::snapshot::Dangling::Refuse);
    unharmed(Act::Map, |world| drop(strict.replace(world, &saved)));
}

#[test]
fn a_migration_that_panics_harms_nobody() {
    #[derive(Component, Snapshot, Serialize, Deserialize)]
    #[snapshot(name = "Fragile", version = 2)]
    struct Later(u32);
    let types = SnapshotTypes::new().component::<Later>().component::<Name>().resource::<Score>();
    let types = types.migrate(|old: Fragile| -> Later {
        burn(Act::Map);
        Later(old.0)
    });
    let saved = bytes(&world());
    let mut target = World::new();
    let later = target.spawn(Later(7));
    FUSE.set(Some((Act::Map, 3)));
    assert!(panics_as_planned(|| types.load().replace(&mut target, &saved)));
    target.verify().unwrap();
    assert_eq!((target.len(), target.get::<Later>(later).unwrap().0), (1, 7));
}

/// What has gone is gone then, but the world is sound, and loading once more works.
#[test]
fn a_drop_that_panics_leaves_a_sound_world() {
    let saved = bytes(&world());
    for k in 0..6 {
        let mut target = world();
        FUSE.set(Some((Act::Drop, k)));
        let has_panicked = panics_as_planned(|| types().load().replace(&mut target, &saved));
        FUSE.set(None);
        assert!(has_panicked);
        target.verify().unwrap();
        types().load().replace(&mut target, &saved).unwrap();
        target.verify().unwrap();
        assert_eq!(bytes(&target), saved);
    }
}

#[test]
fn a_listener_that_panics_leaves_a_sound_world() {
    let saved = bytes(&world());
    for k in 0..18 {
        let mut target = world();
        let left = Arc::new(Mutex::new(k));
        let listener = |left: Arc<Mutex<usize>>| {
            move |_: &World, _: Entity, _: &mut Commands<'_, '_>| {
                let mut left = left.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                let is_now = *left == 0;
                *left = left.wrapping_sub(1);
                drop(left);
                if is_now {
                    planned_panic();
                }
            }
        };
        _ = target.on_add::<Name>(listener(Arc::clone(&left)));
        _ = target.on_remove::<Name>(listener(Arc::clone(&left)));
        _ = target.on_despawn(listener(Arc::clone(&left)));
        assert!(panics_as_planned(|| types().load().replace(&mut target, &saved)), "{k}");
        target.verify().unwrap();
        types().load().replace(&mut target, &saved).unwrap();
        target.verify().unwrap();
        assert_eq!(bytes(&target), saved);
    }
}

/// What listeners hear, in words.
fn listen(world: &mut World) -> Arc<Mutex<Vec<String>>> {
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let hear = |word: &'static str| {
        let log = Arc::clone(&log);
        move |world: &World, entity: Entity, _: &mut Commands<'_, '_>| {
            let name = world.get::<Name>(entity).map_or("-".into(), |name| name.0.clone());
            let score = world.try_resource::<Score>().map_or(0, |score| score.0);
            log.lock().unwrap().push(format!("{word} {entity} {name} {score}"));
        }
    };
    _ = world.on_add::<Name>(hear("add"));
    _ = world.on_remove::<Name>(hear("remove"));
    _ = world.on_spawn(hear("spawn"));
    _ = world.on_despawn(hear("despawn"));
    log
}

/// EnTT 191: on load, merge and mirror.
#[test]
fn listeners_see_what_was_loaded() {
    let mut source = World::new();
    let [a, b] = [source.spawn(Name("a".into())), source.spawn(())];
    source.insert_resource(Score(8));
    let saved = bytes(&source);

    let mut target = World::new();
    target.spawn(Name("old".into()));
    target.insert_resource(Score(3));
    let log = listen(&mut target);
    let take = || std::mem::take(&mut *log.lock().unwrap());
    let has = |heard: &[String], what: &str| assert!(heard.iter().any(|h| h == what), "{heard:?}");
    types().load().replace(&mut target, &saved).unwrap();
    let heard = take();
    assert!(heard.iter().any(|h| h.starts_with("remove 0v0 old")), "{heard:?}");
    assert!(heard.iter().any(|h| h.starts_with("despawn 0v0")), "{heard:?}");
    has(&heard, "spawn 0v0 a 8");
    has(&heard, "spawn 1v0 - 8");
    has(&heard, "add 0v0 a 8");
    assert_eq!(heard.iter().filter(|h| h.starts_with("add")).count(), 1);

    let merged = types().load().merge(&mut target, &saved).unwrap();
    let heard = take();
    has(&heard, &format!("add {} a 8", merged.get(a).unwrap()));
    has(&heard, &format!("spawn {} - 8", merged.get(b).unwrap()));
    assert!(!heard.iter().any(|h| h.starts_with("remove")), "{heard:?}");

    let mut mirror = Mirror::new(types());
    mirror.update(&mut target, &saved).unwrap();
    let local = mirror.get(a).unwrap();
    has(&take(), &format!("add {local} a 8"));
    source.remove::<Name>(a).unwrap();
    source.despawn(b).unwrap();
    let gone = mirror.get(b).unwrap();
    mirror.update(&mut target, &bytes(&source)).unwrap();
    let heard = take();
    has(&heard, &format!("remove {local} a 8"));
    assert!(heard.iter().any(|h| h.starts_with(&format!("despawn {gone}"))), "{heard:?}");

    let mut past = Rollback::new(types(), 2);
    past.keep(&target).unwrap();
    take();
    past.back(&mut target, 0).unwrap();
    assert_eq!(take(), [""; 0], "going back is told to nobody");
    target.verify().unwrap();
}

#[test]
fn commands_of_listeners_are_carried_out_on_what_was_loaded() {
    let saved = bytes(&world());
    let mut target = World::new();
    _ = target.on_add::<Name>(|_: &World, entity: Entity, commands: &mut Commands<'_, '_>| {
        commands.insert(entity, Small(1));
        if entity.index() == 2 {
            commands.despawn(entity);
        }
    });
    types().load().replace(&mut target, &saved).unwrap();
    target.verify().unwrap();
    assert_eq!(target.len(), 5);
    assert!(target.entities().all(|entity| target.has::<Small>(entity)));
}

/// Required components that a snapshot has not are there after loading.
#[test]
fn required_components_that_were_not_saved_come_by_themselves() {
    #[derive(Component, Snapshot, Serialize, Deserialize, Debug, Default)]
    struct Wheels(u8);
    #[derive(Component, Snapshot, Serialize, Deserialize, Debug)]
    #[component(require(Wheels))]
    struct Car(u8);
    let mut source = World::new();
    let e = source.spawn((Car(1), Wheels(9)));
    let types = SnapshotTypes::new().component::<Car>().component::<Wheels>();
    let saved = types.save().without(["Wheels"]).to_bytes(&source).unwrap();
    let mut loaded = types.load().to_world(&saved).unwrap();
    assert_eq!(loaded.get::<Wheels>(e).unwrap().0, 0);
    loaded.verify().unwrap();
}

/// A resource whose drop may panic.
#[derive(Snapshot, Serialize, Deserialize, Debug, PartialEq)]
#[snapshot(clone)]
struct Heavy(u32);

impl Clone for Heavy {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl Drop for Heavy {
    fn drop(&mut self) {
        burn(Act::Drop);
    }
}

#[test]
fn a_resource_whose_drop_panics_is_replaced_with_everything_else() {
    let types = SnapshotTypes::new().component::<Small>().resource::<Heavy>().resource::<Score>();
    let saved = |world: &World| types.save().to_bytes(world).unwrap();
    let start = || {
        let mut world = World::new();
        world.insert_resource(Heavy(1));
        world.insert_resource(Score(1));
        world.spawn(Small(1));
        world
    };
    let change = |world: &mut World| {
        *world.resource_mut::<Heavy>() = Heavy(2);
        *world.resource_mut::<Score>() = Score(2);
        world.spawn(Small(2));
    };
    let panics = |work: &mut dyn FnMut()| {
        FUSE.set(Some((Act::Drop, 0)));
        let has_panicked = panics_as_planned(work);
        FUSE.set(None);
        has_panicked
    };

    for takes in [false, true] {
        let mut world = start();
        let mut past = Rollback::new(types.clone(), 3);
        past.keep(&world).unwrap();
        let kept = saved(&world);
        change(&mut world);

        assert!(panics(&mut || match takes {
            true => past.take_back(&mut world, 0).unwrap(),
            false => past.back(&mut world, 0).unwrap(),
        }));

        world.verify().unwrap();
        assert_eq!(saved(&world), kept, "the world is back");
        assert_eq!(past.len(), usize::from(!takes), "the state is kept");
        if !takes {
            change(&mut world);
            past.back(&mut world, 0).unwrap();
            assert_eq!(saved(&world), kept);
        }
    }

    // One that goes because there was none, too.
    let mut world = start();
    let heavy = world.remove_resource::<Heavy>();
    let mut past = Rollback::new(types.clone(), 3);
    past.keep(&world).unwrap();
    let kept = saved(&world);
    change_back(&mut world, heavy);
    assert!(panics(&mut || past.back(&mut world, 0).unwrap()));
    assert_eq!((saved(&world), past.len()), (kept, 1));

    let mut world = start();
    change(&mut world);
    let new = saved(&world);
    let mut old = start();
    assert!(panics(&mut || _ = types.load().replace(&mut old, &new).unwrap()));
    old.verify().unwrap();
    assert_eq!(saved(&old), new);

    let mut old = start();
    assert!(panics(&mut || _ = types.load().merge(&mut old, &new).unwrap()));
    old.verify().unwrap();
    assert_eq!((old.resource::<Heavy>().0, old.resource::<Score>().0), (2, 2));
    assert_eq!(old.query::<&Small>().count(), 3);

    let (mut old, mut mirror) = (start(), Mirror::new(types.clone()));
    assert!(panics(&mut || _ = mirror.update(&mut old, &new).unwrap()));
    old.verify().unwrap();
    assert_eq!((mirror.len(), old.query::<&Small>().count()), (2, 3));
    assert_eq!((old.resource::<Heavy>().0, old.resource::<Score>().0), (2, 2));
}

fn change_back(world: &mut World, heavy: Option<Heavy>) {
    world.insert_resource(heavy.unwrap());
    world.resource_mut::<Score>().0 = 5;
}

/// Going back settles first: what listeners have to say comes before anything is exchanged.
#[test]
fn a_listener_that_panics_before_the_way_back_costs_nothing() {
    let types = types();
    let mut world = world();
    let mut past = Rollback::new(types, 3);
    past.keep(&world).unwrap();
    let kept = bytes(&world);
    world.insert_resource(Score(7));
    let connection = world.on_spawn(|_, _, _| planned_panic());
    world.reserve_entity().unwrap();

    assert!(panics_as_planned(|| past.back(&mut world, 0).unwrap()));

    assert_eq!((past.len(), world.resource::<Score>().0), (1, 7), "nothing has happened");
    world.verify().unwrap();
    world.disconnect(connection);
    past.back(&mut world, 0).unwrap();
    assert_eq!((bytes(&world), past.len()), (kept, 1));
}

#[test]
fn a_guard_that_was_leaked_costs_no_state_on_the_way_back() {
    let mut world = world();
    let mut past = Rollback::new(types(), 3);
    past.keep(&world).unwrap();
    let kept = bytes(&world);
    world.spawn(Small(1));
    world.remove::<Name>(world.entity_at(0).unwrap()).unwrap();
    std::mem::forget(world.pool_mut::<Name>());
    std::mem::forget(world.query::<&mut Fragile>());
    std::mem::forget(world.resource_mut::<Score>());

    past.back(&mut world, 0).unwrap();

    assert_eq!((bytes(&world), past.len()), (kept, 1));
}
