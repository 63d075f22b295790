//! Programs that would be unsound if they compiled: types that pass for others, and what is lent kept or exchanged.

#![cfg(feature = "derive")]

#[test]
#[cfg_attr(miri, ignore = "starts a compiler")]
fn what_would_be_unsound_does_not_compile() {
    // The words are the compiler's; see `tests/derives.rs`.
    const WORDS_OF: &str = "rustc 1.95.";
    let version = std::process::Command::new("rustc").arg("--version").output();
    let version = version.map_or_else(|_| Vec::new(), |output| output.stdout);
    if !version.starts_with(WORDS_OF.as_bytes()) {
        eprintln!("skipped: the expected words are those of {WORDS_OF}x");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/unsound/*.rs");
}
