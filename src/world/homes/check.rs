//! Walks A1, A3 and A4, for `World::verify`.

use rustc_hash::FxHashSet;

use super::super::World;
use super::super::pools::Pools;
use super::{Archetype, Gap, Homes};

impl World {
    /// Checks that everybody who is placed is at home there, and who has a home lives.
    pub(in super::super) fn check_homes(&mut self) -> Result<(), String> {
        let homes = &self.pools.homes;
        homes.register.check()?;
        homes.check()?;
        for (index, home) in homes.register.homes() {
            if self.entities.at(index).is_none() {
                return Err(format!("A3: {home} has the tenant {index}, who is dead"));
            }
        }
        self.pools.check_places()
    }
}

impl Pools {
    /// Checks A1: who is placed somewhere has its home there.
    fn check_places(&mut self) -> Result<(), String> {
        for id in 0..self.len() {
            let (homes, pool) = self.homes_and(id);
            let name = pool.name();
            pool.check_places(&homes.register)
                .map_err(|what| format!("{what}, in the pool of `{name}`"))?;
        }
        Ok(())
    }
}

impl Homes {
    /// Checks A4.
    fn check(&self) -> Result<(), String> {
        for archetype in &self.archetypes {
            self.check_archetype(archetype)?;
        }
        self.check_waiting()?;
        let rows_of = |&block: &u32| self.register.rows_of(block);
        match self.spare.iter().find(|block| rows_of(block) != Some(0)) {
            Some(block) => Err(format!("A4: block {block} is spare and has rows")),
            None => Ok(()),
        }
    }

    /// Checks that who waits for an archetype is in its list (A4).
    pub(super) fn check_waiting(&self) -> Result<(), String> {
        let lists = self.archetypes.iter().enumerate();
        let listed: FxHashSet<(u32, usize)> = lists
            .flat_map(|(number, one)| one.waiting.iter().map(move |e| (e.index(), number)))
            .collect();
        if let Some((index, number)) = self.register.who_wait().find(|pair| !listed.contains(pair))
        {
            return Err(format!(
                "A4: {index} waits for archetype {number}, which does not know it"
            ));
        }
        Ok(())
    }

    fn check_archetype(&self, archetype: &Archetype) -> Result<(), String> {
        let mut first = 0;
        for &block in &archetype.blocks {
            let rows = self.register.rows_of(block).unwrap_or(0) as u32;
            match self.blocks.get(block as usize) {
                Some(known) if known.first == first => first += rows,
                _ => return Err(format!("A4: block {block} does not begin with row {first}")),
            }
        }
        if first != archetype.rows || archetype.used + archetype.surplus > archetype.rows {
            let Archetype { rows, used, surplus, .. } = archetype;
            return Err(format!(
                "A4: {first} rows of an archetype are {rows}, {used} of them used, {surplus} vacant"
            ));
        }
        let mut gaps = archetype.gaps.clone();
        let key = |gap: &Gap| (gap.home.block, gap.home.row);
        gaps.sort_unstable_by_key(key);
        if let Some(pair) = gaps.windows(2).find(|pair| pair[0].home == pair[1].home) {
            return Err(format!("A4: {} is listed twice as a gap", pair[0].home));
        }
        for nth in 0..archetype.rows {
            let home = self.nth_row(archetype, nth);
            let has_tenant = self.register.tenant(home).is_some();
            let is_used = nth < archetype.used
                && gaps.binary_search_by_key(&(home.block, home.row), key).is_err();
            if has_tenant != is_used {
                let word = if has_tenant { "a" } else { "no" };
                return Err(format!("A4: {home} has {word} tenant and is used: {is_used}"));
            }
        }
        match gaps.is_empty() || archetype.is_listed {
            true => Ok(()),
            false => {
                Err(format!("A4: {} is a gap of an archetype that is not listed", gaps[0].home))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;

    struct A;
    struct B;
    impl Component for A {
        type Storage = crate::storage::Packed<Self>;
    }
    impl Component for B {
        type Storage = crate::storage::Packed<Self>;
    }

    /// A world with homes, and who lives there.
    fn housed() -> (World, Vec<Entity>) {
        let mut world = World::new();
        let ids: Vec<_> = world.spawn_batch((0..400).map(|_| (A, B))).collect();
        world.refresh();
        world.despawn(ids[7]).unwrap();
        let home = |id: Entity| world.pools.homes.register.home(id.index());
        assert!(home(ids[5]).is_row() && !home(ids[7]).is_row());
        (world, ids)
    }

    #[test]
    fn a_world_whose_homes_are_wrong_says_so() {
        let attempt = |spoil: fn(&mut World, &[Entity]), broken: &str| {
            let (mut world, ids) = housed();
            world.verify().unwrap();

            spoil(&mut world, &ids);

            let error = world.verify().unwrap_err().to_string();
            assert!(error.contains(broken), "{error}");
        };
        // Two have exchanged their homes, and nobody has told the pools.
        attempt(
            |world, ids| {
                let register = &mut world.pools.homes.register;
                let [a, b] = [ids[3], ids[4]].map(|id| register.vacate(id.index()));
                register.assign(ids[3].index(), b);
                register.assign(ids[4].index(), a);
            },
            "A1: ",
        );
        // A death that has left the home as it was.
        attempt(
            |world, ids| {
                world.remove::<(A, B)>(ids[9]).unwrap();
                world.entities.release(ids[9]).unwrap();
            },
            "A3: ",
        );
        attempt(|world, _| world.pools.homes.archetypes[0].used -= 1, "A4: ");
        attempt(|world, _| world.pools.homes.archetypes[0].rows -= 1, "A4: ");
        attempt(|world, _| world.pools.homes.archetypes[0].gaps.clear(), "A4: ");
        attempt(|world, _| world.pools.homes.archetypes[0].is_listed = false, "A4: ");
        attempt(
            |world, _| {
                let gaps = &mut world.pools.homes.archetypes[0].gaps;
                gaps.push(gaps[0]);
            },
            "A4: ",
        );
        attempt(|world, _| _ = world.pools.homes.spare.insert(0), "A4: ");
        attempt(|world, _| world.pools.homes.archetypes[0].surplus += 1, "A4: ");
        attempt(|world, _| world.pools.homes.blocks[0].first = 1, "A4: ");
        // Homes that are forgotten, and pools that do not know it.
        attempt(|world, _| world.pools.homes = super::super::Homes::default(), "A1: ");
    }
}
