//! Charts of datasets. Pictures, pages and terminals draw the same charts.
//!
//! The experiment of a dataset does not matter for its chart. Points between two ends (`from` and
//! `to`, `cpu_node` and `memory_node`) become heat maps. Points with background traffic become
//! series over that traffic. All other points become series over the axis with the most distinct
//! numbers. If no axis has numbers, it is the axis with the most distinct names.

mod canvas;
mod caption;
mod choice;
mod drawing;
mod findings;
mod formats;
mod heat;
mod lines;
mod looks;
mod map;
mod model;
mod picture;
mod plot;
mod questions;
mod scale;
mod series;
mod spot;
mod terminal;
mod together;

pub(super) use caption::{outcomes, sources};
pub(super) use choice::{charts, chosen};
pub(super) use formats::{Png, Svg};
pub(super) use heat::Heat;
#[cfg(test)]
pub(super) use lines::MAX_SPOTS;
pub(super) use looks::{COLORS, DASHES, MARKS, RADIUS};
pub(super) use map::steps;
pub(super) use model::{Body, Chart};
pub(super) use scale::{Numbers, Scale};
pub(super) use series::Lines;
pub(super) use spot::ChartPoint;

pub(super) use terminal::draw as to_terminal;
