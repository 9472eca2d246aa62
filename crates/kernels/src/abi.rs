//! The calling convention of kernels: one per architecture, independent of the operating system
//! where possible.

/// The type of a kernel with the given argument, for example `kernel_fn!(&mut StreamCall)`. Kernels
/// on x86-64 use the System V convention on every operating system, Windows included, so that their
/// machine code is the same.
#[cfg(target_arch = "x86_64")]
macro_rules! kernel_fn {
    ($($argument:ty),*) => { unsafe extern "sysv64" fn($($argument),*) };
}
/// The type of a kernel with the given argument, for example `kernel_fn!(&mut StreamCall)`. Kernels
/// use the C calling convention.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! kernel_fn {
    ($($argument:ty),*) => { unsafe extern "C" fn($($argument),*) };
}
pub(super) use kernel_fn;
