//! Several reports that form one side of a comparison.

use super::align::REPEAT;
use report::{Coordinate, Dataset, Provenance, Report};

/// Reports that describe a machine or a fleet in one state.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSet {
    /// Points of all reports. The repetition of each point is replaced by the number of its report.
    report: Report,
    /// Provenance of each report.
    provenances: Vec<Provenance>,
}

impl ReportSet {
    /// The set of `reports`; `None` if there are none. Repetitions within a report count as one
    /// point. A kernel whose code differs between the reports loses its digest and its C library.
    pub fn new(reports: Vec<Report>) -> Option<Self> {
        let mut all = reports.into_iter().enumerate();
        let (_, mut whole) = all.next()?;
        let mut provenances = vec![whole.provenance.clone()];
        if all.len() == 0 {
            return Some(Self {
                report: whole,
                provenances,
            });
        }
        number(&mut whole.datasets, 0);
        for (index, mut other) in all {
            number(&mut other.datasets, index as u64);
            provenances.push(other.provenance.clone());
            for kernel in other.provenance.kernels {
                let known = &mut whole.provenance.kernels;
                match known.iter_mut().find(|known| known.name == kernel.name) {
                    Some(same) if same.code() == kernel.code() => {}
                    Some(other_code) => {
                        other_code.digest = None;
                        other_code.c_library = None;
                    }
                    None => known.push(kernel),
                }
            }
            for dataset in other.datasets {
                let same = |known: &&mut Dataset| {
                    known.experiment == dataset.experiment
                        && known.quantity == dataset.quantity
                        && known.auxiliary == dataset.auxiliary
                        && known.derived == dataset.derived
                };
                match whole.datasets.iter_mut().find(same) {
                    Some(known) => known.points.extend(dataset.points),
                    None => whole.datasets.push(dataset),
                }
            }
        }
        let points = whole.datasets.iter_mut().flat_map(|set| &mut set.points);
        for (id, point) in (0..).zip(points) {
            point.id = id;
        }
        Some(Self {
            report: whole,
            provenances,
        })
    }

    /// The points of all reports as one report, with the provenance of the first report and the
    /// kernels of all.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Like [`ReportSet::report`], but consumes the set.
    pub fn into_report(self) -> Report {
        self.report
    }

    /// Provenance of each report.
    pub fn provenances(&self) -> &[Provenance] {
        &self.provenances
    }
}

/// Sets the repetition of all points to `index`, the number of their report.
fn number(datasets: &mut [Dataset], index: u64) {
    for point in datasets.iter_mut().flat_map(|dataset| &mut dataset.points) {
        let repetition = Coordinate::Number(index);
        point.coordinates.insert(REPEAT.to_owned(), repetition);
    }
}
