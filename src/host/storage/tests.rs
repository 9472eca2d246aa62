//! The engines and targets on real files.

use super::*;
