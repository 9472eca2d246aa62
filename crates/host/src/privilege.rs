//! Rights that this program was lent and must not use for others.

use super::os;
use units::error::{Error, Result};

/// Whether the program runs with rights that its caller lacks: it is set-user-ID or set-group-ID
/// or, on Linux, its file has capabilities. False where the system has nothing like it. Being root
/// is not: root called.
pub fn is_elevated() -> bool {
    os::elevated()
}

/// An error of kind usage where [`is_elevated`]. The program writes files where its caller says,
/// reads files that its caller names and takes hold of memory and CPUs: none of that is meant to be
/// done with the rights of another.
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
