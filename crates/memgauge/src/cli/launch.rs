//! Place of this process among the processes that a launcher started, read from the environment.

use report::Launch;

/// Environment variables of a launcher. An empty name stands for a variable that the launcher does
/// not set.
struct Launcher {
    name: &'static str,
    /// Variable that only this launcher sets.
    sign: &'static str,
    nodes: &'static [&'static str],
    job: &'static str,
    rank: &'static str,
    ranks: &'static str,
    local_rank: &'static str,
    local_ranks: &'static str,
}

/// Launchers that start ranks, the innermost first. `mpirun` runs inside a Slurm job, and a job
/// runs inside a pod. Sources: the manuals of srun, Open MPI, Hydra and PMIx, and Kubernetes'
/// environment of pods.
const LAUNCHERS: &[Launcher] = &[
    Launcher {
        name: "openmpi",
        sign: "OMPI_COMM_WORLD_RANK",
        nodes: &[],
        job: "PMIX_NAMESPACE",
        rank: "OMPI_COMM_WORLD_RANK",
        ranks: "OMPI_COMM_WORLD_SIZE",
        local_rank: "OMPI_COMM_WORLD_LOCAL_RANK",
        local_ranks: "OMPI_COMM_WORLD_LOCAL_SIZE",
    },
    Launcher {
        name: "mpich",
        sign: "MPI_LOCALRANKID",
        nodes: &[],
        job: "PMI_JOBID",
        rank: "PMI_RANK",
        ranks: "PMI_SIZE",
        local_rank: "MPI_LOCALRANKID",
        local_ranks: "MPI_LOCALNRANKS",
    },
    Launcher {
        name: "slurm",
        sign: "SLURM_JOB_ID",
        nodes: &["SLURMD_NODENAME"],
        job: "SLURM_JOB_ID",
        rank: "SLURM_PROCID",
        ranks: "SLURM_NTASKS",
        local_rank: "SLURM_LOCALID",
        local_ranks: "",
    },
    Launcher {
        name: "pmix",
        sign: "PMIX_RANK",
        nodes: &["PMIX_HOSTNAME"],
        job: "PMIX_NAMESPACE",
        rank: "PMIX_RANK",
        ranks: "",
        local_rank: "",
        local_ranks: "",
    },
    Launcher {
        name: "pmi",
        sign: "PMI_RANK",
        nodes: &[],
        job: "PMI_JOBID",
        rank: "PMI_RANK",
        ranks: "PMI_SIZE",
        local_rank: "",
        local_ranks: "",
    },
    Launcher {
        name: "kubernetes",
        sign: "KUBERNETES_SERVICE_HOST",
        nodes: &["NODE_NAME", "K8S_NODE_NAME", "MY_NODE_NAME"],
        job: "JOB_NAME",
        rank: "JOB_COMPLETION_INDEX",
        ranks: "",
        local_rank: "",
        local_ranks: "",
    },
];

/// Longest value taken from the environment, in characters. Longer values are cut.
const LONGEST: usize = 200;

/// The launch of this process; `None` if no launcher started it.
pub fn launch() -> Option<Launch> {
    read(&|name| std::env::var_os(name)?.into_string().ok())
}

/// The launch that the environment `variables` describe; `None` if they describe none.
///
/// Rank and number of ranks come from the innermost launcher. Node and job come from the first
/// launcher that knows them.
fn read(variables: &dyn Fn(&str) -> Option<String>) -> Option<Launch> {
    let text = |name: &str| {
        let value = Some(name)
            .filter(|name| !name.is_empty())
            .and_then(variables)?;
        let value: String = value
            .chars()
            .filter(|c| !c.is_control())
            .take(LONGEST)
            .collect();
        Some(value).filter(|value| !value.is_empty())
    };
    let number = |name: &str| text(name)?.parse::<u64>().ok();
    let found: Vec<&Launcher> = LAUNCHERS
        .iter()
        .filter(|launcher| text(launcher.sign).is_some())
        .collect();
    let innermost = found.first()?;
    let node = found.iter().flat_map(|launcher| launcher.nodes);
    let local_ranks = match innermost.name {
        "slurm" => text("SLURM_STEP_TASKS_PER_NODE")
            .zip(number("SLURM_NODEID"))
            .and_then(|(counts, node)| tasks_of_node(&counts, node)),
        _ => number(innermost.local_ranks),
    };
    Some(Launch {
        launcher: innermost.name.to_owned(),
        node: node.copied().find_map(text),
        job: found.iter().find_map(|launcher| text(launcher.job)),
        rank: number(innermost.rank),
        ranks: number(innermost.ranks),
        local_rank: number(innermost.local_rank),
        local_ranks,
        all_ranks: false,
    })
}

