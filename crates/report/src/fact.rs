//! A fact with its source.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fact and its source. If the fact is unknown, `value` is `null` and `source` is the reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Fact<T> {
    /// Value of the fact.
    pub value: Option<T>,
    /// Source of the value, such as a file, a CPUID leaf or a system call. If the fact is unknown,
    /// this is the reason.
    pub source: String,
}

impl<T> Fact<T> {
    /// An unknown fact, which the program that wrote the report did not record.
    pub(super) fn unrecorded() -> Self {
        Fact {
            value: None,
            source: "the report was written without it".to_owned(),
        }
    }

    /// A fact with `value`, read from `source`.
    pub fn known(value: T, source: impl Into<String>) -> Self {
        Fact {
            value: Some(value),
            source: source.into(),
        }
    }

    /// An unknown fact; `reason` says why it is unknown.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Fact {
            value: None,
            source: reason.into(),
        }
    }

    /// The value; `None` if unknown.
    pub fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }
}

/// The default is an unknown fact. Fields that reports of older versions lack get this value.
impl<T> Default for Fact<T> {
    fn default() -> Self {
        Fact::unknown("not in the reports of the version that wrote this one")
    }
}
