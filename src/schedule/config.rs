//! Systems as they are added: with names, orders, sets and conditions.

use std::fmt;
use std::ops::Range;

use crate::access::{AccessSet, Key};
use crate::system::{FunctionSystem, IntoSystem, Lent, ParamError, System, SystemFunction};
use crate::tick::Tick;
use crate::world::World;

/// Systems to be added to a schedule, and orders among them; see [`IntoConfigs`].
#[derive(Default)]
pub struct Configs {
    pub(super) systems: Vec<(Box<dyn System>, Config)>,
    /// Declared orders, by positions among these systems.
    pub(super) edges: Vec<(usize, usize)>,
    /// The elements of the tuple.
    parts: Vec<Range<usize>>,
}

/// What was said about one system.
#[derive(Default)]
pub(super) struct Config {
    pub(super) before: Vec<Label>,
    pub(super) after: Vec<Label>,
    pub(super) sets: Vec<Label>,
    pub(super) conditions: Vec<Box<dyn Condition>>,
}

impl Config {
    /// Whether a label means this system, by its name or one of its sets.
    pub(super) fn is_named(&self, name: &str, label: &Label) -> bool {
        label.means(name) || self.sets.contains(label)
    }
}

/// The name of a system or of a set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Label(String);

impl Label {
    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the name, or the end of the path.
    fn means(&self, name: &str) -> bool {
        let Some(rest) = name.strip_suffix(&self.0) else { return false };
        rest.is_empty() || rest.ends_with("::")
    }
}

impl From<String> for Label {
    fn from(name: String) -> Self {
        Self(name)
    }
}

/// What names a system or a set: a text, or a function that was added as a system.
///
/// # Soundness
/// Nothing rests on it: a name.
pub trait IntoLabel<Marker> {
    /// The name.
    fn into_label(self) -> Label;
}

impl IntoLabel<()> for &str {
    fn into_label(self) -> Label {
        Label(self.to_owned())
    }
}

impl<Marker, F: SystemFunction<Marker>> IntoLabel<(Marker,)> for F {
    fn into_label(self) -> Label {
        Label(std::any::type_name::<F>().to_owned())
    }
}

/// Whether a system is to run.
pub(super) trait Condition: Send {
    fn init(&mut self, world: &mut World) -> AccessSet;

    fn holds(&mut self, world: &World, now: Tick) -> Result<bool, ParamError>;

    /// Whether it records commands, which nobody would carry out.
    fn records(&mut self) -> bool;

    /// Outputs that it reads, and whether it cannot do without.
    fn needs(&self) -> Vec<(Key, bool)>;
}

impl<Marker: 'static, F: SystemFunction<Marker, Return = bool>> Condition
    for FunctionSystem<F, Marker>
{
    fn init(&mut self, world: &mut World) -> AccessSet {
        self.init_params(world)
    }

    fn holds(&mut self, world: &World, now: Tick) -> Result<bool, ParamError> {
        self.run_for(Lent::Shared(world), now)
    }

    fn records(&mut self) -> bool {
        let mut records = false;
        self.streams(&mut |_| records = true);
        records
    }

    fn needs(&self) -> Vec<(Key, bool)> {
        System::needs(self)
    }
}

/// What can be added to a schedule: a system, [`Configs`], or a tuple of these.
///
/// Use its methods to say more about systems than the order in which they are added.
///
/// # Soundness
/// Nothing rests on it: a schedule decides what runs at once, and cells decide what may (B1).
///
/// # Examples
/// ```
/// # use esker::prelude::*;
/// fn think(mut log: ResMut<Vec<&str>>) { log.push("think") }
/// fn plan(mut log: ResMut<Vec<&str>>) { log.push("plan") }
/// fn act(mut log: ResMut<Vec<&str>>) { log.push("act") }
/// fn rest(mut log: ResMut<Vec<&str>>) { log.push("rest") }
///
/// let mut schedule = Schedule::new();
/// schedule.add_systems((
///     act.after("decide"),
///     (think, plan).chain().in_set("decide"),
///     rest.run_if(|| false),
/// ));
/// let mut world = World::new();
/// world.insert_resource(Vec::<&str>::new());
/// schedule.step(&mut world);
/// assert_eq!(*world.resource::<Vec<&str>>(), ["think", "plan", "act"]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be added to a schedule",
    label = "not a system, nor a tuple of systems",
    note = "a system is a function or closure with up to 16 parameters, all of them `SystemParam`s, which \
            returns nothing, an output or a `Result`",
    note = "components are asked for with `Query<&T>` or `Query<&mut T>`, and a type that is returned for other \
            systems implements `SystemOutput`",
    note = "the types of a closure's parameters must be written out"
)]
pub trait IntoConfigs<Marker>: Sized {
    /// The systems, with nothing said about them yet.
    fn into_configs(self) -> Configs;

