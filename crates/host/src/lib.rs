//! The machine: facts about it and powers over it.
//!
//! `facts` says what there is, `memory` maps and reads back pages, `pin` places threads, `counter` is the clock,
//! `cpu` says which instructions may be used, `noise` counts what disturbed a thread or happened beside a run, `interrupt`
//! is the wish to stop, `privilege` tells borrowed rights, `storage` opens files and devices and moves blocks. Every system call is in `os`, every processor instruction that
//! needs `unsafe` in `processor` and `counter`; the rest is safe code on top of them.

pub mod counter;
pub mod cpu;
pub mod facts;
pub mod interrupt;
pub mod memory;
mod microarchitectures;
pub mod noise;
mod os;
pub mod pin;
pub mod privilege;
mod processor;
pub mod storage;
