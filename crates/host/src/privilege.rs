//! Detects rights that the program has and its caller lacks.

use super::os;
use units::error::{Error, Result};

/// True if the program runs with rights that its caller lacks: it is set-user-ID or set-group-ID
/// or, on Linux, its file has capabilities. Always false if the system has no such programs. A
/// program that root calls is not elevated.
pub fn is_elevated() -> bool {
    os::elevated()
}

/// Returns a usage error if [`is_elevated`]. The program reads and writes files that its caller
/// names, and takes memory and CPUs. It must not do so with rights that the caller lacks.
pub fn refuse_elevated() -> Result<()> {
    if !is_elevated() {
        return Ok(());
    }
    Err(Error::usage(
        "cannot run with rights that the caller lacks: the program is set-user-ID or \
         set-group-ID, or has file capabilities; only the caller's own rights are allowed; type \
         chmod ug-s FILE or setcap -r FILE",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_runs_with_the_rights_of_its_caller() {
        assert!(!is_elevated());
        assert_eq!(refuse_elevated(), Ok(()));
    }
}
