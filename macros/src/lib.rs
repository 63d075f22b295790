//! The derive macros of `esker`. Use them through that crate.

mod bundle;
mod component;
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
/// | `require(B, C = make_c)` | who gets this component gets a default `B` and the `C` that `make_c()` makes, if it has none |
#[proc_macro_derive(Component, attributes(component))]
pub fn derive_component(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    component::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct of components (or of other bundles) a bundle.
#[proc_macro_derive(Bundle)]
pub fn derive_bundle(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    bundle::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct of system parameters a system parameter.
///
/// Its lifetimes, as far as it needs them, are called `'w` (that of the world) and `'s` (that of what
/// the system keeps):
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
