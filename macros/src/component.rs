//! `derive(Component)`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::{DeriveInput, Error, GenericParam, Path, parse_quote};

/// Storages that are named without a path.
const OURS: [&str; 3] = ["Packed", "Indexed", "Hashed"];

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let options = Options::of(input)?;
    let storage = options.storage();
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
            type Storage = #storage;
            #type_slot
        }
    })
}

/// What `#[component(…)]` says.
struct Options {
    storage: Path,
    track: bool,
}

impl Options {
    fn of(input: &DeriveInput) -> syn::Result<Self> {
        let mut options = Self { storage: parse_quote!(::esker::storage::Packed), track: false };
        for attribute in input.attrs.iter().filter(|attr| attr.path().is_ident("component")) {
            attribute.parse_nested_meta(|meta| options.read(&meta))?;
        }
        Ok(options)
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if meta.path.is_ident("storage") {
            self.storage = storage(meta)?;
        } else if meta.path.is_ident("track") {
            self.track = true;
        } else {
            return Err(meta.error("unknown option; `component` takes `storage = …` and `track`"));
        }
        Ok(())
    }

    fn storage(&self) -> TokenStream {
        let storage = &self.storage;
        match self.track {
            true => quote!(::esker::storage::Tracked<#storage<Self>>),
            false => quote!(#storage<Self>),
        }
    }
}

/// The storage named in `storage = …`.
fn storage(meta: &ParseNestedMeta<'_>) -> syn::Result<Path> {
    let value = meta.value()?;
    if value.peek(syn::Lit) {
        return Err(
            value.error("write the name of the storage without quotes, as in `storage = Hashed`")
        );
    }
    let path: Path = value.parse()?;
    if path.segments.iter().any(|segment| !segment.arguments.is_none()) {
        let remedy = "name the storage without its parameter, as in `storage = Hashed`";
        return Err(Error::new_spanned(path, remedy));
    }
    Ok(match path.get_ident() {
        Some(ident) if OURS.iter().any(|ours| ident == ours) => {
            parse_quote!(::esker::storage::#ident)
        }
        _ => path,
    })
}
