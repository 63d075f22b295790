//! Records how the bench is compiled, so that its output can say so.

use std::{env, process::Command};

fn main() {
    // Flags come joined by a separator that no flag contains.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().replace('\x1f', " ");
    println!("cargo::rustc-env=BENCH_RUSTFLAGS={flags}");
    println!("cargo::rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");

    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("--version").output();
    let version = version.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    println!("cargo::rustc-env=BENCH_RUSTC={}", version.unwrap_or_else(|_| "unknown".into()));
    println!("cargo::rerun-if-changed=build.rs");
}
