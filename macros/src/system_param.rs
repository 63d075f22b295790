//! `derive(SystemParam)`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Index, Lifetime, Member, parse_quote};

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(
            name,
            "a system parameter is a struct of parameters; one that may be missing is a field of type `Option<…>`",
        ));
    };
    for lifetime in input.generics.lifetimes() {
        if !["w", "s"].contains(&lifetime.lifetime.ident.to_string().as_str()) {
            let remedy = "the lifetimes of a system parameter are `'w`, of the world, and `'s`, of the system";
            return Err(Error::new_spanned(lifetime, remedy));
        }
        if !lifetime.bounds.is_empty() {
            let remedy = "a system parameter is made for any two lifetimes: leave this bound out";
            return Err(Error::new_spanned(lifetime, remedy));
        }
    }
    let types: Vec<_> = data.fields.iter().map(|field| &field.ty).collect();
    let members: Vec<Member> = data.fields.members().collect();
    let numbers: Vec<Index> = (0..types.len()).map(Index::from).collect();
    // The implementation has both lifetimes, the struct those that it names.
    let mut generics = input.generics.clone();
    for name in ["'s", "'w"] {
        let lifetime = Lifetime::new(name, proc_macro2::Span::call_site());
        if !generics.lifetimes().any(|param| param.lifetime == lifetime) {
            generics.params.insert(0, parse_quote!(#lifetime));
        }
    }
    let (parameters, ..) = generics.split_for_impl();
    let (_, arguments, conditions) = input.generics.split_for_impl();
    // Short lifetimes of one run have the same names as those of the implementation, one level in.
    let item = rename(&quote!(#name #arguments));
    let item_types: Vec<TokenStream> = types.iter().map(|ty| rename(&quote!(#ty))).collect();
    Ok(quote! {
        #[automatically_derived]
        #[allow(clippy::unused_unit)]
        impl #parameters ::esker::system::SystemParam for #name #arguments #conditions {
            type State = (#(<#types as ::esker::system::SystemParam>::State,)*);
            type Item<'__w, '__s> = #item;

            const APPLIES: ::core::primitive::bool =
                false #(|| <#types as ::esker::system::SystemParam>::APPLIES)*;

            fn init(
                __world: &mut ::esker::World,
                __access: &mut ::esker::AccessSet,
            ) -> Self::State {
                (#(<#types as ::esker::system::SystemParam>::init(__world, __access),)*)
            }

            fn get<'__w, '__s>(
                __state: &'__s mut Self::State,
                __run: ::esker::system::Run<'__w>,
            ) -> ::core::result::Result<Self::Item<'__w, '__s>, ::esker::system::ParamError> {
                ::core::result::Result::Ok(#name {
                    #(#members: <#item_types as ::esker::system::SystemParam>::get(
                        &mut __state.#numbers,
                        __run,
                    )?,)*
                })
            }

            fn ran(__state: &mut Self::State) {
                #(<#types as ::esker::system::SystemParam>::ran(&mut __state.#numbers);)*
            }

            fn apply(__state: &mut Self::State, __world: &mut ::esker::World) {
                #(<#types as ::esker::system::SystemParam>::apply(&mut __state.#numbers, __world);)*
            }

            fn discard(__state: &mut Self::State, __world: &mut ::esker::World) {
                #(<#types as ::esker::system::SystemParam>::discard(&mut __state.#numbers, __world);)*
            }

            fn streams(
                __state: &mut Self::State,
                __see: &mut dyn ::core::ops::FnMut(&mut ::esker::system::Stream),
            ) {
                #(<#types as ::esker::system::SystemParam>::streams(&mut __state.#numbers, __see);)*
            }

            fn outputs(__see: &mut dyn ::core::ops::FnMut(::esker::Key, ::core::primitive::bool)) {
                #(<#types as ::esker::system::SystemParam>::outputs(__see);)*
            }
        }
    })
}

/// The same with `'__w` for `'w` and `'__s` for `'s`.
fn rename(tokens: &TokenStream) -> TokenStream {
    use proc_macro2::{Group, Ident, TokenTree};

    let mut renamed = Vec::new();
    let mut is_lifetime = false;
    for tree in tokens.clone() {
        let tree = match tree {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), rename(&group.stream()));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            TokenTree::Ident(ident) if is_lifetime && (ident == "w" || ident == "s") => {
                TokenTree::Ident(Ident::new(&format!("__{ident}"), ident.span()))
            }
            other => other,
        };
        is_lifetime = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '\'');
        renamed.push(tree);
    }
    renamed.into_iter().collect()
}
