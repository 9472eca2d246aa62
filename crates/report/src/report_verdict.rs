//! Verdict on a whole report, from the verdicts on its points.

use super::{Cause, CauseCount, Dataset, ReportVerdict, VerdictGrade, headline};
use std::collections::BTreeMap;

impl ReportVerdict {
    /// Counts the verdicts on the measured points of `datasets`. Points of derived datasets do not
    /// count. Points of auxiliary datasets count only if there are no others ([`headline`]).
    pub fn summarise(datasets: &[Dataset]) -> Self {
        let points = headline(datasets)
            .filter(|d| !d.derived)
            .flat_map(|d| &d.points);
        let verdicts = || {
            points
                .clone()
                .filter_map(|p| Some(&p.outcome.measured()?.verdict))
        };
        let mut points: BTreeMap<VerdictGrade, u64> = BTreeMap::new();
        let mut causes: BTreeMap<Cause, CauseCount> = BTreeMap::new();
        for verdict in verdicts() {
            *points.entry(verdict.grade).or_default() += 1;
            let named: BTreeMap<Cause, &str> = verdict
                .reasons
                .iter()
                .map(|r| (r.cause, r.advice.as_str()))
                .collect();
            for (cause, advice) in named {
                let new = || CauseCount {
                    cause,
                    points: 0,
                    advice: advice.to_owned(),
                };
                causes.entry(cause).or_insert_with(new).points += 1;
            }
        }
        let mut causes: Vec<CauseCount> = causes.into_values().collect();
        causes.sort_by_key(|c| std::cmp::Reverse(c.points));
        let grade = points
            .keys()
            .next_back()
            .copied()
            .unwrap_or(VerdictGrade::Rejected);
        Self {
            grade,
            points,
            causes,
        }
    }
}
