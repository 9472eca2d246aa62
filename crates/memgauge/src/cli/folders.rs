//! Files in folders that users name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Files of a folder and of the folders in it whose extension is one of `extensions`, sorted. Links
/// to folders are not followed.
pub fn files_in(folder: &Path, extensions: &[&str]) -> io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let path = entry.path();
            let extension = path.extension().and_then(|e| e.to_str());
            let is_known = extension.is_some_and(|e| {
                let e = e.to_ascii_lowercase();
                extensions.contains(&e.as_str())
            });
            if kind.is_dir() {
                open.push(path);
            } else if is_known && (kind.is_file() || path.is_file()) {
                all.push(path);
            }
        }
    }
    all.sort();
    Ok(all)
}
