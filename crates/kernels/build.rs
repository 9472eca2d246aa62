//! Writes the kernels of the target as Rust source, which `src/native.rs` includes.

use std::path::Path;
use std::{env, fs};

#[allow(
    clippy::disallowed_methods,
    reason = "cargo tells a build script its target there"
)]
fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).map_err(|error| format!("{name}: {error}"));
    let architecture = variable("CARGO_CFG_TARGET_ARCH")?;
    let code = assembly::for_target(&architecture).ok_or_else(|| {
        format!(
            "memgauge has no kernels for {architecture}; another architecture needs a folder in \
             crates/assembly/src"
        )
    })?;
    let path = Path::new(&variable("OUT_DIR")?).join("kernels.rs");
    fs::write(&path, assembly::rust_source(&code))
        .map_err(|error| format!("{}: {error}", path.display()))
}
