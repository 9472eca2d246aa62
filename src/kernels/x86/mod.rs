//! The rows of x86.
