//! macOS: requests about threads, and the conditions of the machine. Functions outside libSystem
//! are looked up at run time, so that the program is not linked to frameworks.

use super::super::macos_answers as answers;
use super::super::sysctl::Sysctl;
use super::{Kernel, load};
use crate::reported::{Conditions, Reported, ReportedPages, Told};
use report::{Fact, Swap};
use std::ffi::{CStr, c_char, c_void};
use std::mem::{MaybeUninit, size_of};
use units::Bytes;

/// Stubs, because macOS cannot pin threads (see [`CAN_PIN`]). pthread_cpu_number_np is not used,
/// because its numbers have no documented relation to kinds of cores.
pub use super::super::portable::{AFFINITY_CALL, allowed_cpus, pin_to, running_cpu, thread_noise};

/// True if threads can be pinned to CPUs. macOS only takes hints about threads.
pub const CAN_PIN: bool = false;

/// Memory in bytes that is free or only contains cached files.
pub fn free_memory() -> Option<u64> {
    let pages = |name: &str| Kernel.number(name);
    let free = pages("vm.page_free_count")?;
    let cached = pages("vm.page_pageable_external_count").unwrap_or(0);
    free.checked_add(cached)?
        .checked_mul(super::page_size() as u64)
}

/// True if the program was translated from another instruction set (Rosetta 2 on Apple's
/// processors).
pub fn translated() -> bool {
    Kernel.number("sysctl.proc_translated") == Some(1)
}

/// Requests a core of `kind` for the calling thread by a quality-of-service class. The class
/// user-interactive prefers performance cores, and the class background runs on efficiency cores.
/// The function also requests that threads with different values of `cpu` share no cache. True if
/// the system accepted the class.
pub fn ask_for_speed(cpu: u32, kind: Option<&str>) -> bool {
    let class = if answers::is_background(kind) {
        libc::qos_class_t::QOS_CLASS_BACKGROUND
    } else {
        libc::qos_class_t::QOS_CLASS_USER_INTERACTIVE
    };
    // SAFETY: the call takes numbers and concerns the calling thread only.
    let accepted = unsafe { libc::pthread_set_qos_class_self_np(class, 0) } == 0;
    spread(cpu);
    accepted
}

/// Requests that threads with different values of `cpu` share no cache (THREAD_AFFINITY_POLICY).
/// macOS only supports this on Intel's processors. On others the call fails without effect.
fn spread(cpu: u32) {
    let mut policy = libc::thread_affinity_policy {
        // 0 means no preference.
        affinity_tag: cpu.saturating_add(1) as libc::integer_t,
    };
    // SAFETY: the port of the calling thread exists; the call reads the structure, whose size is
    // passed.
    unsafe {
        libc::thread_policy_set(
            libc::pthread_mach_thread_np(libc::pthread_self()),
            libc::THREAD_AFFINITY_POLICY as libc::thread_policy_flavor_t,
            (&raw mut policy).cast(),
            libc::THREAD_AFFINITY_POLICY_COUNT,
        );
    }
}

/// Total busy time of all CPUs since the start of the system, in ns. The system counts hundredths
/// of a second in 32 bits.
#[allow(deprecated)] // mach_host_self: the crate points to another one, which declares it alike
pub fn busy_ns() -> Option<f64> {
    let mut load = libc::host_cpu_load_info { cpu_ticks: [0; 4] };
    let mut count = libc::HOST_CPU_LOAD_INFO_COUNT;
    // SAFETY: the call writes at most `count` numbers to the structure.
    let result = unsafe {
        libc::host_statistics(
            libc::mach_host_self(),
            libc::HOST_CPU_LOAD_INFO,
            (&raw mut load).cast(),
            &mut count,
        )
    };
    // SAFETY: sysconf takes a number and returns a number.
    let rate = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let busy = [
        libc::CPU_STATE_USER,
        libc::CPU_STATE_SYSTEM,
        libc::CPU_STATE_NICE,
    ];
    let sum: u64 = busy
        .iter()
        .map(|&state| u64::from(load.cpu_ticks[state as usize]))
        .sum();
    (result == 0 && rate > 0).then(|| sum as f64 * 1e9 / rate as f64)
}

/// Address of the function `name` in the library at `path`; `None` if one of them does not exist.
fn function(path: &CStr, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: both texts end with a zero. The library is one of the system, and stays loaded.
    unsafe {
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_LAZY);
        if library.is_null() {
            return None;
        }
        let found = libc::dlsym(library, name.as_ptr());
        (!found.is_null()).then_some(found)
    }
}

/// Result of IOPSGetTimeRemainingEstimate: the remaining time of the battery in s, or a negative
/// code. `None` if the function does not exist.
fn battery_seconds() -> Option<f64> {
    let found = function(
        c"/System/Library/Frameworks/IOKit.framework/IOKit",
        c"IOPSGetTimeRemainingEstimate",
    )?;
    // SAFETY: the function takes nothing and returns a CFTimeInterval, which is a double (IOKit,
    // ps/IOPowerSources.h).
    let call: extern "C" fn() -> f64 = unsafe { std::mem::transmute(found) };
    Some(call())
}

/// Thermal state and low-power mode of the machine, from NSProcessInfo.
struct ProcessInfo {
    thermal_state: Option<i64>,
    low_power: Option<bool>,
}

