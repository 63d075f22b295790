//! What everyone knows of the others: systems whose outputs the rest of the step reads.

use esker::prelude::*;
use rayon::prelude::*;

use crate::grid::{Grid, Member};
use crate::life::{Grass, Hunter, InHerd, Position, Velocity};
use crate::torus::Torus;

/// Grazers by cell.
pub struct Herd(pub Grid);

/// For each cell, the hunters around it: the sum of the ways to them from its middle, and how many.
pub struct Danger(pub Vec<(f32, f32, f32)>);

/// For each cell, where it draws its grazers.
pub struct Drift(pub Vec<(f32, f32)>);

impl SystemOutput for Herd {}
impl SystemOutput for Danger {}
impl SystemOutput for Drift {}

pub fn sort_herd(
    grazers: Query<(Entity, &Position, &Velocity), InHerd>,
    torus: Res<Torus>,
) -> Herd {
    let members =
        grazers.iter().map(|(entity, &position, &velocity)| Member { entity, position, velocity });
    Herd(Grid::new(*torus, members))
}

/// Lets the cells around hunters smell of them.
pub fn smell(hunters: Query<&Position, With<Hunter>>, torus: Res<Torus>) -> Danger {
    let mut danger = vec![(0.0, 0.0, 0.0); torus.cells()];
    for &hunter in &hunters {
        for cell in torus.around(torus.cell(hunter)).into_iter().flatten() {
            let (x, y) = torus.way(torus.middle(cell), hunter);
            danger[cell] = add(danger[cell], (x, y, 1.0));
        }
    }
    Danger(danger)
}

/// Draws grazers along with their neighbours, and to where the grass is.
pub fn look_around(herd: Output<Herd>, grass: Res<Grass>, torus: Res<Torus>) -> Drift {
    let sums: Vec<_> = (0..torus.cells())
        .into_par_iter()
        .map(|cell| {
            let members =
                herd.0.members_of(cell..cell + 1).iter().map(|m| (m.velocity.x, m.velocity.y, 1.0));
            members.fold((0.0, 0.0, 0.0), add)
        })
        .collect();
    let drift = (0..torus.cells()).into_par_iter().map(|cell| {
        let around = torus.around(cell);
        let (x, y, n) =
            around.into_iter().flatten().map(|cell| sums[cell]).fold((0.0, 0.0, 1e-6), add);
        let [[_, above, _], [left, _, right], [_, below, _]] = around;
        let slope = (grass.0[right] - grass.0[left], grass.0[below] - grass.0[above]);
        (0.3 * x / n + 0.04 * slope.0, 0.3 * y / n + 0.04 * slope.1)
    });
    Drift(drift.collect())
}

fn add(a: (f32, f32, f32), b: (f32, f32, f32)) -> (f32, f32, f32) {
    (a.0 + b.0, a.1 + b.1, a.2 + b.2)
}
