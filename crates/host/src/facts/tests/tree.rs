//! Recorded trees, built file by file.

use crate::facts::{SystemFiles, discover};
use report::HostFacts;

/// A recorded tree, built file by file.
pub struct Tree(pub tempfile::TempDir);

impl Tree {
    pub fn new() -> Self {
        Tree(tempfile::tempdir().unwrap())
    }

    pub fn file(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.0.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub fn files(&self) -> SystemFiles {
        SystemFiles::under(self.0.path())
    }

    /// Removes a file or a folder.
    pub fn without(self, path: &str) -> Self {
        let path = self.0.path().join(path.trim_start_matches('/'));
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap()
        } else {
            std::fs::remove_file(path).unwrap()
        }
        self
    }

    pub fn discover(&self) -> HostFacts {
        discover(&self.files())
    }

    pub fn cpu(self, cpu: u32, core: u32, package: u32, siblings: &str) -> Self {
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
        self.file(&format!("{folder}/core_id"), format!("{core}\n"))
            .file(
                &format!("{folder}/physical_package_id"),
                format!("{package}\n"),
            )
            .file(&format!("{folder}/core_cpus_list"), format!("{siblings}\n"))
    }

    pub fn cache(self, cpu: u32, index: u32, what: (u32, &str, &str), shared: &str) -> Self {
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
        self.file(&format!("{folder}/level"), format!("{}\n", what.0))
            .file(&format!("{folder}/type"), format!("{}\n", what.1))
            .file(&format!("{folder}/size"), format!("{}\n", what.2))
            .file(&format!("{folder}/coherency_line_size"), "64\n")
            .file(&format!("{folder}/ways_of_associativity"), "8\n")
            .file(&format!("{folder}/shared_cpu_list"), format!("{shared}\n"))
    }

    pub fn node(self, id: u32, cpus: &str, kilobytes: u64, distances: &str) -> Self {
        let folder = format!("/sys/devices/system/node/node{id}");
        self.file(&format!("{folder}/cpulist"), format!("{cpus}\n"))
            .file(&format!("{folder}/distance"), format!("{distances}\n"))
            .file(
                &format!("{folder}/meminfo"),
                format!("Node {id} MemTotal:       {kilobytes} kB\nNode {id} MemFree: 1 kB\n"),
            )
    }

    /// Adds plenty of memory, and no limits of the process.
    pub fn memory(self) -> Self {
        self.file(
            "/proc/meminfo",
            "MemTotal: 16777216 kB\nMemFree: 1 kB\nMemAvailable:   8388608 kB\n",
        )
        .file(
            "/proc/self/limits",
            "Limit  Soft Limit  Hard Limit  Units\nMax data size   unlimited unlimited bytes\n\
             Max address space   unlimited  unlimited  bytes\n",
        )
    }
}

/// A virtual machine with two CPUs, as on a small cloud instance.
pub fn two_cpus() -> Tree {
    let mut tree = Tree::new()
        .memory()
        .file("/sys/devices/system/cpu/online", "0-1\n")
        .node(0, "0-1", 16777216, "10");
    for cpu in 0..2 {
        tree = tree
            .cpu(cpu, cpu, 0, &cpu.to_string())
            .cache(cpu, 0, (1, "Data", "48K"), &cpu.to_string())
            .cache(cpu, 1, (1, "Instruction", "32K"), &cpu.to_string())
            .cache(cpu, 2, (2, "Unified", "1024K"), &cpu.to_string())
            .cache(cpu, 3, (3, "Unified", "32768K"), "0-1");
    }
    tree.file(
        "/proc/self/status",
        "Name:\tx\nCpus_allowed_list:\t1\nVmSize: 1024 kB\nVmData: 512 kB\n",
    )
}

/// Replaces every file below `folder` by `text`.
pub fn overwrite(folder: &std::path::Path, text: &str) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            overwrite(&path, text)
        } else {
            std::fs::write(path, text).unwrap()
        }
    }
}
