//! Tests that kernels preserve registers. The effect of instructions on memory is tested in
//! `x86_shared`.

mod registers;

pub(crate) use crate::x86_shared::tests::flow::step;
