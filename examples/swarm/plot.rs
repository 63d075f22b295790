//! The plot: how many of both kinds there were, step by step.

use std::path::Path;

use indicatif::HumanCount;
use plotters::prelude::*;

use crate::census::History;
use crate::light;
use crate::paper::{self, Drawn};

/// Draws both curves; grazers are counted on the left, hunters on the right.
pub fn draw(history: &History, path: &Path) -> Drawn {
    let paper = paper::sheet(path, (1024, 480))?;
    let [grazers, hunters] = [light::GRAZER, light::HUNTER].map(|colour| {
        let (red, green, blue) = light::screen(colour);
        RGBColor(red, green, blue)
    });
    let steps = 0..history.steps().max(1);
    let most = |count: fn(&crate::census::Census) -> usize| {
        history.0.iter().map(count).max().unwrap_or(0).max(1) * 21 / 20
    };
    let mut chart = ChartBuilder::on(&paper)
        .margin(16)
        .caption("Population", paper::text(26, paper::TEXT))
        .x_label_area_size(48)
        .y_label_area_size(84)
        .right_y_label_area_size(84)
        .build_cartesian_2d(steps.clone(), 0..most(|c| c.grazers))?
        .set_secondary_coord(steps, 0..most(|c| c.hunters));

    let number = |n: &usize| HumanCount(*n as u64).to_string();
    chart
        .configure_mesh()
        .axis_style(paper::TEXT.mix(0.5))
        .bold_line_style(paper::TEXT.mix(0.15))
        .light_line_style(TRANSPARENT)
        .label_style(paper::text(17, paper::TEXT))
        .axis_desc_style(paper::text(19, paper::TEXT))
        .x_desc("step")
        .y_desc("grazers")
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .y_labels(6)
        .draw()?;
    chart
        .configure_secondary_axes()
        .axis_style(paper::TEXT.mix(0.5))
        .label_style(paper::text(17, paper::TEXT))
        .axis_desc_style(paper::text(19, paper::TEXT))
        .y_desc("hunters")
        .y_label_formatter(&number)
        .y_labels(6)
        .draw()?;

    let swatch = |colour: RGBColor| {
        move |(x, y)| PathElement::new([(x, y), (x + 22, y)], colour.stroke_width(3))
    };
    let points = history.0.iter().map(|census| census.grazers).enumerate();
    chart
        .draw_series(LineSeries::new(points, grazers.stroke_width(2)))?
        .label("grazers (left)")
        .legend(swatch(grazers));
    let points = history.0.iter().map(|census| census.hunters).enumerate();
    chart
        .draw_secondary_series(LineSeries::new(points, hunters.stroke_width(2)))?
        .label("hunters (right)")
        .legend(swatch(hunters));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(paper::DARK.mix(0.85))
        .border_style(paper::TEXT.mix(0.3))
        .label_font(paper::text(18, paper::TEXT))
        .draw()?;
    paper.present()?;
    Ok(())
}
