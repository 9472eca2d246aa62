//! The functions of an OpenCL library that are used here. Source of names, types and numbers: the
//! OpenCL specification, version 1.2, and its headers.

use super::super::library::open_library;
use libloading::Library;
use std::ffi::{c_char, c_int, c_uint, c_void};
use units::error::{Error, Result};

/// A platform, device, context, queue, program, kernel, buffer or event of the driver.
pub type Handle = *mut c_void;

pub const PLATFORM_NAME: c_uint = 0x0902;
pub const DEVICE_TYPE_ALL: u64 = 0xFFFF_FFFF;
pub const DEVICE_TYPE: c_uint = 0x1000;
pub const DEVICE_MAX_COMPUTE_UNITS: c_uint = 0x1002;
pub const DEVICE_MAX_CLOCK_FREQUENCY: c_uint = 0x100C;
pub const DEVICE_MAX_MEM_ALLOC_SIZE: c_uint = 0x1010;
pub const DEVICE_GLOBAL_MEM_CACHELINE_SIZE: c_uint = 0x101D;
pub const DEVICE_GLOBAL_MEM_CACHE_SIZE: c_uint = 0x101E;
pub const DEVICE_GLOBAL_MEM_SIZE: c_uint = 0x101F;
pub const DEVICE_LOCAL_MEM_SIZE: c_uint = 0x1023;
pub const DEVICE_ERROR_CORRECTION_SUPPORT: c_uint = 0x1024;
pub const DEVICE_NAME: c_uint = 0x102B;
pub const DEVICE_VENDOR: c_uint = 0x102C;
pub const DRIVER_VERSION: c_uint = 0x102D;
pub const DEVICE_VERSION: c_uint = 0x102F;
pub const DEVICE_HOST_UNIFIED_MEMORY: c_uint = 0x1035;
/// Query of the extension `cl_khr_pci_bus_info` for domain, bus, device and function, 32 bits each.
pub const DEVICE_PCI_BUS_INFO: c_uint = 0x410F;
/// Queries of the extension `cl_nv_device_attribute_query`.
pub const DEVICE_PCI_BUS_NVIDIA: c_uint = 0x4008;
pub const DEVICE_PCI_SLOT_NVIDIA: c_uint = 0x4009;
pub const DEVICE_PCI_DOMAIN_NVIDIA: c_uint = 0x400A;
/// Query of the extension `cl_amd_device_attribute_query`.
pub const DEVICE_TOPOLOGY_AMD: c_uint = 0x4037;
pub const QUEUE_PROFILING_ENABLE: u64 = 1 << 1;
pub const MEM_READ_WRITE: u64 = 1;
pub const MEM_ALLOC_HOST_PTR: u64 = 1 << 4;
pub const MAP_READ_WRITE: u64 = 3;
pub const PROFILING_COMMAND_START: c_uint = 0x1282;
pub const PROFILING_COMMAND_END: c_uint = 0x1283;
pub const PROGRAM_BUILD_LOG: c_uint = 0x1183;
pub const PROGRAM_BINARY_SIZES: c_uint = 0x1165;
pub const PROGRAM_BINARIES: c_uint = 0x1166;

/// Declares the functions as fields, and finds all of them in a library.
macro_rules! functions {
    ($($field:ident $symbol:literal: fn($($argument:ty),*) -> $result:ty;)+) => {
        /// The functions of an opened library.
        pub struct Calls {
            $(pub $field: unsafe extern "system" fn($($argument),*) -> $result,)+
            /// The library, which has to stay open while the functions are used.
            _library: Library,
        }

        impl Calls {
            /// Opens the library called `name` and finds its functions.
            ///
            /// # Errors
            /// There is no such library, or it lacks a function.
            pub fn open(name: &str) -> Result<Self> {
                let library = open_library(name).map_err(|why| {
                    Error::failure(format!(
                        "cannot open the driver {name}: {why}; install the OpenCL driver of the \
                         device"
                    ))
                })?;
                Ok(Self {
                    $($field: {
                        // SAFETY: the specification declares the function with this type. The
                        // pointer lives as long as the library, which is kept with it.
                        *unsafe { library.get($symbol) }.map_err(|why| {
                            Error::failure(format!("the driver {name} is incomplete: {why}"))
                        })?
                    },)+
                    _library: library,
                })
            }
        }
    };
}

