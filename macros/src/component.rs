//! `derive(Component)`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Error, GenericParam, Path, parse_quote};

/// Storages that are named without a path.
const OURS: [&str; 3] = ["Packed", "Indexed", "Hashed"];

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let storage = storage(input)?;
    let mut generics = input.generics.clone();
    let is_generic =
        generics.params.iter().any(|param| !matches!(param, GenericParam::Lifetime(_)));
    if !generics.params.is_empty() {
        let (_, arguments, _) = input.generics.split_for_impl();
        let bounds =
            parse_quote!(#name #arguments: ::core::marker::Send + ::core::marker::Sync + 'static);
        generics.make_where_clause().predicates.push(bounds);
    }
    let (parameters, arguments, conditions) = generics.split_for_impl();
    // A static cannot be generic: such types are looked up in a map instead.
    let type_slot = (!is_generic).then(|| {
        quote! {
            #[inline]
            fn type_slot() -> ::core::option::Option<&'static ::esker::component::TypeSlot<Self>> {
                static SLOT: ::esker::component::TypeSlot<#name> =
                    ::esker::component::TypeSlot::new();
                ::core::option::Option::Some(&SLOT)
            }
        }
    });
    Ok(quote! {
        #[automatically_derived]
        impl #parameters ::esker::component::Component for #name #arguments #conditions {
            type Storage = #storage<Self>;
            #type_slot
        }
    })
}

/// The storage named in `#[component(storage = …)]`.
fn storage(input: &DeriveInput) -> syn::Result<Path> {
    let mut storage: Path = parse_quote!(::esker::storage::Packed);
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("component")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("storage") {
                return Err(meta.error("unknown option; `component` takes `storage = …`"));
            }
            let value = meta.value()?;
            if value.peek(syn::Lit) {
                return Err(value.error(
                    "write the name of the storage without quotes, as in `storage = Hashed`",
                ));
            }
            let path: Path = value.parse()?;
            if path.segments.iter().any(|segment| !segment.arguments.is_none()) {
                let remedy = "name the storage without its parameter, as in `storage = Hashed`";
                return Err(Error::new_spanned(path, remedy));
            }
            storage = match path.get_ident() {
                Some(ident) if OURS.iter().any(|ours| ident == ours) => {
                    parse_quote!(::esker::storage::#ident)
                }
                _ => path,
            };
            Ok(())
        })?;
    }
    Ok(storage)
}
