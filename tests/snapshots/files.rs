//! Writers that fail, files that stay whole, borrows that are in the way, and what errors say.

use std::error::Error;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::{env, fs, process};

use esker::World;
use esker::entity::{OutOfEntities, SpawnAtError};
use esker::snapshot::{Progress, SnapshotError, SnapshotTypes};
use esker::world::BorrowConflict;

use crate::common::{panics_as_planned, planned_panic};
use crate::kinds::*;

/// Takes some bytes and then no more.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::Error::other("the disk is full"));
        }
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_writer_that_fails_at_any_byte_is_an_error() {
    let mut world = eventful(4, 60);
    let whole = bytes(&world);
    for k in 0..whole.len() {
        let error = types().save().to_writer(&world, Full(k)).unwrap_err();
        assert!(matches!(error, SnapshotError::Io(_)), "{error}");
        assert!(error.to_string().contains("the disk is full"), "{error}");
    }
    types().save().to_writer(&world, Full(whole.len())).unwrap();
    let text = json(&world);
    for k in (0..text.len()).step_by(7) {
        let mut to = serde_json::Serializer::new(Full(k));
        assert!(types().save().serialize(&world, &mut to).is_err());
    }
    world.verify().unwrap();
}

/// A directory of its own for each test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("esker-snapshots-{}-{name}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_file_is_written_as_a_whole_and_read_back() {
    let folder = Folder::new("whole");
    let path = folder.0.join("save");
    let world = eventful(4, 100);
    for _ in 0..2 {
        types().save().to_file(&world, &path).unwrap();
        assert_eq!(folder.names(), ["save"]);
        assert_eq!(fs::read(&path).unwrap(), bytes(&world));
    }
    let mut loaded = World::new();
    types().load().replace_from_file(&mut loaded, &path).unwrap();
    assert_eq!(bytes(&loaded), bytes(&world));
    let file = fs::File::open(&path).unwrap();
    types().load().replace_from(&mut loaded, file).unwrap();
    assert_eq!(bytes(&loaded), bytes(&world));
}

#[test]
fn a_save_that_fails_leaves_the_old_file_and_no_other() {
    let folder = Folder::new("fails");
    let path = folder.0.join("save");
    fs::write(&path, "the old one").unwrap();
    let mut world = World::new();
    world.spawn(Small(1));
    let refused = SnapshotTypes::new().save().to_file(&world, &path);
    assert!(matches!(refused, Err(SnapshotError::Unregistered { .. })));
    let report = |_: Progress<'_>| planned_panic();
    assert!(panics_as_planned(|| types().save().progress(report).to_file(&world, &path)));

    assert_eq!(folder.names(), ["save"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "the old one");
    let nowhere = folder.0.join("no such folder").join("save");
    assert!(matches!(types().save().to_file(&world, nowhere), Err(SnapshotError::Io(_))));
    // Where a folder is in the way, renaming fails at the very end.
    let taken = folder.0.join("folder");
    fs::create_dir_all(taken.join("inside")).unwrap();
    assert!(matches!(types().save().to_file(&world, &taken), Err(SnapshotError::Io(_))));
    assert_eq!(folder.names(), ["folder", "save"]);
    assert!(matches!(
        types().load().replace_from_file(&mut world, folder.0.join("none")),
        Err(SnapshotError::Io(_))
    ));
}

struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the cable is out"))
    }
}

#[test]
fn a_reader_that_fails_changes_nothing() {
    let mut world = World::new();
    world.spawn(Small(1));
    let before = bytes(&world);
    let error = types().load().replace_from(&mut world, Broken).unwrap_err();
    assert!(error.to_string().contains("the cable is out"));
    assert_eq!(bytes(&world), before);
}

#[test]
fn progress_goes_on_and_comes_to_an_end() {
    let mut world = World::new();
    world.spawn_columns(vec![Small(1); 40_000]).unwrap();
    for n in 0..40_000 {
        world.spawn(Name(n.to_string()));
    }
    world.insert_resource(Score(1));
    let mut seen: Vec<(String, u64, u64)> = Vec::new();
    let report = |at: Progress<'_>| seen.push((at.name.to_owned(), at.done, at.total));
    types().save().progress(report).to_bytes(&world).unwrap();

    assert!(seen.is_sorted_by_key(|step| step.1), "{seen:?}");
    assert!(seen.iter().all(|step| step.2 == 80_001 && step.1 <= step.2));
    // When a component begins, and whenever so many values more are written one by one.
    let names = seen.iter().filter(|step| step.0 == "name").map(|step| step.1);
    assert!(names.eq([40_000, 3 << 14, 4 << 14]), "{seen:?}");
    assert!(seen.last().unwrap().1 >= 80_000 - (1 << 14));
}

