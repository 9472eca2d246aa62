//! The published schema of a report, which follows from the Rust types of reports.
//!
//! The program contains the published file, so it needs no schema generator. A test makes the
//! schema from the types and compares it with the file. The file is renewed by `cargo test --lib
//! renew_schema -- --ignored`.

/// JSON Schema (draft 2020-12) of a report of this version, indented, with a newline at the end.
pub fn schema() -> &'static str {
    include_str!("../../../docs/report.schema.json")
}

#[cfg(test)]
mod tests {
    use super::schema;
    use report::{Report, SCHEMA_VERSION};
    use serde_json::{Value, json};
    use std::path::Path;

    fn of_the_types() -> String {
        let mut schema = schemars::schema_for!(Report).to_value();
        if let Value::Object(fields) = &mut schema {
            fields.insert(
                "$id".to_owned(),
                json!(format!("urn:memgauge:report:{SCHEMA_VERSION}")),
            );
            fields.insert(
                "title".to_owned(),
                json!(format!("memgauge report, schema version {SCHEMA_VERSION}")),
            );
            fields.insert("version".to_owned(), json!(SCHEMA_VERSION));
        }
        if let Some(Value::Object(version)) = schema.pointer_mut("/properties/schema_version") {
            version.insert("const".to_owned(), json!(SCHEMA_VERSION));
        }
        format!("{schema:#}\n")
    }

    #[test]
    fn the_published_schema_is_what_the_types_say() {
        let published = schema().replace("\r\n", "\n");
        assert!(
            published == of_the_types(),
            "out of date: cargo test --lib renew_schema -- --ignored"
        );
    }

    #[test]
    #[ignore = "writes the file that the program carries"]
    fn renew_schema() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/report.schema.json");
        std::fs::write(path, of_the_types()).expect("a file can be written");
    }
}
