//! The caller's registers. What the instructions do to memory is tested in `x86_shared`.

mod registers;

pub(crate) use crate::x86_shared::tests::flow::step;
