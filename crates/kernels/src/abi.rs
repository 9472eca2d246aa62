//! Calling conventions of kernels: one for each architecture, the same on all of its systems where
//! possible.

/// The type of a kernel: `kernel_fn!(&mut StreamCall)`. Kernels on x86-64 use the System V
/// convention, also on Windows. So the registers of kernels are the same on every system.
#[cfg(target_arch = "x86_64")]
macro_rules! kernel_fn {
    ($($argument:ty),*) => { unsafe extern "sysv64" fn($($argument),*) };
}
/// The type of a kernel: `kernel_fn!(&mut StreamCall)`. It uses the C convention.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! kernel_fn {
    ($($argument:ty),*) => { unsafe extern "C" fn($($argument),*) };
}
pub(super) use kernel_fn;
