use esker::Entity;
use esker::snapshot::MapEntities;

#[derive(MapEntities)]
union Target {
    entity: Entity,
    number: u64,
}

fn main() {}
