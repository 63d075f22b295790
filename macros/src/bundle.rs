//! `derive(Bundle)`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Index, Member, parse_quote};

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(name, "a bundle is a struct whose fields are components"));
    };
    let types: Vec<_> = data.fields.iter().map(|field| &field.ty).collect();
    let members: Vec<Member> = data.fields.members().collect();
    let numbers: Vec<Index> = (0..types.len()).map(Index::from).collect();
    let mut generics = input.generics.clone();
    if !generics.params.is_empty() {
        let conditions = generics.make_where_clause();
        let (_, arguments, _) = input.generics.split_for_impl();
        conditions.predicates.push(parse_quote!(#name #arguments: 'static));
        for ty in &types {
            conditions.predicates.push(parse_quote!(#ty: ::esker::world::Bundle));
        }
    }
    let (parameters, arguments, conditions) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        #[allow(unused_variables, clippy::unused_unit)]
        impl #parameters ::esker::world::Bundle for #name #arguments #conditions {
            type Parts = (#(<#types as ::esker::world::Bundle>::Parts,)*);
            type Writer<'__w> = (#(<#types as ::esker::world::Bundle>::Writer<'__w>,)*);

            #[inline]
            fn insert(self, __gate: &mut ::esker::world::Gate<'_>) -> Self::Parts {
                (#(::esker::world::Bundle::insert(self.#members, __gate),)*)
            }

            #[inline]
            fn remove(__gate: &mut ::esker::world::Gate<'_>) -> Self::Parts {
                (#(<#types as ::esker::world::Bundle>::remove(__gate),)*)
            }

            #[inline]
            fn assemble(__parts: Self::Parts) -> ::core::option::Option<Self> {
                ::core::option::Option::Some(Self {
                    #(#members: ::esker::world::Bundle::assemble(__parts.#numbers)?,)*
                })
            }

            #[inline]
            fn write<'__w>(
                self,
                __writer: &mut Self::Writer<'__w>,
                __row: &::esker::world::Row<'__w>,
            ) {
                #(::esker::world::Bundle::write(self.#members, &mut __writer.#numbers, __row);)*
            }

            #[inline]
            fn visit<__V: ::esker::world::ComponentVisitor>(__visitor: &mut __V) {
                #(<#types as ::esker::world::Bundle>::visit(__visitor);)*
            }
        }
    })
}
