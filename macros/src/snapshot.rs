//! `derive(Snapshot)`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::{DeriveInput, LitInt, LitStr};

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let mut options = Options { name: name.unraw().to_string(), version: 1, ..Options::default() };
    for attribute in input.attrs.iter().filter(|attr| attr.path().is_ident("snapshot")) {
        attribute.parse_nested_meta(|meta| options.read(&meta))?;
    }
    let Options { name: text, version, plain, serde, clone, entities } = options;
    let form = match (plain, serde) {
        (false, _) => quote!(serde),
        (true, false) => quote!(plain),
        (true, true) => quote!(plain_and_serde),
    };
    let cloning = (clone || plain).then(|| {
        quote! {
            fn cloning() -> ::core::option::Option<::esker::snapshot::Cloning<Self>> {
                ::core::option::Option::Some(::esker::snapshot::Cloning::clone())
            }
        }
    });
    let references = entities.then(|| {
        quote! {
            fn references() -> ::core::option::Option<::esker::snapshot::References<Self>> {
                ::core::option::Option::Some(
                    <Self as ::esker::snapshot::MapEntities>::map_entities,
                )
            }
        }
    });
    let (parameters, arguments, conditions) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #parameters ::esker::snapshot::Snapshot for #name #arguments #conditions {
            const NAME: &'static ::core::primitive::str = #text;
            const VERSION: ::core::primitive::u32 = #version;

            fn form() -> ::esker::snapshot::Form<Self> {
                ::esker::snapshot::Form::#form()
            }

            #cloning
            #references
        }
    })
}

/// What `#[snapshot(…)]` says.
#[derive(Default)]
struct Options {
    name: String,
    version: u32,
    plain: bool,
    serde: bool,
    clone: bool,
    entities: bool,
}

impl Options {
    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if meta.path.is_ident("name") {
            self.name = meta.value()?.parse::<LitStr>()?.value();
        } else if meta.path.is_ident("version") {
            self.version = meta.value()?.parse::<LitInt>()?.base10_parse()?;
        } else if meta.path.is_ident("plain") {
            self.plain = true;
        } else if meta.path.is_ident("serde") {
            self.serde = true;
        } else if meta.path.is_ident("clone") {
            self.clone = true;
        } else if meta.path.is_ident("entities") {
            self.entities = true;
        } else {
            return Err(meta.error(
                "unknown option; `snapshot` takes `name = \"…\"`, `version = …`, `plain`, `serde`, \
                 `clone` and `entities`",
            ));
        }
        Ok(())
    }
}
