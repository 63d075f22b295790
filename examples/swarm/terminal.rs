//! A run that is drawn in the terminal: two pixels for each character.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyCode, KeyModifiers};
use crossterm::style::{Color, Colors, Print, ResetColor, SetColors};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use crossterm::{cursor, execute, queue};
use indicatif::HumanCount;

use crate::census::History;
use crate::light::Light;
use crate::simulation::Simulation;
use crate::summary::Timings;

/// Time between two pictures.
const FRAME: Duration = Duration::from_millis(40);

/// Makes all steps, or fewer if somebody presses q, and draws the world meanwhile.
pub fn run(simulation: &mut Simulation, steps: u32) -> Result<Timings, String> {
    if !io::stdout().is_terminal() {
        return Err("--terminal needs a terminal to draw in".into());
    }
    let fault = |error: io::Error| format!("cannot draw in the terminal: {error}");
    let mut screen = Screen::open().map_err(fault)?;
    let mut timings = Timings::default();
    let mut drawn = Instant::now();
    for step in 1..=steps {
        timings.add(&simulation.step());
        if drawn.elapsed() >= FRAME || step == steps {
            drawn = Instant::now();
            screen.draw(simulation, &timings).map_err(fault)?;
            if screen.is_to_end().map_err(fault)? {
                break;
            }
        }
    }
    Ok(timings)
}

/// The terminal while it is ours. It is given back also if something panics.
struct Screen {
    out: io::BufWriter<io::Stdout>,
}

impl Screen {
    fn open() -> io::Result<Self> {
        enable_raw_mode()?;
        let mut screen = Self { out: io::BufWriter::with_capacity(1 << 18, io::stdout()) };
        execute!(screen.out, EnterAlternateScreen, cursor::Hide)?;
        Ok(screen)
    }

    /// Whether somebody wants it to end. Waits as long as somebody wants a pause.
    fn is_to_end(&mut self) -> io::Result<bool> {
        let mut is_paused = false;
        while is_paused || event::poll(Duration::ZERO)? {
            match event::read()? {
                Event::Key(key) if !key.is_release() => match key.code {
                    KeyCode::Char('q') | KeyCode::Esc => return Ok(true),
                    KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                        return Ok(true);
                    }
                    KeyCode::Char(' ') => is_paused = !is_paused,
                    _ => {}
                },
                Event::Resize(..) => queue!(self.out, Clear(ClearType::All))?,
                _ => {}
            }
        }
        Ok(false)
    }

    /// Draws the world as large as fits, and a line of figures.
    fn draw(&mut self, simulation: &Simulation, timings: &Timings) -> io::Result<()> {
        let (columns, rows) = size()?;
        let side = columns.min(rows.saturating_sub(1) * 2).max(2) as usize / 2 * 2;
        let light = Light::of(&simulation.world, side);
        let colour = |x, y| {
            let (r, g, b) = light.colour(x, y);
            Color::Rgb { r, g, b }
        };
        queue!(self.out, BeginSynchronizedUpdate)?;
        for row in 0..side / 2 {
            queue!(self.out, cursor::MoveTo(0, row as u16))?;
            for x in 0..side {
                let colors = Colors::new(colour(x, 2 * row), colour(x, 2 * row + 1));
                queue!(self.out, SetColors(colors), Print('▀'))?;
            }
        }
        let line = status(simulation, timings);
        let line: String = line.chars().take(columns.into()).collect();
        let bottom = cursor::MoveTo(0, (side / 2) as u16);
        queue!(self.out, ResetColor, bottom, Print(line), Clear(ClearType::UntilNewLine))?;
        queue!(self.out, EndSynchronizedUpdate)?;
        self.out.flush()
    }
}

fn status(simulation: &Simulation, timings: &Timings) -> String {
    let history = simulation.world.resource::<History>();
    let (now, steps) = (history.now(), HumanCount(history.steps() as u64));
    let [grazers, hunters] = [now.grazers, now.hunters].map(|n| HumanCount(n as u64));
    let speed = timings.steps_per_second();
    format!(
        "step {steps}: {grazers} grazers, {hunters} hunters, {speed:.0} steps/s; space pauses, q ends"
    )
}

impl Drop for Screen {
    fn drop(&mut self) {
        // There is nothing to be done about a terminal that does not listen.
        _ = execute!(self.out, ResetColor, cursor::Show, LeaveAlternateScreen);
        _ = disable_raw_mode();
    }
}
