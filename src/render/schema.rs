//! The published schema of a report, from the types that write it.

use crate::results::{Report, SCHEMA_VERSION};
use serde_json::{Value, json};

/// JSON Schema (draft 2020-12) of a report of this program's version: indented, newline at the end.
pub fn schema() -> String {
    let mut schema = schemars::schema_for!(Report).to_value();
    if let Value::Object(fields) = &mut schema {
        fields.insert("$id".to_owned(), json!(format!("urn:memgauge:report:{SCHEMA_VERSION}")));
        fields.insert("title".to_owned(), json!(format!("memgauge report, schema version {SCHEMA_VERSION}")));
        fields.insert("version".to_owned(), json!(SCHEMA_VERSION));
    }
    if let Some(Value::Object(version)) = schema.pointer_mut("/properties/schema_version") {
        version.insert("const".to_owned(), json!(SCHEMA_VERSION));
    }
    format!("{schema:#}\n")
}
