//! Who takes part.
//!
//! One file per contestant. To add one: write the file, name it below, and put it into
//! [`all`] at the place where its column shall stand. What its components need goes into the
//! macro in [`crate::components`].

use crate::contestant::Contestant;

pub mod bevy;
mod binary;
pub mod esker;
#[cfg(feature = "flecs")]
pub mod flecs;
pub mod hecs;
pub mod raw;
pub mod rawset;
pub mod shipyard;
pub mod sparsey;
pub mod specs;

/// Every contestant of this build, in the order of the columns. The first one is the limit.
pub fn all() -> Vec<&'static dyn Contestant> {
    let mut all: Vec<&'static dyn Contestant> = vec![
        &raw::Raw,
        &rawset::RawSet,
        &esker::Esker,
        &esker::EskerGroup,
        &bevy::Bevy,
        &bevy::BevySparse,
        &hecs::Hecs,
        &shipyard::Shipyard,
        &sparsey::Sparsey,
        &sparsey::SparseyGroup,
        &specs::Specs,
    ];
    all.extend(optional());
    all
}

#[cfg(feature = "flecs")]
fn optional() -> Option<&'static dyn Contestant> {
    Some(&flecs::Flecs)
}

#[cfg(not(feature = "flecs"))]
fn optional() -> Option<&'static dyn Contestant> {
    None
}
