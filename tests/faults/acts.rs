//! The operations: each may meet any state that others have left, also after a panic.

use esker::prelude::*;
use esker::query::{DynamicTerms, Split};
use esker::snapshot::{Mirror, SnapshotTypes};

use crate::by_hand::{Both, Hinting, Naming, Ordering, Pack, Torn};
use crate::fuse::{Callback, call};
use crate::parts::{A, B, C, D, First, Link, Old, Second, Third, Trap};
use crate::scene::{Alarm, Collected, Maps, Scene, Store};

pub type Act = fn(&mut Scene);

fn trap(value: u64) -> Trap {
    Trap::new(value)
}

/// Rows of a batch, made one by one.
fn rows(count: u64) -> impl Iterator<Item = (A, B, D)> {
    (0..count).map(|n| {
        call(Callback::Iterate);
        (A(trap(n)), B(trap(n)), D(trap(n)))
    })
}

fn column<T>(count: u64, wrap: fn(Trap) -> T) -> Vec<T> {
    (0..count).map(|n| wrap(trap(n))).collect()
}

/// A comparison of two numbers.
fn compare(one: u64, other: u64) -> std::cmp::Ordering {
    call(Callback::Compare);
    one.cmp(&other)
}

fn pack(value: u64) -> Pack {
    Pack(A(trap(value)), B(trap(value)), D(trap(value)))
}

fn is_even(value: u64) -> bool {
    call(Callback::Predicate);
    value.is_multiple_of(2)
}

fn counted<T>(item: T) -> T {
    call(Callback::Iterate);
    item
}

