//! Options that change something only beside others: declared next to the options, and held by the
//! command line.

/// An option of the settings `S` that changes something only where `applies`.
pub struct Effect<S: 'static> {
    /// Its name without dashes: `stride` for `--stride`.
    pub option: &'static str,
    /// Whether it changes anything with these settings.
    pub applies: fn(&S) -> bool,
    /// Who uses it: `only strided orders use it`.
    pub only: &'static str,
    /// What to type so that it is used: `--orders strided`; `None` where nothing helps but leaving
    /// it out.
    pub cure: Option<&'static str>,
}

/// Settings of which some options have an effect only beside others.
pub trait Effects: Sized + 'static {
    /// One row for each of these options.
    const EFFECTS: &'static [Effect<Self>] = &[];
}
