//! A module in which all common names are taken. Everything that is meant is spelled out from `::core` or `::esker`.

#![no_implicit_prelude]
#![allow(
    clippy::all,
    dead_code,
    non_camel_case_types,
    non_upper_case_globals,
    unreachable_pub,
    unused_macros,
    reason = "the names are the test"
)]

use ::core::primitive as p;

/// Types, each a component as well, so that the derives see them as what is derived.
macro_rules! taken {
    ($($name:ident)*) => {$(
        #[derive(::esker::Component, ::core::fmt::Debug, ::core::clone::Clone, ::core::default::Default)]
        pub struct $name;
    )*};
}

taken! {
    Option None Result Ok Err Vec Box String ToString Cow Arc Rc PhantomData
    World Entity Query Pool PoolMut Res ResMut Commands Local Key Usage AccessSet Run ParamError Stream Gate Row
    Extras TypeSlot Packed Hashed Indexed Tracked Span Opening Surveyor SlotRow Terms Named Sealed Form Cloning
    References EntityMapper Reacted With Without Or Has AnyOf Mut Ref SLOT NONE NAME VERSION
    bool u8 u16 u32 u64 usize i32 f32 char str
}

/// Traits.
macro_rules! taken_traits {
    ($($name:ident)*) => {$(
        pub trait $name {}
    )*};
}

taken_traits! {
    Default Clone Copy Send Sync Sized Iterator IntoIterator Into From TryFrom Drop Fn FnMut FnOnce Any Deref Eq
    Component Bundle QueryData QueryFilter SystemParam SystemOutput Snapshot MapEntities Storage ComponentVisitor
    SliceData
}

/// Modules.
pub mod core {}
pub mod std {}
pub mod alloc {}
pub mod esker {}
pub mod query {}
pub mod system {}
pub mod named {}

/// What variables would be called: constants and statics cannot be bound.
macro_rules! taken_values {
    ($($name:ident)*) => {$(
        pub const $name: () = ();
    )*};
}

taken_values! {
    gate parts writer row visitor world access state run see mapper made view fetch span opening survey known search
    place by entities numbers cursor nth item len entity a b name given field_0 value slot this number
}

pub static is_used: () = ();

/// Methods of everything, under the names that derives call.
pub trait Everything {
    fn insert(&self) {}
    fn remove(&self) {}
    fn get(&self) {}
    fn init(&self) {}
    fn require(&self) {}
    fn clone(&self) {}
    fn default(&self) {}
    fn map_entities(&self) {}
    fn write(&self) {}
    fn visit(&self) {}
    fn assemble(&self) {}
    fn ran(&self) {}
    fn apply(&self) {}
    fn discard(&self) {}
    fn streams(&self) {}
    fn outputs(&self) {}
    fn name(&self) {}
    fn item(&self) {}
    fn new(&self) {}
    fn into(&self) {}
    fn map(&self) {}
}

impl<T: ?::core::marker::Sized> Everything for T {}

macro_rules! vec {
    () => {
        ::core::compile_error!("not this one")
    };
}
macro_rules! panic {
    () => {
        ::core::compile_error!("not this one")
    };
}

/// All options, of a type with a parameter that has a default.
#[derive(::esker::Component, ::core::fmt::Debug)]
#[component(storage = Hashed, track, keep_removed)]
#[component(on_add = self::count, on_change = self::count, on_remove = count)]
#[component(require(
    Vec,
    r#type = r#match,
    Keyed<3> = || Keyed::<3> { r#const: 3, r#fn: 4 },
    Box = made_by::<u32, Box>,
    Result = <Result as Make<u32, Box>>::make,
    String = || -> String { if 1 < 2 { String } else { String } },
    Made = { fn make() -> Made { Made::make() } make },
))]
pub struct Some<T = (), const N: p::usize = 2>
where
    T: 'static + ::core::marker::Send + ::core::marker::Sync,
{
    /// A field with words.
    pub number: p::u32,
    #[cfg(all())]
    pub marker: ::core::marker::PhantomData<[T; N]>,
    #[cfg(any())]
    pub gone: NoSuchType,
}

impl<T: ::core::marker::Send + ::core::marker::Sync, const N: p::usize> ::core::clone::Clone
    for Some<T, N>
{
    fn clone(&self) -> Self {
        Self { number: self.number, marker: ::core::marker::PhantomData }
    }
}

pub static CALLS: ::core::sync::atomic::AtomicUsize = ::core::sync::atomic::AtomicUsize::new(0);

fn count(_: &::esker::World, _: ::esker::Entity, _: &mut ::esker::Commands<'_, '_>) {
    CALLS.fetch_add(1, ::core::sync::atomic::Ordering::Relaxed);
}

fn r#match() -> r#type {
    r#type { r#fn: 4 }
}

fn made_by<A, B: ::core::default::Default>() -> B {
    ::core::default::Default::default()
}

pub trait Make<A, B> {
    fn make() -> Self;
}

impl Make<u32, Box> for Result {
    fn make() -> Self {
        Result
    }
}

/// A name that needs `r#`, in a field, too.
#[derive(::esker::Component, ::core::fmt::Debug, ::core::clone::Clone)]
#[cfg_attr(all(), component(track))]
pub struct r#type {
    pub r#fn: p::u32,
}

