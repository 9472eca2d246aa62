//! Packs the charting library of HTML reports: it is 4.6 MB as it comes and 1.9 MB in the program and in every page.

use base64::Engine;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let scripts = plotly::Plot::offline_js_sources();
    // The library is the first of the scripts; behind it comes one for formulas, which no chart here has.
    let start = scripts.find('>').ok_or("no script")? + 1;
    let end = scripts.find("</script>").ok_or("no end of the script")?;
    let library = scripts.get(start..end).ok_or("no text in the script")?;
    if !library.contains("plotly.js v") {
        return Err("the crate's first script is not plotly.js".into());
    }
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(library.as_bytes(), 9);
    let text = base64::engine::general_purpose::STANDARD.encode(packed);
    let folder = std::env::var_os("OUT_DIR").ok_or("no folder to write to")?;
    Ok(std::fs::write(Path::new(&folder).join("plotly.js.zlib.base64"), text)?)
}
