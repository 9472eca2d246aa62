//! Prints the assembly of kernels: `listing ARCHITECTURE [NAME]`. `ARCHITECTURE` is a name that
//! Rust uses (`x86_64`, `x86`, `aarch64`, `arm`, `riscv64`). `NAME` is the start of names in
//! `memgauge list kernels`; without it, all kernels are printed.

#![allow(clippy::print_stdout, reason = "the listing is the result")]

fn main() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let architecture = arguments
        .next()
        .ok_or("usage: listing ARCHITECTURE [NAME]")?;
    let name = arguments.next().unwrap_or_default();
    let code = memgauge_assembly::for_target(&architecture)
        .ok_or_else(|| format!("there is no architecture '{architecture}'"))?;
    for kernel in code.kernels() {
        if kernel.name.starts_with(&name) {
            println!("== {} {:?}\n{}\n", kernel.name, kernel.call, kernel.text);
        }
    }
    Ok(())
}
