//! Offsets within a block and within a line.

/// Offsets within a block in steps of 4 bytes, for 32-bit registers.
#[cfg(target_arch = "x86")]
macro_rules! every_4 {
    () => {
        "0,4,8,12,16,20,24,28,32,36,40,44,48,52,56,60,64,68,72,76,80,84,88,92,96,100,104,108,112,\
            116,120,124,128,132,136,140,144,148,152,156,160,164,168,172,176,180,184,188,192,196,\
            200,204,208,212,216,220,224,228,232,236,240,244,248,252,256,260,264,268,272,276,280,\
            284,288,292,296,300,304,308,312,316,320,324,328,332,336,340,344,348,352,356,360,364,\
            368,372,376,380,384,388,392,396,400,404,408,412,416,420,424,428,432,436,440,444,448,\
            452,456,460,464,468,472,476,480,484,488,492,496,500,504,508"
    };
}
#[cfg(target_arch = "x86")]
pub(crate) use every_4;

/// Offsets within a block in steps of 8 bytes.
macro_rules! every_8 {
    () => {
        "0,8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160,168,176,184,192,200,\
            208,216,224,232,240,248,256,264,272,280,288,296,304,312,320,328,336,344,352,360,368,\
            376,384,392,400,408,416,424,432,440,448,456,464,472,480,488,496,504"
    };
}
pub(crate) use every_8;

/// Offsets within a block in steps of 16 bytes.
macro_rules! every_16 {
    () => {
        "0,16,32,48,64,80,96,112,128,144,160,176,192,208,224,240,256,272,288,304,320,336,352,368,\
            384,400,416,432,448,464,480,496"
    };
}
pub(crate) use every_16;

/// Offsets within a block in steps of 32 bytes.
macro_rules! every_32 {
    () => {
        "0,32,64,96,128,160,192,224,256,288,320,352,384,416,448,480"
    };
}
pub(crate) use every_32;

/// Offsets within a block in steps of 64 bytes.
macro_rules! every_64 {
    () => {
        "0,64,128,192,256,320,384,448"
    };
}
pub(crate) use every_64;

/// Offsets within a block in steps of 128 bytes.
macro_rules! every_128 {
    () => {
        "0,128,256,384"
    };
}
pub(crate) use every_128;

/// Offsets within a block in steps of 256 bytes.
macro_rules! every_256 {
    () => {
        "0,256"
    };
}
pub(crate) use every_256;