/// Reads NSProcessInfo through the Objective-C runtime. `None` if a function or class is missing.
fn process_info() -> Option<ProcessInfo> {
    type Object = *mut c_void;
    type Selector = *mut c_void;
    const FOUNDATION: &CStr = c"/System/Library/Frameworks/Foundation.framework/Foundation";
    // Loading Foundation also loads the functions of the runtime.
    let class = function(FOUNDATION, c"objc_getClass")?;
    let selector = function(FOUNDATION, c"sel_registerName")?;
    let send = function(FOUNDATION, c"objc_msgSend")?;
    // SAFETY: the types are those of objc/runtime.h and objc/message.h. A message is sent by
    // calling objc_msgSend with the type of its method. The object answers every message that is
    // sent, since respondsToSelector: is asked first; it belongs to the process and is not freed.
    unsafe {
        let class: extern "C" fn(*const c_char) -> Object = std::mem::transmute(class);
        let selector: extern "C" fn(*const c_char) -> Selector = std::mem::transmute(selector);
        let get: extern "C" fn(Object, Selector) -> Object = std::mem::transmute(send);
        let knows: extern "C" fn(Object, Selector, Selector) -> bool = std::mem::transmute(send);
        let integer: extern "C" fn(Object, Selector) -> isize = std::mem::transmute(send);
        let flag: extern "C" fn(Object, Selector) -> bool = std::mem::transmute(send);
        let info = class(c"NSProcessInfo".as_ptr());
        if info.is_null() {
            return None;
        }
        let info = get(info, selector(c"processInfo".as_ptr()));
        if info.is_null() {
            return None;
        }
        let answers = selector(c"respondsToSelector:".as_ptr());
        let thermal = selector(c"thermalState".as_ptr());
        let low_power = selector(c"isLowPowerModeEnabled".as_ptr());
        Some(ProcessInfo {
            thermal_state: knows(info, answers, thermal).then(|| integer(info, thermal) as i64),
            low_power: knows(info, answers, low_power).then(|| flag(info, low_power)),
        })
    }
}

fn conditions() -> Conditions {
    let info = process_info();
    let thermal_state = info.as_ref().and_then(|info| info.thermal_state);
    Conditions {
        power_source: answers::power_source(battery_seconds()),
        power_saving: answers::power_saving(info.and_then(|info| info.low_power)),
        thermal_state: answers::thermal_state(&Kernel, thermal_state),
        memory_pressure: answers::memory_pressure(&Kernel),
    }
}

/// Swap space (vm.swapusage).
fn swap() -> Option<Told<Swap>> {
    let bytes = Kernel.bytes("vm.swapusage")?;
    if bytes.len() < size_of::<libc::xsw_usage>() {
        return None;
    }
    let mut usage = MaybeUninit::<libc::xsw_usage>::uninit();
    // SAFETY: the bytes are at least as many as the structure has, which is made of numbers.
    let usage = unsafe {
        let to = usage.as_mut_ptr().cast::<u8>();
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, size_of::<libc::xsw_usage>());
        usage.assume_init()
    };
    let swap = Swap {
        total: Bytes(usage.xsu_total),
        used: Bytes(usage.xsu_used),
    };
    Some((swap, "sysctl vm.swapusage".to_owned()))
}

/// Facts about superpages, which macOS only grants on request and only on Intel's processors.
fn pages() -> ReportedPages {
    let intel = cfg!(target_arch = "x86_64") && !translated();
    ReportedPages {
        mode: Fact::known(
            "none".to_owned(),
            "macOS gives superpages on request only, never by itself",
        ),
        size: match intel {
            true => Fact::known(Bytes::mib(2), "VM_FLAGS_SUPERPAGE_SIZE_2MB"),
            false => Fact::unknown("Apple's processors have no superpages for programs"),
        },
        pools: Fact::unknown(match intel {
            true => "macOS has no pools; superpages are made on request (--pages huge)",
            false => "macOS has no pools, nor superpages on this processor",
        }),
    }
}

/// All facts that macOS reports by calls.
pub fn reported() -> Reported {
    let named = |name: &str| -> Option<Told<String>> {
        Some((Kernel.text(name)?, format!("sysctl {name}")))
    };
    let topology = answers::topology(&Kernel);
    let kinds = topology
        .iter()
        .flat_map(|topology| &topology.cores)
        .any(|core| answers::is_background(core.kind.as_deref()));
    let request = if kinds {
        "quality-of-service classes: background for efficiency cores, which also lowers their \
         clock rate, and user-interactive for the others"
    } else {
        "quality-of-service class user-interactive"
    };
    let hypervisor = match Kernel.number("kern.hv_vmm_present") {
        Some(0) => Some("none"),
        Some(_) => Some("a hypervisor"),
        None => None,
    };
    Reported {
        topology,
        model_name: named("machdep.cpu.brand_string"),
        firmware: None,
        machine: named("hw.model"),
        hypervisor: hypervisor
            .map(|name| (name.to_owned(), "sysctl kern.hv_vmm_present".to_owned())),
        pages: Some(pages()),
        swap: swap(),
        load: load(),
        conditions: Some(conditions()),
        thread_request: Some(match ask_for_speed(0, None) {
            true => Fact::known(request.to_owned(), "pthread_set_qos_class_self_np, a hint"),
            false => Fact::unknown("pthread_set_qos_class_self_np refuses the class"),
        }),
        ..Reported::default()
    }
}
