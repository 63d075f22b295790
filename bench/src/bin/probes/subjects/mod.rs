//! Who is probed, one file each.

mod bevy;
mod esker;
mod hecs;
mod shipyard;
mod sparsey;
mod specs;

pub(crate) use self::{
    bevy::Bevy, esker::Esker, hecs::Hecs, shipyard::Shipyard, sparsey::Sparsey, specs::Specs,
};