#[test]
fn borrows_in_the_way_are_errors_that_name_what_is_borrowed() {
    let mut world = World::new();
    world.insert_resource(types());
    world.spawn((Small(1), Name("a".into())));
    world.insert_resource(Score(1));
    {
        let _pool = world.pool_mut::<Name>();
        for error in [
            types().save().to_bytes(&world).unwrap_err(),
            world.try_clone().unwrap_err(),
            world.state_hash().unwrap_err(),
            types().diff(&world, &World::new()).unwrap_err(),
        ] {
            assert!(matches!(error, SnapshotError::Borrowed(_)), "{error}");
            assert!(error.to_string().contains("Name"), "{error}");
        }
        let text = types().save().serialize(&world, serde_json::value::Serializer);
        assert!(text.unwrap_err().to_string().contains("Name"));
        // What is not asked for is not in the way.
        types().save().without(["name"]).to_bytes(&world).unwrap();
    }
    {
        let _score = world.resource_mut::<Score>();
        let error = types().save().to_bytes(&world).unwrap_err();
        assert!(error.to_string().contains("Score"), "{error}");
    }
    let _reading = (world.pool::<Name>(), world.resource::<Score>());
    types().save().to_bytes(&world).unwrap();
}

/// Who goes from error to source finds what happened, of a type that says more than words.
#[test]
fn an_error_that_passes_on_another_has_it_as_its_source() {
    let (mut full, mut small) = (World::new(), World::builder().entity_limit(1).build());
    full.insert_resource(types());
    types().keep_departures(&mut full, 10);
    let since = full.tick();
    full.advance_tick();
    full.spawn_batch([Small(1), Small(2)]).for_each(drop);
    let saved = bytes(&full);
    let delta = types().delta(&full, since).unwrap();
    let out = types().load().merge(&mut small, &saved).unwrap_err();
    let taken = types().apply(&mut small, &delta).unwrap_err();
    let io = types().load().replace_from_file(&mut small, "no such folder/x").unwrap_err();
    let borrowed = {
        let _pool = full.pool_mut::<Small>();
        full.state_hash().unwrap_err()
    };
    let own = World::new().state_hash().unwrap_err();

    assert!(out.source().is_some_and(|source| source.is::<OutOfEntities>()), "{out:?}");
    assert!(taken.source().is_some_and(|source| source.is::<SpawnAtError>()), "{taken:?}");
    assert!(io.source().is_some_and(|source| source.is::<io::Error>()), "{io:?}");
    assert!(borrowed.source().is_some_and(|source| source.is::<BorrowConflict>()), "{borrowed:?}");
    assert!(own.source().is_none(), "{own:?}");
    for error in [out, taken, io, borrowed] {
        assert_eq!(error.to_string(), error.source().unwrap().to_string());
    }
}

#[test]
fn what_the_registry_lacks_is_named_with_the_remedy() {
    let world = World::new();
    let error = world.state_hash().unwrap_err().to_string();
    assert!(error.contains("insert_resource"), "{error}");
    assert!(world.delta_since(world.tick()).is_err());
    for debug in
        [format!("{:?}", types()), format!("{:?}", types().save()), format!("{:?}", types().load())]
    {
        assert!(debug.contains("name") && debug.contains("Score"), "{debug}");
    }
}

#[test]
fn a_document_of_another_kind_is_refused_with_what_was_expected() {
    let mut world = World::new();
    world.spawn(Small(1));
    let whole = json(&world);
    let values = whole.find(r#""values":["#).expect("the document has values");
    let (head, tail) = whole.split_at(values);
    let tail = tail.split_once(']').unwrap().1;
    let refusal = |text: &str| {
        let mut from = serde_json::Deserializer::from_str(text);
        types().load().deserialize(&mut from).unwrap_err().to_string()
    };

    for text in ["7", "true", r#""snapshot""#] {
        assert!(refusal(text).contains("expected a snapshot of esker's"), "{}", refusal(text));
    }
    let text = format!(r#"{head}"values":7{tail}"#);
    assert!(refusal(&text).contains("expected a list of values"), "{}", refusal(&text));
    let text = whole.replacen("format", "formal", 1);
    assert!(refusal(&text).contains("`format` must come here"), "{}", refusal(&text));
}

#[test]
fn a_value_that_cannot_be_written_is_named() {
    use serde::{Deserialize, Serialize};
    #[derive(
        esker::Component, esker::snapshot::Snapshot, Serialize, Deserialize, Debug, Default,
    )]
    struct Chain(Option<Box<Chain>>);
    let mut deep = Chain::default();
    for _ in 0..500 {
        deep = Chain(Some(Box::new(deep)));
    }
    let mut world = World::new();
    let e = world.spawn(deep);
    let types = SnapshotTypes::new().component::<Chain>();
    let error = types.save().to_bytes(&world).unwrap_err().to_string();
    assert!(error.contains("`Chain`") && error.contains("deep"), "{error}");
    assert!(error.contains(&e.to_string()), "{error}");
}
