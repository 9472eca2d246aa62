//! Tests that the advice of refusals works when typed.

use crate::helper::{cpus, folder, typed};

/// Requests that are refused with an option and a value to type. `{cpus+1}` stands for the number
/// of CPUs plus 1.
const REFUSED: &[&str] = &[
    "run --max-points 3",
    "run --profile full --max-points 20",
    "run --profile quick --repeat 100",
    "run --only latency,core-to-core --max-points 1",
    "latency --sizes 4KiB..1MiB:1KiB --stride 64,128",
    "core-to-core --kernel exchange,store-load,compare-and-swap --max-points 1",
    "run --profile quick --budget 1ms",
    "bandwidth --sizes 4KiB --budget 0",
    "latency --sizes 4KiB,8KiB --cooldown 100 --budget 1s",
    "latency --sizes 4KiB --samples 1000000 --budget 1s",
    "bandwidth --sizes 4KiB --reallocate 1000 --budget 100ms",
    "bandwidth --sizes 4KiB --threads {cpus+1}",
    "bandwidth --sizes 100",
    "bandwidth --sizes 1 --ops read,add,read-best",
    "scaling --threads best",
    "scaling --sizes 100 --ops read,triad",
    "scaling --model-size 0",
    "scaling --model-size 8GB --ops write",
    "patterns --sizes 100",
    "patterns --stride 100",
    "patterns --blocks 96",
    "latency --sizes 1 --stride 64,256",
    "latency --stride 12 --sizes 4KiB",
    "latency --payload --stride 8 --sizes 4KiB",
    "latency --chains 0 --sizes 4KiB",
    "latency --windows 5 --sizes 4KiB",
    "latency --windows 1000 --window 1ns --sizes 4KiB",
    "latency --chain-mode random-box --locality 100 --sizes 4MiB",
    "latency --locality 4KiB --sizes 4MiB",
    "latency --memory-nodes 99 --sizes 4KiB",
    "latency --cpus 99999 --sizes 4KiB",
    "bandwidth --cpus 99999 --sizes 4KiB",
    "bandwidth --last-level 0 --sizes 4KiB",
    "instructions --cpus 99999",
    "core-to-core --lines 1",
    "loaded-latency --sizes 1",
    "tlb --max-pages 1",
    "caches --max-size 1",
    "numa --cpu-nodes 0 --threads 1,2",
    "numa --cpu-nodes 0 --threads best",
    "numa --cpu-nodes 0 --sizes 1 --measure latency",
    "io f --create 1MiB --depth 0",
    "io f --create 1MiB --window 1ms",
    "io f --create 1MiB --time 1ms",
    "io f --create 1MiB --time 20s --budget 2s",
    "io f --create 1MiB --blocks 0",
    "io f --create 1MiB --verify --data zeros",
];

/// The first option and value that `refusal` advises.
fn advised(refusal: &str) -> Option<(String, String)> {
    let words: Vec<&str> = refusal.split("type ").nth(1)?.split_whitespace().collect();
    let at = words.iter().position(|word| word.starts_with("--"))?;
    Some((
        words[at].to_owned(),
        words.get(at + 1)?.trim_end_matches([';', ',']).to_owned(),
    ))
}

/// Returns `words` with `option` set to `value`.
fn with(words: &str, option: &str, value: &str) -> String {
    let mut words: Vec<&str> = words.split_whitespace().collect();
    match words.iter().position(|word| *word == option) {
        Some(at) => words[at + 1] = value,
        None => words.extend([option, value]),
    }
    words.join(" ")
}

#[test]
fn what_a_refusal_advises_to_type_works() {
    let folder = folder();
    let mut useless = Vec::new();
    for request in REFUSED {
        let request = format!(
            "{} --dry-run",
            request.replace("{cpus+1}", &(cpus() + 1).to_string())
        );
        let refused = typed(&request, folder.path());
        assert_eq!(refused.code, Some(2), "{request}: {refused:?}");
        let (option, value) =
            advised(&refused.stderr).unwrap_or_else(|| panic!("{request}: {}", refused.stderr));
        let again = with(&request, &option, &value);
        let done = typed(&again, folder.path());
        if done.code != Some(0) {
            useless.push(format!(
                "{request}: {}then {again}: {}",
                refused.stderr, done.stderr
            ));
        }
    }
    assert!(useless.is_empty(), "{}", useless.join("\n"));
}

#[test]
fn a_plan_is_the_same_as_text_and_as_data() {
    let folder = folder();
    let words = "latency --sizes 4KiB,32KiB --pages 4k --samples 20 --seed 3 --dry-run";
    let text = typed(words, folder.path()).stdout;
    let json = typed(&format!("{words} --format json"), folder.path()).stdout;
    let plan: serde_json::Value =
        serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert_eq!(
        (&plan["plan_version"], &plan["profile"], &plan["seed"]),
        (&2.into(), &"latency".into(), &"3".into())
    );
    assert!(
        text.contains(&format!("plan: {} points", plan["point_count"])),
        "{text}"
    );
    assert_eq!(plan["points"].as_array().map(Vec::len), Some(2));
    let phases = plan["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 1);
    assert_eq!(
        (&phases[0]["point_count"], &phases[0]["drafted"]),
        (&2.into(), &true.into())
    );
    for point in plan["points"].as_array().unwrap() {
        assert_eq!(
            (&point["status"], &point["reason"]),
            (&"planned".into(), &serde_json::Value::Null)
        );
        let sampling = &point["sampling"];
        let samples =
            sampling["rounds"].as_u64().unwrap() * sampling["samples_per_round"].as_u64().unwrap();
        assert_eq!(samples, 20, "{point}");
        assert!(
            text.contains(&format!(
                "size_bytes={}",
                point["coordinates"]["size_bytes"]
            )),
            "{text}"
        );
    }
    let lines = typed(&format!("{words} --format jsonl"), folder.path()).stdout;
    let lines: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (lines.len(), &lines[1], &lines[2]),
        (3, &plan["points"][0], &plan["points"][1])
    );
    assert_eq!(lines[0]["cpus"], plan["cpus"]);
    // The plan gives the reason for a point without a number.
    let json = typed(
        "latency --sizes 64 --chains 4 --dry-run --format json",
        folder.path(),
    )
    .stdout;
    let plan: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(
        plan["points"][0]["status"] == "unsupported" && plan["points"][0]["reason"].is_string(),
        "{plan}"
    );
    // Any other format is the format of the report.
    assert!(
        typed(&format!("{words} --format csv"), folder.path())
            .stdout
            .contains("result: csv")
    );
}
