//! Conditions of AMD's GPUs, from the files of the driver `amdgpu`. Source: Linux kernel
//! documentation, *GPU Power/Thermal Controls and Monitoring*.

use super::sensors::{GpuConditions, Sensors};
use crate::facts::SystemFiles;
use report::{Fact, GpuFacts};
use units::{Bytes, Hertz};

/// Files with the conditions of one device.
#[derive(Debug)]
pub struct AmdFiles {
    files: SystemFiles,
    /// Folder of the device on the PCI bus.
    device: String,
    /// Folder of the device's sensors.
    sensors: String,
}

impl AmdFiles {
    /// The files of the device with this PCI address; `None` if its driver is not `amdgpu`.
    pub fn new(address: &str, files: &SystemFiles) -> Option<Self> {
        let device = format!("/sys/bus/pci/devices/{address}");
        let folder = format!("{device}/hwmon");
        let all = files.names(&folder).into_iter();
        let mut all = all.map(|name| format!("{folder}/{name}"));
        let sensors = all.find(|folder| {
            let name = files.read(&format!("{folder}/name"));
            name.is_some_and(|name| name == "amdgpu")
        })?;
        Some(Self {
            files: files.clone(),
            device,
            sensors,
        })
    }

    /// Number in the file `name` in the folder of the sensors; `None` if the file has no number.
    fn sensor(&self, name: &str) -> Option<f64> {
        self.files.read_as(&format!("{}/{name}", self.sensors))
    }

    /// Highest clock rate of the memory, from the table in `pp_dpm_mclk`. The lines of this table
    /// look like `3: 1000Mhz *`.
    fn highest_memory_clock(&self) -> Fact<Hertz> {
        let path = format!("{}/pp_dpm_mclk", self.device);
        let table = self.files.read(&path).unwrap_or_default();
        let rates = table.lines().filter_map(|line| {
            let rate = line.split(": ").nth(1)?.split("Mhz").next()?;
            rate.trim().parse::<f64>().ok()
        });
        match rates.reduce(f64::max) {
            Some(megahertz) => Fact::known(Hertz(megahertz * 1e6), path),
            None => Fact::unknown(format!("{path} has no clock rate")),
        }
    }
}

impl Sensors for AmdFiles {
    fn complete(&self, facts: &mut GpuFacts) {
        facts.memory_clock = self.highest_memory_clock();
        facts.power_limit = match self.sensor("power1_cap") {
            Some(microwatts) => {
                Fact::known(microwatts / 1e6, format!("{}/power1_cap", self.sensors))
            }
            None => Fact::unknown(format!("{}/power1_cap is missing", self.sensors)),
        };
    }

    fn conditions(&self) -> GpuConditions {
        let power = self.sensor("power1_average");
        let used = format!("{}/mem_info_vram_used", self.device);
        GpuConditions {
            core_clock: self.sensor("freq1_input").map(Hertz),
            memory_clock: self.sensor("freq2_input").map(Hertz),
            celsius: self
                .sensor("temp1_input")
                .map(|thousandths| thousandths / 1e3),
            watts: power
                .or_else(|| self.sensor("power1_input"))
                .map(|microwatts| microwatts / 1e6),
            memory_used: self.files.read_as(&used).map(Bytes),
            ..GpuConditions::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: &str = "0000:03:00.0";

    /// A recorded device whose sensors belong to the driver `driver`.
    fn recorded(driver: &str) -> (tempfile::TempDir, SystemFiles) {
        let root = tempfile::tempdir().expect("a folder");
        let device = root.path().join(format!("sys/bus/pci/devices/{ADDRESS}"));
        let sensors = device.join("hwmon/hwmon4");
        std::fs::create_dir_all(&sensors).expect("a folder");
        let write = |path: &str, text: &str| {
            std::fs::write(device.join(path), text).expect("a file");
        };
        write("hwmon/hwmon4/name", driver);
        write("hwmon/hwmon4/freq1_input", "2330000000\n");
        write("hwmon/hwmon4/freq2_input", "1000000000\n");
        write("hwmon/hwmon4/temp1_input", "47000\n");
        write("hwmon/hwmon4/power1_average", "203000000\n");
        write("hwmon/hwmon4/power1_cap", "293000000\n");
        write("pp_dpm_mclk", "0: 96Mhz\n1: 456Mhz\n2: 1000Mhz *\n");
        write("mem_info_vram_used", "1073741824\n");
        let files = SystemFiles::under(root.path());
        (root, files)
    }

    #[test]
    fn the_files_of_a_device_are_read_with_their_units() {
        let (_root, files) = recorded("amdgpu");
        let found = AmdFiles::new(ADDRESS, &files).expect("a device");
        let expected = GpuConditions {
            core_clock: Some(Hertz(2.33e9)),
            memory_clock: Some(Hertz(1e9)),
            celsius: Some(47.0),
            watts: Some(203.0),
            slowdown: None,
            other_programs: None,
            memory_used: Some(Bytes(1 << 30)),
        };
        assert_eq!(found.conditions(), expected);
        let mut facts = GpuFacts::unknown("test");
        found.complete(&mut facts);
        assert_eq!(facts.memory_clock.get(), Some(&Hertz(1e9)));
        assert_eq!(facts.power_limit.get(), Some(&293.0));
    }

    #[test]
    fn missing_files_are_unknown_conditions() {
        let (root, files) = recorded("amdgpu");
        let found = AmdFiles::new(ADDRESS, &files).expect("a device");
        std::fs::remove_dir_all(root.path()).expect("the folder");
        assert_eq!(found.conditions(), GpuConditions::default());
        let mut facts = GpuFacts::unknown("test");
        found.complete(&mut facts);
        assert_eq!(
            (facts.memory_clock.get(), facts.power_limit.get()),
            (None, None)
        );
    }

    #[test]
    fn devices_of_other_drivers_are_left_alone() {
        let (_root, files) = recorded("nouveau");
        assert!(AmdFiles::new(ADDRESS, &files).is_none());
        assert!(AmdFiles::new("0000:04:00.0", &files).is_none());
    }
}
