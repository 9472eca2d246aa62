//! The caller's registers. What the instructions do to memory is tested in `x86_shared`.

mod registers;

pub(in crate::kernels) use crate::kernels::x86_shared::tests::flow::step;
