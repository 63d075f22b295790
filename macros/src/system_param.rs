//! `derive(SystemParam)`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, GenericParam, Index, Lifetime, Member, parse_quote};

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(name, "a system parameter is a struct of parameters"));
    };
    for lifetime in input.generics.lifetimes() {
        if !["w", "s"].contains(&lifetime.lifetime.ident.to_string().as_str()) {
            let remedy = "the lifetimes of a system parameter are `'w`, of the world, and `'s`, of the system";
            return Err(Error::new_spanned(lifetime, remedy));
        }
    }
    let types: Vec<_> = data.fields.iter().map(|field| &field.ty).collect();
    let members: Vec<Member> = data.fields.members().collect();
    let numbers: Vec<Index> = (0..types.len()).map(Index::from).collect();
    // The implementation has both lifetimes, the struct those that it names.
    let mut generics = input.generics.clone();
    for lifetime in ["'w", "'s"] {
        let lifetime = Lifetime::new(lifetime, proc_macro2::Span::call_site());
        if !generics.lifetimes().any(|param| param.lifetime == lifetime) {
            generics.params.insert(0, parse_quote!(#lifetime));
        }
    }
    let others: Vec<GenericParam> = generics
        .params
        .iter()
        .filter(|param| !matches!(param, GenericParam::Lifetime(_)))
        .cloned()
        .collect();
    let (_, arguments, conditions) = input.generics.split_for_impl();
    let implemented = quote!(impl<'w, 's, #(#others),*>);
    // Short lifetimes of one run have the same names as those of the implementation, one level in.
    let item = rename(&quote!(#name #arguments));
    let item_types: Vec<TokenStream> = types.iter().map(|ty| rename(&quote!(#ty))).collect();
    Ok(quote! {
        #[automatically_derived]
        #implemented ::esker::system::SystemParam for #name #arguments #conditions {
            type State = (#(<#types as ::esker::system::SystemParam>::State,)*);
            type Item<'__w, '__s> = #item;

            fn init(
                world: &mut ::esker::World,
                access: &mut ::esker::AccessSet,
            ) -> Self::State {
                (#(<#types as ::esker::system::SystemParam>::init(world, access),)*)
            }

            fn get<'__w, '__s>(
                state: &'__s mut Self::State,
                run: ::esker::system::Run<'__w>,
            ) -> ::core::result::Result<Self::Item<'__w, '__s>, ::esker::system::ParamError> {
                ::core::result::Result::Ok(#name {
                    #(#members: <#item_types as ::esker::system::SystemParam>::get(
                        &mut state.#numbers,
                        run,
                    )?,)*
                })
            }

            fn ran(state: &mut Self::State) {
                #(<#types as ::esker::system::SystemParam>::ran(&mut state.#numbers);)*
            }

            fn apply(state: &mut Self::State, world: &mut ::esker::World) {
                #(<#types as ::esker::system::SystemParam>::apply(&mut state.#numbers, world);)*
            }

            fn discard(state: &mut Self::State, world: &mut ::esker::World) {
                #(<#types as ::esker::system::SystemParam>::discard(&mut state.#numbers, world);)*
            }

            fn streams(
                state: &mut Self::State,
                see: &mut dyn ::core::ops::FnMut(&mut ::esker::system::Stream),
            ) {
                #(<#types as ::esker::system::SystemParam>::streams(&mut state.#numbers, see);)*
            }

            fn outputs(see: &mut dyn ::core::ops::FnMut(::esker::Key, bool)) {
                #(<#types as ::esker::system::SystemParam>::outputs(see);)*
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