functions! {
    get_platform_ids b"clGetPlatformIDs\0": fn(c_uint, *mut Handle, *mut c_uint) -> c_int;
    get_platform_info b"clGetPlatformInfo\0": fn(
        Handle, c_uint, usize, *mut c_void, *mut usize
    ) -> c_int;
    get_device_ids b"clGetDeviceIDs\0": fn(Handle, u64, c_uint, *mut Handle, *mut c_uint) -> c_int;
    get_device_info b"clGetDeviceInfo\0": fn(
        Handle, c_uint, usize, *mut c_void, *mut usize
    ) -> c_int;
    create_context b"clCreateContext\0": fn(
        *const isize, c_uint, *const Handle, *const c_void, *mut c_void, *mut c_int
    ) -> Handle;
    release_context b"clReleaseContext\0": fn(Handle) -> c_int;
    create_queue b"clCreateCommandQueue\0": fn(Handle, Handle, u64, *mut c_int) -> Handle;
    release_queue b"clReleaseCommandQueue\0": fn(Handle) -> c_int;
    create_program b"clCreateProgramWithSource\0": fn(
        Handle, c_uint, *const *const c_char, *const usize, *mut c_int
    ) -> Handle;
    build_program b"clBuildProgram\0": fn(
        Handle, c_uint, *const Handle, *const c_char, *const c_void, *mut c_void
    ) -> c_int;
    get_build_info b"clGetProgramBuildInfo\0": fn(
        Handle, Handle, c_uint, usize, *mut c_void, *mut usize
    ) -> c_int;
    get_program_info b"clGetProgramInfo\0": fn(
        Handle, c_uint, usize, *mut c_void, *mut usize
    ) -> c_int;
    release_program b"clReleaseProgram\0": fn(Handle) -> c_int;
    create_kernel b"clCreateKernel\0": fn(Handle, *const c_char, *mut c_int) -> Handle;
    set_argument b"clSetKernelArg\0": fn(Handle, c_uint, usize, *const c_void) -> c_int;
    release_kernel b"clReleaseKernel\0": fn(Handle) -> c_int;
    create_buffer b"clCreateBuffer\0": fn(Handle, u64, usize, *mut c_void, *mut c_int) -> Handle;
    release_buffer b"clReleaseMemObject\0": fn(Handle) -> c_int;
    enqueue_kernel b"clEnqueueNDRangeKernel\0": fn(
        Handle, Handle, c_uint, *const usize, *const usize, *const usize, c_uint, *const Handle,
        *mut Handle
    ) -> c_int;
    enqueue_read b"clEnqueueReadBuffer\0": fn(
        Handle, Handle, c_uint, usize, usize, *mut c_void, c_uint, *const Handle, *mut Handle
    ) -> c_int;
    enqueue_write b"clEnqueueWriteBuffer\0": fn(
        Handle, Handle, c_uint, usize, usize, *const c_void, c_uint, *const Handle, *mut Handle
    ) -> c_int;
    enqueue_copy b"clEnqueueCopyBuffer\0": fn(
        Handle, Handle, Handle, usize, usize, usize, c_uint, *const Handle, *mut Handle
    ) -> c_int;
    enqueue_map b"clEnqueueMapBuffer\0": fn(
        Handle, Handle, c_uint, u64, usize, usize, c_uint, *const Handle, *mut Handle, *mut c_int
    ) -> *mut c_void;
    enqueue_unmap b"clEnqueueUnmapMemObject\0": fn(
        Handle, Handle, *mut c_void, c_uint, *const Handle, *mut Handle
    ) -> c_int;
    flush b"clFlush\0": fn(Handle) -> c_int;
    finish b"clFinish\0": fn(Handle) -> c_int;
    get_event_profiling b"clGetEventProfilingInfo\0": fn(
        Handle, c_uint, usize, *mut c_void, *mut usize
    ) -> c_int;
    release_event b"clReleaseEvent\0": fn(Handle) -> c_int;
}

/// Texts for the error codes that users encounter. Messages show other codes as numbers.
const ERRORS: &[(c_int, &str)] = &[
    (-1001, "no OpenCL platform is installed"),
    (-1, "device not found"),
    (-2, "device not available"),
    (-4, "not enough memory on the device"),
    (
        -5,
        "out of resources: the kernel ran too long, or the device failed",
    ),
    (-6, "out of main memory"),
    (-7, "no timing information"),
    (-11, "the kernels could not be compiled"),
    (-34, "invalid context"),
    (-36, "invalid command queue"),
    (-54, "invalid size of a work-group"),
    (-61, "invalid size of a buffer"),
];

/// Turns a result code of a function into an error. `tried` says what was tried.
///
/// # Errors
/// The code is not 0.
pub fn check(code: c_int, tried: &str) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    let known = ERRORS.iter().find(|(number, _)| *number == code);
    let reason = known.map_or_else(
        || format!("OpenCL error {code}"),
        |(_, name)| format!("{name} (OpenCL error {code})"),
    );
    Err(Error::failure(format!("cannot {tried}: {reason}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_what_was_tried_and_why() {
        assert!(check(0, "allocate").is_ok());
        let known = check(-4, "allocate 1 GiB").unwrap_err().to_string();
        assert!(known.contains("allocate 1 GiB") && known.contains("not enough memory"));
        assert!(
            check(-9999, "run")
                .unwrap_err()
                .to_string()
                .contains("-9999")
        );
    }

    #[test]
    fn a_missing_library_is_an_error_with_its_name() {
        let why = Calls::open("libmemgauge-none.so")
            .err()
            .expect("no such library");
        let why = why.to_string();
        assert!(why.contains("libmemgauge-none.so"), "{why}");
        // The text has the loader's reason, and not only the name of the loader's function.
        assert!(!why.contains("dlopen failed"), "{why}");
    }
}
