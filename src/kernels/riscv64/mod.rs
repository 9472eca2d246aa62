//! The rows of riscv64.
