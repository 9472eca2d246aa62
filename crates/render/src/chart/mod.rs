//! Datasets as charts, independent of the output: pictures, pages and terminals show the same
//! series of the same points.
//!
//! A chart knows axes, not experiments. Points between two ends (`from` and `to`, `cpu_node` and
//! `memory_node`) become heat maps. Points with background traffic become series over that traffic.
//! All other points become series. Their x axis is the one with the most distinct numbers; without
//! numbers, the one with the most distinct names.

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
