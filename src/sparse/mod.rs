//! Sets of entities: a packed array and a sparse map that leads into it.
//!
//! [`SparseSet`] answers "is this entity in, and where" with one load, because a slot of the
//! sparse map holds position and version together. It iterates as a plain slice. The map is
//! [`PagedMap`] for speed or [`HashedMap`] for few entities with scattered indices.
//!
//! # Invariants
//! - **S1** – the slot of `e` holds position `i` ⇔ `i < packed.len()` and `packed[i] == e`,
//!   version included.
//! - **S2** – no entity index occurs twice in `packed`.
//! - **S3** – a page is absent or complete; a vacant slot never equals a valid one, because its
//!   version is one that no entity has.
//! - **S4** – the window of a [`PagedMap`] begins and ends at page borders, and no page of its own
//!   lies in it.
//! - **S5** – as long as the stamp of a set is the same, so is its packed array.
//! - **S6** – sets whose orders have the same number have the same packed array.
//! - **A1**, **A2** – what rows say of positions; see `rows.rs`.

mod finder;
mod hashed;
mod map;
mod order;
mod register;
mod rows;
mod set;
mod set_rows;
mod slot;
#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "snapshots use it"))]
mod whole;

pub(crate) use finder::Finder;
pub use finder::SlotRow;
pub use hashed::HashedMap;
pub use map::{PagedMap, PagedView, SparseMap};
pub use order::Order;
pub(crate) use order::common_prefix;
pub(crate) use register::{Home, Register};
pub(crate) use rows::{Band, Rows};
pub use set::{Entry, SparseSet, VacantEntry};
pub(crate) use set_rows::Heritage;
pub use slot::Slot;
pub(crate) use whole::{EntityList, Foreseen};

#[cfg(test)]
mod tests {
    use super::{HashedMap, PagedMap, Slot, SparseMap, SparseSet};
    use crate::entity::{Entity, Newcomers};

    fn id(index: u32, version: u32) -> Entity {
        Entity::new(index, version).unwrap()
    }

    #[test]
    fn whatever_changes_the_order_raises_the_stamp() {
        fn attempt<M: SparseMap>(change: impl Fn(&mut SparseSet<M>), order: &[(u32, u32)]) {
            let mut set: SparseSet<M> = (0..4).map(|index| id(index, 0)).collect();
            let before = set.stamp();

            change(&mut set);

            let order: Vec<Entity> = order.iter().map(|&(i, version)| id(i, version)).collect();
            assert_eq!(set.as_slice(), order);
            assert!(set.stamp() > before);
            set.check().unwrap();
        }
        fn attempt_all<M: SparseMap>() {
            let at_the_end = [(0, 0), (1, 0), (2, 0), (3, 0), (9, 0)];
            attempt::<M>(|set| assert!(set.insert(id(9, 0))), &at_the_end);
            attempt::<M>(|set| set.append(Newcomers::Fresh(9..10)), &at_the_end);
            let listed = Newcomers::Listed { entities: &[id(9, 0)], are_consecutive: false };
            attempt::<M>(|set| set.append(listed.clone()), &at_the_end);
            attempt::<M>(|set| assert!(set.insert(id(1, 5))), &[(0, 0), (1, 5), (2, 0), (3, 0)]);
            attempt::<M>(|set| _ = set.remove(id(1, 0)), &[(0, 0), (3, 0), (2, 0)]);
            attempt::<M>(|set| _ = set.remove_at(0), &[(3, 0), (1, 0), (2, 0)]);
            attempt::<M>(|set| set.swap(0, 3), &[(3, 0), (1, 0), (2, 0), (0, 0)]);
            attempt::<M>(SparseSet::clear, &[]);
        }
        attempt_all::<PagedMap>();
        attempt_all::<HashedMap>();
        let through = |set: &mut SparseSet| _ = set.remove_in_row(id(0, 0), 2).unwrap();
        attempt::<PagedMap>(through, &[(2, 0), (1, 0), (3, 0)]);
        let from_row = |set: &mut SparseSet| _ = set.remove_from_row(id(1, 0)).unwrap();
        attempt::<PagedMap>(from_row, &[(0, 0), (3, 0), (2, 0)]);
        let brought = |set: &mut SparseSet| _ = set.bring_in_row(id(3, 0), 1).unwrap();
        attempt::<PagedMap>(brought, &[(0, 0), (3, 0), (2, 0), (1, 0)]);
    }

    /// Who finds his slots in the row is served there, as elsewhere, and who does not changes nothing.
    #[test]
    fn what_lies_in_the_row_is_done_there_and_nothing_else_is() {
        let far = id(4_000_000_000, 0);
        let is_near = |entity: Entity| entity.index() < 1024;
        for order in [
            vec![id(0, 0), id(1, 2), id(2, 0), id(3, 0), id(5, 1)],
            vec![id(0, 0), far, id(1, 2), id(2, 0)],
            vec![id(0, 0), id(1, 2), id(2, 0), far],
            vec![id(7, 0)],
        ] {
            let asked = [id(0, 0), id(1, 2), id(1, 1), id(2, 0), id(5, 1), id(7, 0), id(9, 0), far];
            for (entity, to) in asked.into_iter().flat_map(|one| (0..6).map(move |to| (one, to))) {
                let set: SparseSet = order.iter().copied().collect();
                let at = order.iter().position(|&one| one == entity);
                let last = *order.last().unwrap();
                let other = order.get(to).copied();
                let in_row = at.filter(|_| is_near(entity));
                let done = |served: bool, change: &dyn Fn(&mut Vec<Entity>)| {
                    let mut order = order.clone();
                    if served {
                        change(&mut order);
                    }
                    order
                };

                let mut removed = set.clone();
                let is_served = in_row.is_some() && (entity == last || is_near(last));
                let expected = match is_near(entity) && at.is_none() {
                    true => Some(None),
                    false => is_served.then_some(at),
                };
                assert_eq!(removed.remove_from_row(entity), expected, "{entity} of {order:?}");
                let left = done(is_served, &|order| _ = order.swap_remove(at.unwrap()));
                assert_eq!(removed.as_slice(), left);

                let mut removed = set.clone();
                let is_served = in_row.is_some_and(|at| at <= to)
                    && other.is_some_and(is_near)
                    && is_near(last);
                let expected = at.filter(|_| is_served);
                assert_eq!(removed.remove_in_row(entity, to), expected, "{entity} of {order:?}");
                let left = done(is_served, &|order| {
                    order.swap(at.unwrap(), to);
                    order.swap_remove(to);
                });
                assert_eq!(removed.as_slice(), left);

                let mut brought = set.clone();
                let is_served = in_row.is_some() && (at == Some(to) || other.is_some_and(is_near));
                let is_served = is_served && to < order.len();
                let expected = at.filter(|_| is_served);
                assert_eq!(brought.bring_in_row(entity, to), expected, "{entity} of {order:?}");
                let left = done(is_served, &|order| order.swap(at.unwrap(), to));
                assert_eq!(brought.as_slice(), left);
                let is_moved = is_served && at != Some(to);
                assert_eq!(brought.stamp() > set.stamp(), is_moved, "{entity} of {order:?}");

                [removed, brought].iter().for_each(|set| set.check().unwrap());
            }
        }
    }

    #[test]
    fn a_slot_that_nobody_has_is_found() {
        let mut set: SparseSet = (0..4).map(|index| id(index, 0)).collect();
        set.check().unwrap();

        *set.parts_mut().0.slot_mut(9, 4) = Slot::new(2, id(9, 0));

        assert!(set.check().is_err());
    }
}
