//! How kernels are called: one convention per architecture, the same on every system where there is
//! a choice.

/// The type of a kernel: `kernel_fn!(&mut StreamCall)`. On x86-64 the System V convention, also on
/// Windows, so that the registers in the skeletons are the same everywhere; elsewhere C's own.
#[cfg(target_arch = "x86_64")]
macro_rules! kernel_fn {
    ($($argument:ty),*) => { unsafe extern "sysv64" fn($($argument),*) };
}
/// The type of a kernel: `kernel_fn!(&mut StreamCall)`, called as C does.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! kernel_fn {
    ($($argument:ty),*) => { unsafe extern "C" fn($($argument),*) };
}
pub(super) use kernel_fn;
