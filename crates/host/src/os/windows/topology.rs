//! The topology of the machine, from GetLogicalProcessorInformationEx.

use super::{GROUP_SIZE, cpus_of};
use crate::reported::{ReportedCore, ReportedNode, ReportedTopology};
use report::{Cache, CacheKind};
use std::mem::{offset_of, size_of};
use units::{Bytes, CpuList};
use windows_sys::Win32::System::SystemInformation::{
    CACHE_RELATIONSHIP, CacheData, CacheInstruction, CacheUnified, GROUP_AFFINITY,
    GROUP_RELATIONSHIP, GetLogicalProcessorInformationEx, NUMA_NODE_RELATIONSHIP,
    PROCESSOR_GROUP_INFO, PROCESSOR_RELATIONSHIP, RelationAll, RelationCache, RelationGroup,
    RelationNumaNode, RelationNumaNodeEx, RelationProcessorCore, RelationProcessorPackage,
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetNumaAvailableMemoryNodeEx, GetProcessAffinityMask,
    GetProcessGroupAffinity,
};

/// Name of the call, for the sources of facts.
const CALL: &str = "GetLogicalProcessorInformationEx";

/// Offset of the body in a record. The type of the body depends on the record's relationship.
const BODY: usize = offset_of!(SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX, Anonymous);

/// A record that the call returned.
struct Record<'a> {
    relationship: i32,
    bytes: &'a [u8],
}

impl Record<'_> {
    /// The value of type `T` at `offset` of the record; `None` if the record is shorter. `T` has to
    /// consist of integers only, for which every bit pattern is valid.
    fn at<T: Copy>(&self, offset: usize) -> Option<T> {
        let end = offset.checked_add(size_of::<T>())?;
        let bytes = self.bytes.get(offset..end)?;
        // SAFETY: the slice is as long as T, every bit pattern is a valid T, alignment is not
        // needed.
        Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
    }

    /// The entries of type `T` from `offset` of the body on. Returns at most `count`, and fewer if
    /// the record is shorter.
    fn array<T: Copy>(&self, offset: usize, count: u16) -> Vec<T> {
        (0..usize::from(count))
            .map_while(|nth| self.at(BODY + offset + nth * size_of::<T>()))
            .collect()
    }

    /// The CPUs in `count` masks at `offset` of the body. Before Windows 11, the count of a cache
    /// or a node is 0 although there is one mask.
    fn cpus(&self, offset: usize, count: u16) -> Vec<u32> {
        let masks: Vec<GROUP_AFFINITY> = self.array(offset, count.max(1));
        masks.iter().flat_map(cpus_of).collect()
    }
}

/// The bytes of all records; `None` if the call fails.
fn buffer() -> Option<Vec<u8>> {
    let mut length = 0;
    // SAFETY: without a buffer the call only writes the length that it needs.
    unsafe { GetLogicalProcessorInformationEx(RelationAll, std::ptr::null_mut(), &mut length) };
    // The buffer consists of 8-byte words, so that records are aligned.
    let mut words = vec![0u64; (length as usize).div_ceil(8)];
    // SAFETY: the buffer has at least `length` bytes.
    let told = length > 0
        && unsafe {
            GetLogicalProcessorInformationEx(RelationAll, words.as_mut_ptr().cast(), &mut length)
        } != 0;
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    bytes.truncate(length as usize);
    told.then_some(bytes)
}

/// Splits `bytes` into records. Each record contains its size.
fn records(bytes: &[u8]) -> Vec<Record<'_>> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while rest.len() > BODY {
        let whole = Record {
            relationship: 0,
            bytes: rest,
        };
        let offset = offset_of!(SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX, Size);
        let (Some(relationship), Some(size)) = (whole.at::<i32>(0), whole.at::<u32>(offset)) else {
            break;
        };
        let size = size as usize;
        if size <= BODY || size > rest.len() {
            break;
        }
        let (bytes, after) = rest.split_at(size);
        found.push(Record {
            relationship,
            bytes,
        });
        rest = after;
    }
    found
}

fn cache(record: &Record<'_>) -> Option<Cache> {
    let cache: CACHE_RELATIONSHIP = record.at(BODY)?;
    #[allow(non_upper_case_globals)] // names of Windows
    let kind = match cache.Type {
        CacheUnified => CacheKind::Unified,
        CacheInstruction => CacheKind::Instruction,
        CacheData => CacheKind::Data,
        _ => return None,
    };
    // The value 255 means fully associative.
    let ways = Some(u32::from(cache.Associativity)).filter(|&ways| ways > 0 && ways < 255);
    Some(Cache {
        level: u32::from(cache.Level),
        kind,
        size: Bytes(u64::from(cache.CacheSize)),
        line: Some(Bytes(u64::from(cache.LineSize))).filter(|line| line.0 > 0),
        ways,
        cpus: CpuList(record.cpus(offset_of!(CACHE_RELATIONSHIP, Anonymous), cache.GroupCount)),
    })
}