    /// Runs the elements of the tuple one after the other.
    fn chain(self) -> Configs {
        let mut configs = self.into_configs();
        for pair in configs.parts.clone().windows(2) {
            for a in pair[0].clone() {
                configs.edges.extend(pair[1].clone().map(|b| (a, b)));
            }
        }
        configs.parts = std::iter::once(0..configs.systems.len()).collect();
        configs
    }

    /// Runs it before a system, or before all systems of a set; before all others, if it is in the set.
    fn before<L>(self, label: impl IntoLabel<L>) -> Configs {
        let label = label.into_label();
        self.into_configs().each(|_, config| config.before.push(label.clone()))
    }

    /// Runs it after a system, or after all systems of a set; after all others, if it is in the set.
    fn after<L>(self, label: impl IntoLabel<L>) -> Configs {
        let label = label.into_label();
        self.into_configs().each(|_, config| config.after.push(label.clone()))
    }

    /// Puts it into a set.
    fn in_set(self, set: &str) -> Configs {
        self.into_configs().each(|_, config| config.sets.push(Label(set.to_owned())))
    }

    /// Runs it only if `condition` returns `true` just before.
    ///
    /// A condition may have any parameter but [`Commands`](crate::Commands). An [`Output`](crate::Output) that it reads is
    /// returned first, as if the system read it.
    fn run_if<C: 'static, F>(self, condition: F) -> Configs
    where
        F: SystemFunction<C, Return = bool> + Clone,
    {
        self.into_configs().each(|_, config| {
            config.conditions.push(Box::new(condition.clone().into_system()));
        })
    }

    /// Gives it a name.
    fn named(self, name: &str) -> Configs {
        self.into_configs().each(|system, _| system.set_name(name.to_owned()))
    }
}

impl Configs {
    fn each(mut self, mut change: impl FnMut(&mut dyn System, &mut Config)) -> Self {
        self.systems.iter_mut().for_each(|(system, config)| change(&mut **system, config));
        self
    }
}

/// Marks single systems.
#[derive(Debug)]
pub struct Single;

impl<Marker, S: IntoSystem<Marker>> IntoConfigs<(Single, Marker)> for S {
    fn into_configs(self) -> Configs {
        let system: Box<dyn System> = Box::new(self.into_system());
        Configs {
            systems: vec![(system, Config::default())],
            edges: Vec::new(),
            parts: std::iter::once(0..1).collect(),
        }
    }
}

impl IntoConfigs<()> for Configs {
    fn into_configs(self) -> Configs {
        self
    }
}

/// `IntoConfigs` for a tuple.
macro_rules! tuple_configs {
    ($($name:ident $marker:ident $at:tt),*) => {
        impl<$($name, $marker),*> IntoConfigs<(($($marker,)*),)> for ($($name,)*)
        where
            $($name: IntoConfigs<$marker>,)*
        {
            fn into_configs(self) -> Configs {
                let mut all = Configs::default();
                $(all.append(self.$at.into_configs());)*
                all
            }
        }
    };
}

/// Calls `tuple_configs` for each length; it needs two types for each element.
macro_rules! all_configs {
    (@ [$($done:tt)*]) => {};
    (@ [$($name:ident $marker:ident $at:tt),*] ($a:ident $m:ident $n:tt) $($rest:tt)*) => {
        tuple_configs!($($name $marker $at,)* $a $m $n);
        all_configs!(@ [$($name $marker $at,)* $a $m $n] $($rest)*);
    };
}

all_configs!(@ []
    (A Ma 0) (B Mb 1) (C Mc 2) (D Md 3) (E Me 4) (F Mf 5) (G Mg 6) (H Mh 7)
    (I Mi 8) (J Mj 9) (K Mk 10) (L Ml 11) (M Mm 12) (N Mn 13) (O Mo 14) (P Mp 15));

impl Configs {
    /// Adds what one element of a tuple has.
    fn append(&mut self, other: Self) {
        let first = self.systems.len();
        self.systems.extend(other.systems);
        self.edges.extend(other.edges.into_iter().map(|(a, b)| (first + a, first + b)));
        self.parts.push(first..self.systems.len());
    }
}

impl fmt::Debug for Configs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.systems.iter().map(|(system, _)| system.name())).finish()
    }
}