#[derive(::esker::Component, ::core::fmt::Debug)]
pub struct Keyed<const N: p::usize> {
    pub r#const: p::usize,
    pub r#fn: p::u32,
}

#[derive(::esker::Component, ::core::fmt::Debug)]
#[component(storage = ::esker::storage::Indexed)]
pub enum Made {
    Some(p::u32),
    None,
}

impl Made {
    fn make() -> Self {
        Self::Some(1)
    }
}

/// Fields called like variables of the derive, and a bundle in a bundle.
#[derive(::esker::Bundle)]
pub struct Loaded<T = Vec, const N: p::usize = 3>
where
    T: ::esker::Component,
{
    /// A field with words.
    pub gate: T,
    pub parts: Keyed<N>,
    #[cfg(all())]
    pub writer: (Option, Err),
    pub row: Pair<World, Entity>,
    pub r#type: r#type,
    pub __gate: Ok,
}

#[derive(::esker::Bundle)]
pub struct Pair<A, B>(pub A, pub B);

#[derive(::esker::Bundle)]
pub struct Nothing;

/// A query whose fields are called like variables, and like constants of this module.
#[derive(::esker::QueryData)]
pub struct r#impl<'q, T: ::esker::Component = Vec, const N: p::usize = 3>
where
    T: ::core::clone::Clone,
{
    /// A field with words.
    pub entity: ::esker::Entity,
    pub view: &'q mut r#type,
    pub fetch: ::core::option::Option<&'q T>,
    #[cfg(all())]
    pub r#fn: &'q Keyed<N>,
    #[cfg(any())]
    pub gone: NoSuchType,
    pub item: ::esker::Has<Made>,
    pub __given_0: ::core::option::Option<&'q Option>,
    pub made: (::core::option::Option<&'q Err>, ::core::option::Option<&'q mut Ok>),
}

/// More fields than a tuple has, and another such struct in it.
#[derive(::esker::QueryData)]
pub struct Wide<'w> {
    pub a: r#impl<'w>,
    pub b: ::core::option::Option<&'w u8>,
    pub c: ::core::option::Option<&'w u16>,
    pub d: ::core::option::Option<&'w u32>,
    pub e: ::core::option::Option<&'w u64>,
    pub f: ::core::option::Option<&'w usize>,
    pub g: ::core::option::Option<&'w i32>,
    pub h: ::core::option::Option<&'w f32>,
    pub i: ::core::option::Option<&'w char>,
    pub j: ::core::option::Option<&'w str>,
    pub k: ::core::option::Option<&'w bool>,
    pub l: ::core::option::Option<&'w Query>,
    pub m: ::core::option::Option<&'w Pool>,
    pub n: ::core::option::Option<&'w Res>,
    pub o: ::core::option::Option<&'w Local>,
    pub p: ::core::option::Option<&'w Run>,
    pub q: ::core::option::Option<&'w Row>,
}

/// Without a lifetime.
#[derive(::esker::QueryData)]
pub struct Ids {
    pub r#for: ::esker::Entity,
}

/// A parameter of all kinds, with defaults.
#[derive(::esker::SystemParam)]
pub struct r#mod<'w, 's, T: ::esker::Component = Vec, const N: p::usize = 3>
where
    T: ::core::clone::Clone,
{
    /// A field with words.
    pub world: ::esker::Pool<'w, T>,
    pub state: ::esker::Query<'w, r#impl<'static, T, N>, ::esker::With<Keyed<N>>>,
    pub run: ::esker::Local<'s, p::u32>,
    #[cfg(all())]
    pub r#fn: ::esker::Commands<'w, 's>,
    #[cfg(any())]
    pub gone: NoSuchType,
    pub see: ::core::option::Option<::esker::Res<'w, Usage>>,
}

#[derive(::esker::SystemParam)]
pub struct Few<'w>(pub ::esker::Pool<'w, World>, pub Empty);

#[derive(::esker::SystemParam)]
pub struct Late<'s> {
    pub access: ::esker::Local<'s, p::u32>,
}

#[derive(::esker::SystemParam)]
pub struct Empty;

/// A type with ids, under a name that needs `r#`.
#[derive(
    ::esker::Component,
    ::esker::snapshot::Snapshot,
    ::esker::snapshot::MapEntities,
    ::core::clone::Clone,
)]
#[snapshot(clone, entities, version = 3)]
pub struct r#trait {
    #[entities]
    pub r#fn: ::esker::Entity,
    #[cfg(all())]
    #[entities]
    pub mapper: Linked,
    pub other: p::u32,
}

#[derive(::esker::snapshot::MapEntities, ::core::clone::Clone)]
pub struct Linked<T = ::esker::Entity, const N: p::usize = 1>(#[entities] pub T)
where
    T: ::esker::snapshot::MapEntities;

#[derive(::esker::snapshot::MapEntities)]
pub enum Target {
    One(#[entities] ::esker::Entity),
    Two {
        #[entities]
        field_0: ::esker::Entity,
        #[entities]
        mapper: ::esker::Entity,
    },
    None,
}

#[derive(::esker::snapshot::MapEntities)]
pub enum Never {}
