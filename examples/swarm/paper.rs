//! What the picture and the plot are drawn on.

use std::error::Error;
use std::path::Path;
use std::sync::Once;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

pub type Drawn = Result<(), Box<dyn Error>>;
pub type Paper<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

pub const DARK: RGBColor = RGBColor(16, 17, 22);
pub const TEXT: RGBColor = RGBColor(200, 203, 210);

/// A dark sheet that becomes a PNG when it is presented.
pub fn sheet(path: &Path, size: (u32, u32)) -> Result<Paper<'_>, Box<dyn Error>> {
    static FONT: Once = Once::new();
    // It comes as a crate, so that none has to be installed.
    FONT.call_once(|| {
        let font = epaint_default_fonts::UBUNTU_LIGHT;
        // The only error is a font that cannot be parsed; drawing text would report it.
        _ = register_font("sans-serif", FontStyle::Normal, font);
    });
    let paper = BitMapBackend::new(path, size).into_drawing_area();
    paper.fill(&DARK)?;
    Ok(paper)
}

/// The style of a text of this height.
pub fn text(height: u32, colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", height).into_font().color(&colour)
}