pub const ACTS: &[(&str, Act)] = &[
    ("spawn", |s| _ = s.world.spawn((A(trap(9)), B(trap(9)), C(trap(9)), D(trap(9))))),
    ("spawn a bundle by hand", |s| _ = s.world.spawn(pack(9))),
    ("spawn_batch of bundles by hand", |s| {
        _ = s.world.spawn_batch(Hinting((0..3).map(pack))).fold(0, |count, _| count + 1);
    }),
    ("insert and remove a bundle by hand", |s| {
        _ = s.world.insert(s.ids[3], pack(1));
        _ = s.world.has::<Pack>(s.ids[3]);
        _ = s.world.remove::<Pack>(s.ids[3]);
    }),
    ("take a bundle by hand", |s| _ = s.world.take::<Pack>(s.ids[0])),
    ("batches of bundles by hand", |s| {
        let rows: Vec<_> = s.ids.iter().copied().zip((0..6).map(pack)).collect();
        _ = s.world.insert_batch(Hinting(rows.into_iter()));
        _ = s.world.remove_batch::<Pack>(Hinting(s.ids.clone().into_iter()));
    }),
    ("spawn what requires", |s| _ = s.world.spawn((First(trap(9)), A(trap(9))))),
    ("spawn_at", |s| {
        let id = Entity::new(40, 0).unwrap();
        _ = s.world.spawn_at(id, (D(trap(1)), First(trap(1)), A(trap(1))));
    }),
    ("spawn_batch", |s| _ = s.world.spawn_batch(rows(4)).count()),
    ("spawn_batch one by one", |s| {
        let mut batch = s.world.spawn_batch(rows(4));
        _ = (batch.next(), batch.next());
    }),
    ("spawn_batch of one", |s| drop(s.world.spawn_batch((0..3).map(|n| First(trap(n)))))),
    ("spawn_columns", |s| {
        let columns = (column(3, A), column(3, C), column(3, D));
        _ = s.world.spawn_columns(columns);
    }),
    ("spawn_columns of unequal length", |s| {
        _ = s.world.spawn_columns((column(3, B), column(2, C)));
    }),
    ("despawn", |s| _ = s.world.despawn(s.ids[0])),
    ("despawn of a linked one", |s| _ = s.world.despawn(s.ids[5])),
    ("despawn_batch", |s| {
        let ids = s.ids.clone();
        _ = s.world.despawn_batch(ids.into_iter().map(counted));
    }),
    ("despawn_batch of a hint that lies", |s| {
        _ = s.world.despawn_batch(Hinting(s.ids.clone().into_iter()));
    }),
    ("clear", |s| s.world.clear()),
    ("insert over", |s| {
        let id = s.ids[0];
        _ = s.world.insert(id, (A(trap(8)), B(trap(8)), C(trap(8)), D(trap(8))));
    }),
    ("insert new", |s| {
        let id = s.ids[4];
        _ = s.world.insert(id, (D(trap(8)), A(trap(8)), Link(trap(8), None), B(trap(8))));
    }),
    ("insert one twice", |s| _ = s.world.insert(s.ids[1], (A(trap(7)), (C(trap(7)), A(trap(6)))))),
    ("insert for a dead one", |s| {
        _ = s.world.insert(Entity::new(7777, 3).unwrap(), (A(trap(7)), D(trap(7))));
    }),
    ("insert_batch", |s| {
        let rows: Vec<_> = s.ids.iter().copied().zip(rows(6)).collect();
        _ = s.world.insert_batch(rows.into_iter().map(counted));
    }),
    ("try_add", |s| {
        _ = s.world.try_add(s.ids[3], A(trap(1)));
        _ = s.world.try_add(s.ids[1], A(trap(1)));
    }),
    ("replace", |s| {
        _ = s.world.replace(s.ids[0], A(trap(1)));
        _ = s.world.replace(s.ids[4], D(trap(1)));
    }),
    ("patch", |s| {
        _ = s.world.patch(s.ids[1], |a: &mut A| {
            a.0 = trap(3);
            call(Callback::Closure);
        });
    }),
    ("get_or_insert_with", |s| {
        _ = s.world.get_or_insert_with(s.ids[3], || A(Trap::made(5)));
        _ = s.world.get_or_insert_with(s.ids[4], || D(Trap::made(5)));
    }),
    ("remove", |s| _ = s.world.remove::<(C, A, B, D)>(s.ids[0])),
    ("remove one twice", |s| _ = s.world.remove::<(A, (B, A))>(s.ids[1])),
    ("remove_batch", |s| {
        let ids = s.ids.clone();
        _ = s.world.remove_batch::<(C, A, D)>(ids.into_iter().map(counted));
    }),
    ("take", |s| _ = s.world.take::<(A, (B, Link))>(s.ids[5])),
    ("remove what is required", |s| _ = s.world.remove::<(Third, Second, First)>(s.ids[4])),
    ("entity_mut", |s| {
        if let Ok(mut found) = s.world.entity_mut(s.ids[2]) {
            found.insert((B(trap(2)), D(trap(2)))).remove::<(C, A)>();
        }
        _ = s.world.entity_mut(s.ids[1]).map(|found| found.despawn());
    }),
    ("clear_pool", |s| {
        s.world.clear_pool::<A>();
        s.world.clear_pool::<D>();
    }),
    ("pool insert", |s| {
        let mut pool = s.world.pool_mut::<D>();
        _ = pool.insert(s.ids[0], D(trap(1)));
        _ = pool.insert(s.ids[1], D(trap(1)));
    }),
    ("pool insert of a grouped one", |s| {
        let mut pool = s.world.pool_mut::<A>();
        _ = pool.insert(s.ids[3], A(trap(1)));
        _ = pool.insert(s.ids[0], A(trap(1)));
    }),
    ("pool remove", |s| {
        _ = s.world.pool_mut::<B>().remove(s.ids[0]);
        _ = s.world.pool_mut::<A>().remove(s.ids[2]);
    }),
    ("pool retain", |s| {
        s.world.pool_mut::<A>().retain(|_, a| is_even(a.0.0.value));
        s.world.pool_mut::<D>().retain(|_, d| !is_even(d.0.0.value));
    }),
    ("pool clear", |s| {
        s.world.pool_mut::<B>().clear();
        s.world.pool_mut::<C>().clear();
    }),
    ("pool walk", |s| {
        for (n, (_, a)) in s.world.pool_mut::<A>().iter_mut().map(counted).enumerate() {
            a.0 = trap(n as u64);
        }
    }),
    ("pool memory", |s| {
        s.world.pool_mut::<D>().reserve(20);
        s.world.pool_mut::<D>().shrink_to_fit();
    }),
    ("locked", |s| {
        let locked = s.world.locked::<C>();
        _ = locked.insert(s.ids[3], C(trap(1)));
        _ = locked.insert(s.ids[0], C(trap(1)));
        _ = locked.patch(s.ids[0], |c| {
            c.0 = trap(2);
            call(Callback::Closure);
        });
        _ = locked.remove(s.ids[2]);
    }),
    ("sort a pool", |s| {
        _ = s.world.pool_mut::<D>().sort_by(|x, y| compare(x.0.0.value, y.0.0.value));
        _ = s.world.pool_mut::<A>().sort_unstable_by(|x, y| compare(y.0.0.value, x.0.0.value));
        _ = s.world.pool_mut::<C>().sort_nearly_by(|x, y| compare(x.0.0.value, y.0.0.value));
    }),
    ("sort by a key, by pairs and by a list", |s| {
        let key = |value: u64| {
            call(Callback::Compare);
            value
        };
        _ = s.world.pool_mut::<D>().sort_by_key(|d| key(d.0.0.value));
        _ = s.world.pool_mut::<C>().sort_pairs_by(|x, y| compare(x.1.0.0.value, y.1.0.0.value));
        _ = s.maps.packed.sort_as(Hinting(s.ids.clone().into_iter().rev()));
    }),
    ("sort a group", |s| {
        for group in s.groups.clone() {
            _ = s.world.sort_group_by::<&A>(group, |x, y| compare(x.0.0.value, y.0.0.value));
        }
    }),
    ("align", |s| _ = s.world.align::<(C, D)>()),
    ("shrink_to_fit", |s| s.world.shrink_to_fit()),
    ("group and ungroup", |s| {
        for group in s.groups.drain(..) {
            s.world.ungroup(group);
        }
        s.groups.extend(s.world.group::<(A, B)>().exclude::<Link>().build());
        s.groups.extend(s.world.group::<(Second, D)>().observe::<C>().build());
    }),
    ("query that writes", |s| {
        for (n, (a, b)) in s.world.query::<(&mut A, &mut B)>().iter_mut().map(counted).enumerate() {
            let mut a = a;
            a.0 = trap(n as u64);
            b.0 = trap(n as u64);
        }
    }),
    ("query_mut", |s| {
        for (c, d) in s.world.query_mut::<(Option<&mut C>, &mut D)>().iter_mut().map(counted) {
            c.into_iter().for_each(|c| c.0 = trap(1));
            d.0 = trap(1);
        }
    }),
    ("query by names", |s| {
        for (b, d) in s.world.query::<Both>().iter_mut().map(counted) {
            b.0 = trap(d.0.0.value);
        }
        assert!(s.world.query::<Both>().iter().count() < 10_000);
    }),
    ("query of chosen entities", |s| {
        let names = || Hinting(s.ids.iter().map(|&id| Naming(id)));
        assert!(s.world.query::<&D>().iter_many(names()).count() < 10_000);
        let mut query = s.world.query::<&mut D>();
        let mut many = query.iter_many_mut(names());
        while let Some(d) = many.fetch_next() {
            d.0 = trap(1);
        }
    }),
    ("dynamic query", |s| {
        let Some(id) = s.world.component_id::<D>() else { return };
        let terms = DynamicTerms::new().write(id);
        if let Ok(mut query) = s.world.dynamic_query(&terms) {
            query.for_each(|_| call(Callback::Iterate));
        }
    }),
    ("subtasks", |s| {
        s.world.run_system(|mut all: Query<'_, &mut B>, mut commands: Commands<'_, '_>| {
            let split = Split::every(2);
            all.subtasks(split).run(&mut commands, |part, _| {
                for b in part {
                    call(Callback::System);
                    b.0 = trap(1);
                }
            });
        });
    }),
    ("set_if_neq", |s| {
        if let Some(mut a) = s.world.get_mut::<A>(s.ids[0]) {
            _ = a.set_if_neq(A(trap(6)));
        }
    }),
    ("parallel query", |s| {
        use rayon::iter::ParallelIterator;
        let mut query = s.world.query::<&mut B>();
        query.par_iter_mut().for_each(|b| {
            call(Callback::Iterate);
            b.0 = trap(1);
        });
    }),
    ("resource", |s| {
        drop(s.world.insert_resource(Store(trap(1))));
        drop(s.world.remove_resource::<Store>());
        drop(s.world.resource_or_init::<Store>());
        drop(s.world.remove_resource::<Store>());
        drop(s.world.resource_or_insert_with(|| Store(Trap::made(2))));
    }),
    ("messages", |s| {
        (0..3).for_each(|n| s.world.send(trap(n)));
        assert!(s.mail.read(&s.world).iter().count() < 10_000);
        s.world.send(trap(3));
        s.world.refresh();
    }),
    ("trigger", |s| {
        s.world.trigger(Alarm(trap(1)));
    }),
    ("reserve and settle", |s| {
        for _ in 0..3 {
            if let Ok(id) = s.world.reserve_entity() {
                _ = s.world.insert(id, (C(trap(1)), D(trap(1))));
            }
        }
        s.world.settle();
    }),
    ("late echoes", |s| {
        if let Ok(mut pool) = s.world.try_pool_mut::<First>() {
            _ = pool.insert(s.ids[1], First(trap(1)));
            _ = pool.insert(s.ids[2], First(trap(1)));
        }
        _ = s.world.despawn(s.ids[2]);
        s.world.refresh();
    }),
    ("refresh", |s| {
        _ = s.world.pool_mut::<A>().insert(s.ids[3], A(trap(1)));
        _ = s.world.remove::<B>(s.ids[1]);
        s.world.refresh();
        assert!(s.world.drain_reacted::<Collected>().len() < 10_000);
        s.world.advance_tick();
    }),
    ("run_system", |s| {
        s.world.run_system(|b: Query<'_, (Entity, &B)>, mut commands: Commands<'_, '_>| {
            for (id, _) in b.iter().take(3) {
                commands.insert(id, (C(trap(1)), D(trap(1))));
                commands.spawn(First(trap(1)));
                call(Callback::System);
                commands.remove::<(A, B)>(id);
                commands.add(|_| call(Callback::Closure));
            }
        });
    }),
    ("parameter by hand", |s| {
        s.world.run_system(|mut commands: Ordering<'_, '_>, local: Local<'_, Trap>| {
            call(Callback::System);
            commands.0.spawn((C(trap(local.0.value)), D(trap(1))));
        });
    }),
    ("condition and output", |s| {
        let mut schedule = Schedule::new();
        schedule.add_systems((
            || {
                call(Callback::System);
                vec![trap(1)]
            },
            (|traps: Output<'_, Vec<Trap>>| assert!(traps.len() < 10)).run_if(
                |_: Query<'_, &B>| {
                    call(Callback::Condition);
                    true
                },
            ),
        ));
        _ = schedule.step(&mut s.world);
    }),
    ("step", |s| s.step()),
    ("step without order", |s| {
        s.schedule.shuffle(Some(7));
        s.step();
        s.schedule.shuffle(None);
    }),
    ("save", |s| s.bytes = s.types.save().to_bytes(&s.world).unwrap()),
    ("save with closures", |s| {
        let saver =
            s.types.save().only_entities(|_| is_even(2)).without(Hinting(["b"].into_iter()));
        _ = saver.progress(|_| call(Callback::Closure)).to_bytes(&s.world);
    }),
    ("save to a writer", |s| _ = s.types.save().to_writer(&s.world, &mut Torn)),
    ("load an older version", |s| {
        let types = SnapshotTypes::new().registered_only().component::<A>();
        let types = types.migrate::<Old, A>(|old| {
            call(Callback::Closure);
            A(old.0)
        });
        _ = types.load().to_world(&s.old_bytes);
    }),
    ("load in place", |s| _ = s.types.load().replace(&mut s.world, &s.bytes)),
    ("load a new world", |s| drop(s.types.load().to_world(&s.bytes))),
    ("load beside", |s| {
        if s.world.len() < 60 {
            _ = s.types.load().merge(&mut s.world, &s.bytes);
        }
    }),
    ("load text in place", |s| {
        let mut from = serde_json::Deserializer::from_str(&s.text);
        _ = s.types.load().deserialize_into(&mut s.world, &mut from);
    }),
    ("load text", |s| {
        let mut from = serde_json::Deserializer::from_str(&s.text);
        drop(s.types.load().deserialize(&mut from));
    }),
    ("try_clone and go on", |s| {
        // The clone has what was saved, and neither groups nor readers.
        if let Ok(clone) = s.world.try_clone() {
            drop(clone);
        }
    }),
    ("rollback keep", |s| s.past.keep(&s.world).unwrap()),
    ("rollback back", |s| _ = s.past.back(&mut s.world, 0)),
    ("rollback back from another state", |s| {
        _ = s.world.despawn(s.ids[3]);
        _ = s.world.remove::<(A, D)>(s.ids[0]);
        s.world.spawn((B(trap(1)), C(trap(1))));
        _ = s.past.back(&mut s.world, 0);
    }),
    ("mirror", |s| {
        let (mut world, mut mirror) = (World::new(), Mirror::new(s.types.clone()));
        _ = mirror.update(&mut world, &s.bytes);
        _ = mirror.update(&mut world, &s.bytes);
    }),
    ("delta", |s| {
        let since = s.world.advance_tick();
        _ = s.world.insert(s.ids[1], (A(trap(3)), C(trap(3))));
        let Ok(delta) = s.types.delta(&s.world, since) else { return };
        if let Ok(mut other) = s.types.load().to_world(&s.bytes) {
            _ = s.types.apply(&mut other, &delta);
        }
    }),
    ("hash", |s| _ = s.world.state_hash()),
    ("drop a world", |s| {
        let mut world = World::new();
        world.spawn_batch(rows(3));
        world.register::<C>();
        world.insert_resource(s.types.clone());
        world.insert_resource(Store(trap(1)));
        world.send(trap(1));
        let old = std::mem::replace(&mut s.world, world);
        s.past_worlds += 1;
        drop(old);
    }),
    ("map insert and remove", |s| {
        for &id in &s.ids {
            drop(s.maps.packed.insert(id, trap(1)));
            drop(s.maps.indexed.insert(id, trap(1)));
            drop(s.maps.hashed.remove(id));
        }
    }),
    ("map retain", |s| {
        s.maps.packed.retain(|_, value| is_even(value.0.value));
        s.maps.indexed.retain(|_, value| is_even(value.0.value));
        s.maps.hashed.retain(|_, value| is_even(value.0.value));
    }),
    ("map sort", |s| {
        s.maps.packed.sort_by(|x, y| compare(y.1.0.value, x.1.0.value));
        s.maps.indexed.sort_unstable_by(|x, y| compare(x.1.0.value, y.1.0.value));
        s.maps.hashed.sort_nearly_by(|x, y| compare(y.1.0.value, x.1.0.value));
    }),
    ("map clear", |s| {
        s.maps.packed.clear();
        s.maps.indexed.clear();
        s.maps.hashed.clear();
    }),
    ("map drop", |s| s.maps = Maps::default()),
];
