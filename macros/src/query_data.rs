//! `derive(QueryData)`.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Data, DeriveInput, Error, Field, Fields, GenericParam, Generics, Ident, Lifetime, Type,
    parse_quote,
};

/// The longest tuple that is a term; longer ones are nested.
const LONGEST: usize = 16;

pub(crate) fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let fields = fields(input)?;
    let lifetime = lifetime(&input.generics)?;
    let name = &input.ident;
    let items = [Item::new(name, "Item"), Item::new(name, "ReadItem")];
    let structs = items.iter().map(|item| item.declare(input, &fields, &lifetime));
    let [item, read_item] = items.each_ref().map(|item| &item.name);

    let idents: Vec<_> = fields.iter().map(|field| &field.ident).collect();
    // Not the names of the fields: in a pattern that of a constant would be the constant.
    let given: Vec<_> = (0..fields.len()).map(|nth| format_ident!("__given_{nth}")).collect();
    let pattern = tuple(&given);
    let terms = tuple(fields.iter().map(|field| spelled(field.ty.to_token_stream())));
    let others = input.generics.params.iter().filter_map(argument);
    let others = quote!(#(#others),*);
    let (parameters, arguments, conditions) = input.generics.split_for_impl();
    let predicates = input.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let required = fields.iter().filter_map(|field| condition(&field.ty));
    let required = quote!(#(#predicates,)* #(#required,)*);
    // What is fetched for reading only is spelled out in both items, where nobody asks what it is.
    let checks = fields.iter().filter_map(|field| match &field.ty {
        Type::Reference(to) if to.mutability.is_none() => {
            let component = &to.elem;
            Some(quote_spanned!(to.span()=> ::esker::query::named::is_component::<#component>();))
        }
        _ => None,
    });
    Ok(quote! {
        #(#structs)*

        #[automatically_derived]
        impl #parameters ::esker::query::named::Named for #name #arguments
        where
            #required
        {
            type Terms = #terms;
            type Item<'__a> = #item<'__a, #others>;
            type ReadItem<'__a> = #read_item<'__a, #others>;

            #[inline(always)]
            fn name<'__a>(
                #pattern: <Self::Terms as ::esker::query::QueryData>::Item<'__a>,
            ) -> Self::Item<'__a> {
                #item { #(#idents: #given),* }
            }

            #[inline(always)]
            fn name_read<'__a>(
                #pattern: <Self::Terms as ::esker::query::QueryData>::ReadItem<'__a>,
            ) -> Self::ReadItem<'__a> {
                #read_item { #(#idents: #given),* }
            }
        }

        ::esker::named_query_data! { [#parameters] [#name #arguments] [#required] }

        const _: () = {
            // The struct says what is fetched. That nobody makes one is no mistake.
            #[allow(dead_code)]
            fn is_used #parameters (__made: #name #arguments) #conditions {
                #(_ = __made.#idents;)*
                #(#checks)*
            }
        };
    })
}

/// The fields, if they have names.
fn fields(input: &DeriveInput) -> syn::Result<Vec<&Field>> {
    let remedy = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) if !fields.named.is_empty() => {
                return Ok(fields.named.iter().collect());
            }
            Fields::Unnamed(_) => {
                "the fields of a query need names, as in `health: &'w Health`; \
                 without names, fetch a tuple: `Query<(&Health, &Armour)>`"
            }
            _ => "a query fetches something: give it a field, as in `health: &'w Health`",
        },
        _ => "a query is a struct with a named field for each term, as in `health: &'w Health`",
    };
    Err(Error::new_spanned(&input.ident, remedy))
}

