//! `derive(Component)`.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{DeriveInput, Error, GenericParam, Ident, Path, Token, Type, parse_quote};

/// Storages that are named without a path.
const OURS: [&str; 3] = ["Packed", "Indexed", "Hashed"];

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let options = Options::of(input)?;
    let storage = options.storage();
    let (extras, keep_removed) = (options.extras(), options.keep_removed());
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
            #extras
            #keep_removed
            #type_slot
        }
    })
}

/// What `#[component(…)]` says.
struct Options {
    /// Names of options.
    said: Vec<Ident>,
    storage: Path,
    track: bool,
    keep_removed: bool,
    /// What to call, by the name of the option.
    hooks: Vec<(&'static str, Path)>,
    /// Components that are required, and what makes each.
    require: Vec<(Type, Option<TokenStream>)>,
}

/// Options that name a function to be called.
const HOOKS: [&str; 3] = ["on_add", "on_change", "on_remove"];

impl Options {
    fn of(input: &DeriveInput) -> syn::Result<Self> {
        let mut options = Self {
            said: Vec::new(),
            storage: parse_quote!(::esker::storage::Packed),
            track: false,
            keep_removed: false,
            hooks: Vec::new(),
            require: Vec::new(),
        };
        for attribute in input.attrs.iter().filter(|attr| attr.path().is_ident("component")) {
            attribute.parse_nested_meta(|meta| options.read(&meta))?;
        }
        Ok(options)
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if let Some(name) = meta.path.get_ident().filter(|name| *name != "require") {
            if self.said.contains(name) {
                return Err(
                    meta.error(format_args!("`{name}` is said twice; leave one of them out"))
                );
            }
            self.said.push(name.clone());
        }
        if meta.path.is_ident("storage") {
            self.storage = storage(meta)?;
        } else if meta.path.is_ident("track") {
            self.track = true;
        } else if meta.path.is_ident("keep_removed") {
            self.keep_removed = true;
        } else if let Some(hook) = HOOKS.iter().find(|hook| meta.path.is_ident(hook)) {
            self.hooks.push((hook, meta.value()?.parse()?));
        } else if meta.path.is_ident("require") {
            let list;
            syn::parenthesized!(list in meta.input);
            let required = Punctuated::<Required, Token![,]>::parse_terminated(&list)?;
            self.require.extend(required.into_iter().map(|Required(ty, make)| (ty, make)));
        } else {
            return Err(meta.error(
                "unknown option; `component` takes `storage = …`, `track`, `keep_removed`, \
                 `on_add = …`, `on_change = …`, `on_remove = …` and `require(…)`",
            ));
        }
        Ok(())
    }

    /// What the type brings along, if anything.
    fn extras(&self) -> Option<TokenStream> {
        if self.hooks.is_empty() && self.require.is_empty() {
            return None;
        }
        let hooks = self.hooks.iter().map(|(name, path)| {
            let name = Ident::new(name, Span::call_site());
            quote!(#name: ::core::option::Option::Some(#path))
        });
        let require = self.require.iter().map(|(ty, make)| {
            let make = match make {
                Some(make) => make.clone(),
                None => quote!(<#ty as ::core::default::Default>::default),
            };
            quote!(|__world, __entity| ::esker::world::Provider::require::<#ty>(__world, __entity, #make))
        });
        Some(quote! {
            // With all hooks there is nothing left to update.
            #[allow(clippy::needless_update)]
            fn extras() -> ::core::option::Option<
                &'static (dyn ::core::any::Any + ::core::marker::Send + ::core::marker::Sync)
            > {
                ::core::option::Option::Some(const {
                    &::esker::world::Extras {
                        #(#hooks,)*
                        require: &[#(#require),*],
                        ..::esker::world::Extras::NONE
                    }
                })
            }
        })
    }

    /// How a value is copied for those who read removals, if it is.
    fn keep_removed(&self) -> Option<TokenStream> {
        self.keep_removed.then(|| {
            quote! {
                fn keep_removed() -> ::core::option::Option<fn(&Self) -> Self> {
                    ::core::option::Option::Some(<Self as ::core::clone::Clone>::clone)
                }
            }
        })
    }

    fn storage(&self) -> TokenStream {
        let storage = &self.storage;
        match self.track {
            true => quote!(::esker::storage::Tracked<#storage<Self>>),
            false => quote!(#storage<Self>),
        }
    }
}

/// A required component: `B`, or `B = make_b`.
struct Required(Type, Option<TokenStream>);

impl Parse for Required {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ty = input.parse()?;
        let make = match input.peek(Token![=]) {
            true => {
                input.parse::<Token![=]>()?;
                Some(expression(input)?)
            }
            false => None,
        };
        Ok(Self(ty, make))
    }
}

/// An expression up to the next comma, as it stands: closures and blocks are known to `syn` only with its feature `full`,
/// which every program would have to build. The compiler finds out what is wrong with it.
fn expression(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut expression = TokenStream::new();
    // `<` that are open, of `make::<A, B>` and `<A as Make<B, C>>::make`.
    let mut open = 0_u32;
    let (mut last, mut last_but_one) = (' ', ' ');
    while !input.is_empty() && (open > 0 || !input.peek(Token![,])) {
        let tree: TokenTree = input.parse()?;
        let sign = match &tree {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => '_',
        };
        let is_path = [last_but_one, last] == [':', ':'] || expression.is_empty() || open > 0;
        match sign {
            '<' if is_path => open += 1,
            // Not that of `->` or `=>`.
            '>' if !['-', '='].contains(&last) => open = open.saturating_sub(1),
            _ => {}
        }
        (last, last_but_one) = (sign, last);
        expression.extend([tree]);
    }
    match expression.is_empty() {
        true => {
            Err(input
                .error("what makes the component is missing, as in `C = make_c` or `C = || C(1)`"))
        }
        false => Ok(expression),
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
