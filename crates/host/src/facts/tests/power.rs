//! Power supplies and profiles.

use super::tree::Tree;

fn supply(tree: Tree, name: &str, kind: &str, file: &str, value: &str) -> Tree {
    let folder = format!("/sys/class/power_supply/{name}");
    tree.file(&format!("{folder}/type"), kind)
        .file(&format!("{folder}/{file}"), value)
}

fn source(tree: &Tree) -> Option<String> {
    tree.discover().environment.power_source.value
}

#[test]
fn a_laptop_with_and_without_its_mains() {
    let tree = supply(Tree::new(), "AC", "Mains\n", "online", "1\n");
    let tree = supply(tree, "BAT0", "Battery\n", "status", "Charging\n");
    assert_eq!(source(&tree).as_deref(), Some("mains"));
    let tree = supply(tree, "AC", "Mains\n", "online", "0\n");
    let tree = supply(tree, "BAT0", "Battery\n", "status", "Discharging\n");
    assert_eq!(source(&tree).as_deref(), Some("battery"));
}

#[test]
fn the_battery_of_a_mouse_does_not_count() {
    let tree = supply(Tree::new(), "mouse", "Battery\n", "status", "Discharging\n");
    let tree = tree.file("/sys/class/power_supply/mouse/scope", "Device\n");
    assert_eq!(source(&tree), None);
    assert_eq!(source(&Tree::new()), None);
    let odd = supply(Tree::new(), "BAT0", "Battery\n", "status", "Unknown\n");
    assert_eq!(source(&odd), None);
}

#[test]
fn profiles_of_the_platform() {
    let saving = |name: &str| {
        let tree = Tree::new().file("/sys/firmware/acpi/platform_profile", name);
        tree.discover().environment.power_saving.value
    };
    assert_eq!(saving("low-power\n"), Some(true));
    assert_eq!(saving("performance\n"), Some(false));
    assert_eq!(Tree::new().discover().environment.power_saving.value, None);
}