/// The lifetime that items are lent for: that of the struct, if it has one.
fn lifetime(generics: &Generics) -> syn::Result<Lifetime> {
    let mut lifetimes = generics.lifetimes();
    let first = lifetimes.next();
    if let Some(second) = lifetimes.next() {
        let remedy = "one lifetime is enough: all that a query fetches is lent for the same time";
        return Err(Error::new_spanned(second, remedy));
    }
    Ok(first.map_or_else(|| parse_quote!('w), |first| first.lifetime.clone()))
}

/// What must hold of a field.
///
/// Said as a condition, so that a field that is no term is one error, at its place, and not one for
/// each line that is made of it; with a lifetime, because others are looked at too early.
fn condition(ty: &Type) -> Option<TokenStream> {
    let (ty, role) = match ty {
        Type::Reference(to) => (&*to.elem, quote!(::esker::component::Component)),
        _ => (ty, quote!(::esker::query::QueryData)),
    };
    // With a lifetime of the struct it would say something about that one only.
    (!has_lifetime(ty.to_token_stream())).then(|| quote!(for<'__b> #ty: #role))
}

/// What one entity gives, to who may write or to who only reads.
struct Item {
    /// The name of its struct.
    name: Ident,
    /// That of its type in `QueryData`.
    kind: Ident,
}

impl Item {
    fn new(described: &Ident, kind: &str) -> Self {
        // Not at the place of the described struct: lints are about what its author wrote.
        let name = Ident::new(&format!("{}{kind}", described.unraw()), Span::call_site());
        Self { name, kind: format_ident!("{kind}") }
    }

    fn declare(&self, input: &DeriveInput, fields: &[&Field], lifetime: &Lifetime) -> TokenStream {
        let Self { name, kind } = self;
        let text = match kind == "Item" {
            true => format!("What a query of [`{}`] gives for one entity.", input.ident),
            false => format!("As [`{}Item`], to be read.", input.ident.unraw()),
        };
        let declared = fields.iter().map(|field| {
            let Field { vis, ident, .. } = field;
            let documented = field.attrs.iter().filter(|attr| attr.path().is_ident("doc"));
            let ty = self.shown(&field.ty, lifetime);
            quote!(#(#documented)* #vis #ident: #ty)
        });
        let mut generics = input.generics.clone();
        if generics.lifetimes().next().is_none() {
            generics.params.insert(0, parse_quote!(#lifetime));
        }
        let (vis, conditions) = (&input.vis, &generics.where_clause);
        quote! {
            #[doc = #text]
            // Who fetches something need not use it.
            #[allow(dead_code)]
            #vis struct #name #generics #conditions { #(#declared),* }
        }
    }

    /// What a term gives.
    fn given(&self, ty: &Type, lifetime: &Lifetime) -> TokenStream {
        let (kind, term) = (&self.kind, spelled(ty.to_token_stream()));
        // At the place of the field, which is where an error belongs.
        quote_spanned!(ty.span()=> <#term as ::esker::query::QueryData>::#kind<#lifetime>)
    }

    /// The same, for the eyes of a reader.
    fn shown(&self, ty: &Type, lifetime: &Lifetime) -> TokenStream {
        match ty {
            // Not so `&mut`: a component that is tracked is lent as `Mut`.
            Type::Reference(to) if to.mutability.is_none() || self.kind == "ReadItem" => {
                let value = &to.elem;
                quote!(&#lifetime #value)
            }
            _ => self.given(ty, lifetime),
        }
    }
}

/// The argument for a parameter that is no lifetime.
fn argument(parameter: &GenericParam) -> Option<&Ident> {
    match parameter {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(parameter) => Some(&parameter.ident),
        GenericParam::Const(parameter) => Some(&parameter.ident),
    }
}

/// A tuple of these, nested if there are too many.
fn tuple(parts: impl IntoIterator<Item = impl ToTokens>) -> TokenStream {
    let mut parts: Vec<TokenStream> = parts.into_iter().map(ToTokens::into_token_stream).collect();
    while parts.len() > LONGEST {
        parts = parts.chunks(LONGEST).map(|chunk| quote!((#(#chunk,)*))).collect();
    }
    quote!((#(#parts,)*))
}

/// The type with a lifetime for each reference: of one that is missing the compiler speaks where the
/// field is, and that is enough.
fn spelled(ty: TokenStream) -> TokenStream {
    let is = |tree: Option<&TokenTree>, sign| matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == sign);
    let mut spelled = TokenStream::new();
    let mut trees = ty.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let lacks_one = is(Some(&tree), '&') && !is(trees.peek(), '\'');
        spelled.extend([match tree {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), self::spelled(group.stream()));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            other => other,
        }]);
        if lacks_one {
            spelled.extend(quote!('static));
        }
    }
    spelled
}

fn has_lifetime(ty: TokenStream) -> bool {
    ty.into_iter().any(|tree| match tree {
        TokenTree::Group(group) => has_lifetime(group.stream()),
        TokenTree::Punct(punct) => matches!(punct.as_char(), '\'' | '&'),
        _ => false,
    })
}
