//! Esker side by side with its peers.
//!
//! [`contestants`] holds one file per library; each prepares the [`workload`]s behind the
//! trait in [`contestant`]. [`measure`] times them against each other, [`table`] and [`plot`]
//! show the result. The README of this crate says how to read the numbers.

pub mod bad_cases;
pub mod checksum;
pub mod cli;
pub mod compile;
pub mod components;
pub mod contestant;
pub mod contestants;
pub mod crowd;
pub mod frame;
pub mod heap;
pub mod kernel;
pub mod measure;
pub mod plot;
pub mod progress;
pub mod quad;
pub mod scene;
pub mod setting;
pub mod stats;
pub mod table;
pub mod threads;
pub mod workload;
