//! The derive macros of `esker`. Use them through that crate.

mod bundle;
mod component;
mod map_entities;
mod query_data;
mod snapshot;
mod system_param;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a type a component.
///
/// `#[component(storage = Packed)]` chooses the storage: `Packed` (the default), `Indexed`,
/// `Hashed`, or the path of a storage of your own, which is given the type as its parameter.
///
/// | option | meaning |
/// |---|---|
/// | `track` | remembers when values are added and changed |
/// | `keep_removed` | who reads removals is given a clone of the value |
/// | `on_add = f`, `on_change = f`, `on_remove = f` | calls `f(&World, Entity, &mut Commands)`, before other listeners |
/// | `require(B, C = make_c)` | who gets this component gets a default `B` and the `C` that `make_c()` makes, if it has none; a closure does as well: `C = \|\| C(1)` |
#[proc_macro_derive(Component, attributes(component))]
pub fn derive_component(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    component::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a type one that snapshots can keep.
///
/// | option | meaning |
/// |---|---|
/// | `name = "…"` | its name in snapshots; that of the type unless given |
/// | `version = n` | the version of its layout, 1 unless given |
/// | `plain` | values are plain bytes (`bytemuck::Pod`) and written as one block |
/// | `serde` | beside `plain`: other formats than the native one use serde |
/// | `clone` | values can be cloned with the world |
/// | `entities` | values contain ids, and implement `MapEntities` |
#[proc_macro_derive(Snapshot, attributes(snapshot))]
pub fn derive_snapshot(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    snapshot::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Says which fields of a type contain ids: those with `#[entities]`.
///
/// Needed for components that say `#[snapshot(entities)]`, so that ids follow when a snapshot is merged or mirrored.
#[proc_macro_derive(MapEntities, attributes(entities))]
pub fn derive_map_entities(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    map_entities::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct of components (or of other bundles) a bundle.
///
/// Use it for components that go in together in several places; a tuple does as well in one.
///
/// ```ignore
/// #[derive(Bundle)]
/// struct Monster {
///     position: Position,
///     health: Health,
/// }
///
/// world.spawn(Monster { position: Position(0.0), health: Health(10) });
/// ```
#[proc_macro_derive(Bundle)]
pub fn derive_bundle(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    bundle::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct of system parameters a system parameter.
///
/// Its lifetimes, as far as it needs them, are called `'w` (that of the world) and `'s` (that of what
/// the system keeps), without bounds. It may have other parameters, with defaults:
///
/// ```ignore
/// #[derive(SystemParam)]
/// struct Economy<'w, 's> {
///     purses: Query<'w, &'static mut Purse>,
///     prices: Res<'w, Prices>,
///     commands: Commands<'w, 's>,
/// }
/// ```
#[proc_macro_derive(SystemParam)]
pub fn derive_system_param(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    system_param::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct of query terms a term: what is fetched has names.
///
/// The fields are terms: `Entity`, `&'w T`, `&'w mut T`, `Option<…>`, `Has<T>`, other such structs … A struct
/// matches and borrows as the tuple of its fields, costs the same, and goes wherever that goes.
///
/// ```ignore
/// #[derive(QueryData)]
/// struct Mover<'w> {
///     entity: Entity,
///     position: &'w mut Position,
///     velocity: &'w Velocity,
///     armed: Has<Weapon>,
/// }
///
/// for mover in &mut world.query::<Mover>() {
///     mover.position.x += mover.velocity.x;
/// }
/// ```
///
/// The struct says what is fetched and is never made itself. Beside it the derive makes two structs with the same fields, which are
/// what a query gives:
///
/// | struct | given by | a field has |
/// |---|---|---|
/// | `MoverItem<'w>` | who may write: `iter_mut`, `get_mut`, `for … in &mut query` | what its term gives: `&mut Position`, or `Mut<Position>` if that is tracked; `bool` for `Has<Weapon>` |
/// | `MoverReadItem<'w>` | who reads: `iter`, `get`, `for … in &query` | the same, with `&Position` |
///
/// Methods belong to these: `impl MoverItem<'_> { … }`. `runs` gives a tuple of slices, in the order of the fields
/// (with more than sixteen, a tuple of such tuples).
///
/// The struct has at most one lifetime, and may have other parameters: `struct Owned<'w, T: Component>`. It
/// cannot be more public than the components it names.
#[proc_macro_derive(QueryData)]
pub fn derive_query_data(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    query_data::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