/// Number of tasks on the node with the number `node`, from Slurm's list `counts`, such as
/// `2(x3),1`. `None` if the list is invalid or too short.
fn tasks_of_node(counts: &str, node: u64) -> Option<u64> {
    let mut first = 0;
    for part in counts.split(',') {
        let (tasks, nodes) = match part.split_once("(x") {
            Some((tasks, nodes)) => (tasks, nodes.strip_suffix(')')?.parse::<u64>().ok()?),
            None => (part, 1),
        };
        first = nodes.checked_add(first)?;
        if node < first {
            return tasks.parse().ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched(variables: &[(&str, &str)]) -> Option<Launch> {
        read(&|name| {
            let found = variables.iter().find(|(own, _)| *own == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn launchers_are_recognised() {
        assert_eq!(launched(&[]), None);
        assert_eq!(launched(&[("PATH", "/bin")]), None);
        let slurm = [
            ("SLURM_JOB_ID", "17"),
            ("SLURMD_NODENAME", "n3"),
            ("SLURM_PROCID", "5"),
            ("SLURM_NTASKS", "7"),
            ("SLURM_LOCALID", "1"),
            ("SLURM_NODEID", "2"),
            ("SLURM_STEP_TASKS_PER_NODE", "2(x3),1"),
        ];
        let known = Launch {
            launcher: "slurm".to_owned(),
            node: Some("n3".to_owned()),
            job: Some("17".to_owned()),
            rank: Some(5),
            ranks: Some(7),
            local_rank: Some(1),
            local_ranks: Some(2),
            all_ranks: false,
        };
        assert_eq!(launched(&slurm), Some(known));
        // Slurm starts a daemon of Open MPI on each node, whose variables come from Slurm.
        let mut inner = slurm.to_vec();
        inner.extend([
            ("OMPI_COMM_WORLD_RANK", "3"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("OMPI_COMM_WORLD_LOCAL_RANK", "0"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
        ]);
        let inner = launched(&inner).unwrap();
        assert_eq!(inner.launcher, "openmpi");
        assert_eq!(inner.node.as_deref(), Some("n3"));
        assert_eq!(inner.job.as_deref(), Some("17"));
        assert_eq!((inner.rank, inner.local_rank), (Some(3), Some(0)));
        assert_eq!(inner.local_ranks, Some(4));
        let pod = [
            ("KUBERNETES_SERVICE_HOST", "10.0.0.1"),
            ("NODE_NAME", "worker"),
        ];
        let pod = launched(&pod).unwrap();
        assert_eq!(pod.node.as_deref(), Some("worker"));
        assert_eq!(pod.rank, None);
    }

    #[test]
    fn odd_values_are_unknown() {
        let odd = [
            ("SLURM_JOB_ID", "1\n2"),
            ("SLURM_LOCALID", "many"),
            ("SLURMD_NODENAME", ""),
        ];
        let odd = launched(&odd).unwrap();
        assert_eq!(odd.job.as_deref(), Some("12"));
        assert_eq!((odd.local_rank, odd.node), (None, None));
        for (counts, node, tasks) in [
            ("3", 0, Some(3)),
            ("3", 1, None),
            ("2(x3),1", 3, Some(1)),
            ("2(x3),1", 4, None),
            ("2(x", 0, None),
            ("", 0, None),
            ("2(x18446744073709551615),1(x2)", 7, Some(2)),
        ] {
            assert_eq!(tasks_of_node(counts, node), tasks, "{counts} {node}");
        }
    }
}
