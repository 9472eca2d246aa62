//! The rows of aarch64.
