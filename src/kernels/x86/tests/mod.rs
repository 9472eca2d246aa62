//! The caller's registers. What the instructions do to memory is tested in `x86_shared`.

mod registers;