fn node(record: &Record<'_>) -> Option<ReportedNode> {
    let node: NUMA_NODE_RELATIONSHIP = record.at(BODY)?;
    let mut available = 0;
    // SAFETY: the call writes a number.
    let told = u16::try_from(node.NodeNumber)
        .is_ok_and(|id| unsafe { GetNumaAvailableMemoryNodeEx(id, &mut available) != 0 });
    Some(ReportedNode {
        id: node.NodeNumber,
        cpus: record.cpus(
            offset_of!(NUMA_NODE_RELATIONSHIP, Anonymous),
            node.GroupCount,
        ),
        available: told.then_some(available).filter(|&bytes| bytes > 0),
        distances: Vec::new(),
    })
}

/// The CPUs in a record about a core or a package, and the efficiency class of a core.
fn processor(record: &Record<'_>) -> Option<(Vec<u32>, u8)> {
    let processor: PROCESSOR_RELATIONSHIP = record.at(BODY)?;
    let offset = offset_of!(PROCESSOR_RELATIONSHIP, GroupMask);
    let cpus = record.cpus(offset, processor.GroupCount);
    Some((cpus, processor.EfficiencyClass))
}

/// The active CPUs of all groups.
fn online(record: &Record<'_>) -> Vec<u32> {
    let Some(groups) = record.at::<GROUP_RELATIONSHIP>(BODY) else {
        return Vec::new();
    };
    let offset = offset_of!(GROUP_RELATIONSHIP, GroupInfo);
    let groups: Vec<PROCESSOR_GROUP_INFO> = record.array(offset, groups.ActiveGroupCount);
    let masks = (0u16..).zip(&groups).map(|(group, info)| GROUP_AFFINITY {
        Mask: info.ActiveProcessorMask,
        Group: group,
        ..Default::default()
    });
    masks.flat_map(|mask| cpus_of(&mask)).collect()
}

/// CPUs that this process may use; `None` if it may use all. Only a process in a single group can
/// be restricted, by the program that starts it (`start /affinity`) or by a job.
fn usable() -> Option<Vec<u32>> {
    let mut groups = [0u16; 64];
    let mut count = groups.len() as u16;
    // SAFETY: the handle is the calling process's own; the call writes at most `count` numbers.
    let told = unsafe {
        GetProcessGroupAffinity(GetCurrentProcess(), &mut count, groups.as_mut_ptr()) != 0
    };
    let mut process = 0;
    let mut system = 0;
    // SAFETY: the handle is the calling process's own; the call writes two masks.
    let masks = unsafe { GetProcessAffinityMask(GetCurrentProcess(), &mut process, &mut system) };
    // A mask of zero means that the process has threads in several groups and is not restricted.
    let restricted = masks != 0 && process != 0 && process != system;
    (told && count == 1 && restricted).then(|| {
        cpus_of(&GROUP_AFFINITY {
            Mask: process,
            Group: groups[0],
            ..Default::default()
        })
    })
}

/// The CPUs, caches and NUMA nodes; `None` if the call fails.
pub fn topology() -> Option<ReportedTopology> {
    let bytes = buffer()?;
    let mut found = ReportedTopology {
        usable: usable(),
        cpus_source: format!(
            "{CALL}; CPU n of group g is number {GROUP_SIZE} g + n; allowed: \
             GetProcessAffinityMask"
        ),
        caches_source: CALL.to_owned(),
        nodes_source: format!("{CALL}, GetNumaAvailableMemoryNodeEx"),
        ..ReportedTopology::default()
    };
    for record in records(&bytes) {
        #[allow(non_upper_case_globals)] // names of Windows
        match record.relationship {
            RelationProcessorCore => {
                found.cores.extend(processor(&record).map(|(cpus, class)| {
                    let kind = Some(format!("efficiency class {class}"));
                    ReportedCore { cpus, kind }
                }));
            }
            RelationProcessorPackage => {
                let package = processor(&record).map(|(cpus, _)| cpus);
                found.packages.extend(package);
            }
            RelationCache => found.caches.extend(cache(&record)),
            RelationNumaNode | RelationNumaNodeEx => found.nodes.extend(node(&record)),
            RelationGroup => found.online.extend(online(&record)),
            _ => {}
        }
    }
    // Old or emulated systems may report no groups.
    if found.online.is_empty() {
        found.online = found
            .cores
            .iter()
            .flat_map(|core| core.cpus.clone())
            .collect();
    }
    Some(found)
}
