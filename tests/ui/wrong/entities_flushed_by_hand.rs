//! Only a batch can enter entities into the maps of a bundle.

use esker::prelude::*;
use esker::world::{BundleWriter, PoolWriter, Rows};

#[derive(Component)]
struct Health(u32);

fn smuggle(writer: &mut PoolWriter<Health>, entity: Entity) {
    writer.flush(&Rows { entities: &[entity], consecutive: true });
}

fn main() {
    let _ = smuggle;
}
