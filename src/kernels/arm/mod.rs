//! The rows of arm.
