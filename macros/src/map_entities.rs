//! `derive(MapEntities)`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, Index, Member};

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let body = match &input.data {
        Data::Struct(data) => {
            let fields = marked(&data.fields).into_iter().map(|member| quote!(&mut self.#member));
            map_all(fields)
        }
        Data::Enum(data) => {
            let arms = data.variants.iter().map(|variant| {
                let variant_name = &variant.ident;
                let members = marked(&variant.fields);
                let bound = (0..members.len()).map(|nth| format_ident!("__field_{nth}"));
                let bound: Vec<_> = bound.collect();
                let body = map_all(bound.iter().map(|field| quote!(#field)));
                quote!(Self::#variant_name { #(#members: #bound,)* .. } => { #body })
            });
            match data.variants.is_empty() {
                // A reference to such a value is a value for all that the compiler knows.
                true => quote!(match *self {}),
                false => quote!(match self { #(#arms)* }),
            }
        }
        Data::Union(_) => {
            return Err(Error::new_spanned(
                name,
                "`MapEntities` cannot be derived for a union: which field is set is not known; implement it by hand",
            ));
        }
    };
    let (parameters, arguments, conditions) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #parameters ::esker::snapshot::MapEntities for #name #arguments #conditions {
            #[allow(unused_variables, unreachable_code, reason = "a type may contain no ids, or have no value")]
            fn map_entities(
                &mut self,
                __mapper: &mut ::esker::snapshot::EntityMapper<'_>,
            ) -> ::core::primitive::bool {
                #body
                true
            }
        }
    })
}

/// The fields that say `#[entities]`.
fn marked(fields: &Fields) -> Vec<Member> {
    let marked = fields.iter().enumerate();
    let marked = marked.filter(|(_, field)| {
        field.attrs.iter().any(|attribute| attribute.path().is_ident("entities"))
    });
    let member = |(at, field): (usize, &syn::Field)| match &field.ident {
        Some(name) => Member::Named(name.clone()),
        None => Member::Unnamed(Index::from(at)),
    };
    marked.map(member).collect()
}

/// Maps the ids of each field; one that leads nowhere does not make the whole worthless.
fn map_all(fields: impl Iterator<Item = TokenStream>) -> TokenStream {
    quote!(#(_ = ::esker::snapshot::MapEntities::map_entities(#fields, __mapper);)*)
}
