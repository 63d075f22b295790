//! The derive macros of `esker`. Use them through that crate.

mod bundle;
mod component;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes a type a component.
///
/// `#[component(storage = Packed)]` chooses the storage: `Packed` (the default), `Indexed`,
/// `Hashed`, or the path of a storage of your own, which is given the type as its parameter.
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
