//! Writes the Rust source that the crate `kernels` compiles: a naked function for each kernel, and
//! the tables of these functions.

use crate::architecture::{Architecture, Bits, Call, Feature, InstructionRow, Locks, Row, Set};
use crate::contract::CONTRACTS;
use crate::instruction::Instruction;
use std::fmt::Write;

/// Mark after the code of every kernel. A digest covers the code before the mark.
const END_MARK: &str = ".ascii \"memgauge-row-end\"";

/// Names of the fields in the call structures of the crate `kernels`.
const FIELDS: [&str; 19] = [
    "lead",
    "delta",
    "window",
    "offset",
    "blocks",
    "table",
    "distance",
    "pattern",
    "checksum",
    "payload",
    "word",
    "iterations",
    "inside",
    "between",
    "failed_tries",
    "expected",
    "max_polls",
    "scratch",
    "positions",
];

impl Call {
    /// Rust type of the kernel's argument.
    fn argument(self) -> &'static str {
        match self {
            Call::Count => "usize",
            _ => self.reference(),
        }
    }

    fn reference(self) -> &'static str {
        match self {
            Call::Stream => "&mut StreamCall",
            Call::Chase => "&mut ChaseCall",
            Call::Lock => "&mut LockCall",
            Call::HandOff => "&mut HandOffCall",
            Call::Instruction => "&mut InstructionCall",
            Call::Count => "usize",
        }
    }
}

/// Rust source of the functions and tables of `architecture`, which `kernels::native` includes.
pub fn rust_source(architecture: &Architecture) -> String {
    let mut source = Source {
        architecture,
        text: String::from("// Written by the crate `assembly`; see its example `listing`.\n"),
    };
    source.readings();
    source.sets();
    source.chases();
    source.locks();
    source.hand_offs();
    source.instructions();
    source.references();
    source.text
}

struct Source<'a> {
    architecture: &'a Architecture,
    text: String,
}

impl Source<'_> {
    /// Appends a line of source.
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    /// Appends the function of the kernel `name` with the argument `call`. Returns the name of the
    /// function.
    fn kernel(&mut self, name: &str, call: Call, text: &str) -> String {
        let Architecture {
            abi, begin, end, ..
        } = *self.architecture;
        let body = format!("{begin}\n.p2align 6\n{text}\n{END_MARK}\n{end}");
        self.function(name, abi, &format!("_: {}", call.argument()), &body, call);
        name.to_owned()
    }

    fn function(&mut self, name: &str, abi: &str, arguments: &str, body: &str, call: Call) {
        // A function without arguments is a reading, which `features` calls.
        let (visible, result) = match arguments {
            "" => ("pub(crate) ", " -> usize"),
            _ => ("", ""),
        };
        self.line("#[unsafe(naked)]");
        self.line(format!(
            "{visible}unsafe extern \"{abi}\" fn {name}({arguments}){result} {{"
        ));
        self.line("    core::arch::naked_asm!(");
        let mut template = body.replace('{', "{{").replace('}', "}}");
        let mut operands = Vec::new();
        for field in FIELDS {
            let placeholder = format!("<{field}>");
            if template.contains(&placeholder) {
                template = template.replace(&placeholder, &format!("{{{field}}}"));
                let structure = call.argument().trim_start_matches("&mut ");
                operands.push(format!("{field} = const offset_of!({structure}, {field}),"));
            }
        }
        for line in template
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            self.line(format!("        {line:?},"));
        }
        for operand in operands {
            self.line(format!("        {operand}"));
        }
        self.line("    )\n}");
    }

    fn readings(&mut self) {
        for reading in &self.architecture.readings {
            self.function(
                reading.name,
                self.architecture.abi,
                "",
                reading.text,
                Call::Count,
            );
        }
    }

    fn sets(&mut self) {
        let mut sets = String::new();
        for set in &self.architecture.sets {
            let rows: Vec<String> = CONTRACTS
                .iter()
                .map(|contract| self.row(set, contract.name, &set.row(contract)))
                .collect();
            let bits = match set.bits {
                Bits::Fixed(bits) => format!("Bits::Fixed({bits})"),
                Bits::Chosen(read) => format!("Bits::Chosen(features::{read})"),
            };
            let Feature { name, check } = set.needs;
            let _ = write!(
                sets,
                "    Set {{ id: SetId::{}, bits: {bits}, needs: {name:?}, present: \
                 features::{check}, rows: [\n        {},\n    ] }},\n",
                set.id,
                rows.join(",\n        ")
            );
        }
        self.line("/// The sets by rising width.");
        self.line(format!(
            "pub(crate) static SETS: [Set; {}] = [\n{sets}];",
            self.architecture.sets.len()
        ));
    }

    /// Appends the kernel of `row` if there is one. Returns the row as a Rust expression.
    fn row(&mut self, set: &Set, contract: &str, row: &Row) -> String {
        let name = function_name(&format!("{}_{contract}", set.id));
        match row {
            Row::Code(text) => format!("Row::Code({})", self.kernel(&name, Call::Stream, text)),
            Row::Needs(Feature { name: words, check }, text) => {
                let kernel = self.kernel(&name, Call::Stream, text);
                format!("Row::Needs(features::{check}, {words:?}, {kernel})")
            }
            Row::CLibrary => {
                format!(
                    "Row::ReferenceKernel(crate::libc::{})",
                    function_name(contract)
                )
            }
            Row::Unsupported(reason) => format!("Row::Unsupported({reason:?})"),
        }
    }

    fn chases(&mut self) {
        for (table, chases) in [
            ("CHASES", &self.architecture.chases),
            (
                "CHASES_WITH_PAYLOAD",
                &self.architecture.chases_with_payload,
            ),
        ] {
            let names: Vec<String> = (1..)
                .zip(chases)
                .map(|(walkers, text)| {
                    let name = function_name(&format!("{table}_{walkers}"));
                    self.kernel(&name, Call::Chase, text)
                })
                .collect();
            self.line("/// Chases by number of walkers.");
            self.line(format!(
                "pub(crate) static {table}: [ChaseCode; MAX_WALKERS] = [{}];",
                names.join(", ")
            ));
        }
    }

    fn locks(&mut self) {
        let mut sets = String::new();
        for locks in &self.architecture.locks {
            let Locks { name, needs, .. } = locks;
            let mut fields = String::new();
            for (field, text) in [
                ("atomic_add", &locks.atomic_add),
                ("exchange", &locks.exchange),
                ("compare_and_swap", &locks.compare_and_swap),
                ("spin_lock", &locks.spin_lock),
                ("fence", &locks.fence),
            ] {
                let kernel = function_name(&format!("lock_{name}_{field}"));
                let _ = write!(
                    fields,
                    "{field}: {}, ",
                    self.kernel(&kernel, Call::Lock, text)
                );
            }
            let _ = writeln!(
                sets,
                "    LockSet {{ name: {name:?}, needs: {:?}, present: features::{}, {fields}}},",
                needs.name, needs.check
            );
        }
        self.line("/// Implementations of the operations on shared words.");
        self.line(format!(
            "pub(crate) static LOCK_SETS: [LockSet; {}] = [\n{sets}];",
            self.architecture.locks.len()
        ));
    }

    fn hand_offs(&mut self) {
        let mut fields = String::new();
        for (field, text) in [
            ("store_load", &self.architecture.hand_offs.store_load),
            (
                "compare_and_swap",
                &self.architecture.hand_offs.compare_and_swap,
            ),
            ("exchange", &self.architecture.hand_offs.exchange),
        ] {
            let kernel = self.kernel(&format!("hand_off_{field}"), Call::HandOff, text);
            let _ = write!(fields, "{field}: {kernel}, ");
        }
        self.line("/// The hand-offs of a line between two threads.");
        self.line(format!(
            "pub(crate) static HANDOFF: HandOffRows = HandOffRows {{ {fields}}};"
        ));
    }

    fn instructions(&mut self) {
        assert_eq!(self.architecture.instructions.len(), Instruction::ALL.len());
        let mut table = String::new();
        for (instruction, rows) in Instruction::ALL.iter().zip(&self.architecture.instructions) {
            let [throughput, latency] = rows;
            let throughput = self.instruction(&format!("{instruction}_throughput"), throughput);
            let latency = self.instruction(&format!("{instruction}_latency"), latency);
            let _ = writeln!(table, "    [{throughput}, {latency}],");
        }
        self.line("/// Throughput and latency of every instruction.");
        self.line(format!(
            "pub(crate) static INSTRUCTIONS: [[InstructionRow; 2]; Instruction::ALL.len()] = \
             [\n{table}];"
        ));
    }

    fn instruction(&mut self, name: &str, row: &InstructionRow) -> String {
        match row {
            InstructionRow::Code {
                text,
                per_iteration,
                shown,
                needs,
            } => {
                let name = function_name(&format!("instruction_{name}"));
                let kernel = self.kernel(&name, Call::Instruction, text);
                match needs {
                    None => format!("InstructionRow::Code({kernel}, {per_iteration}, {shown:?})"),
                    Some(Feature { name, check }) => format!(
                        "InstructionRow::Needs(features::{check}, {name:?}, {kernel}, {per_iteration}, \
                         {shown:?})"
                    ),
                }
            }
            InstructionRow::Unsupported(reason) => {
                format!("InstructionRow::Unsupported({reason:?})")
            }
        }
    }

    fn references(&mut self) {
        for (name, does, text) in [
            (
                "dependent_adds",
                "128 dependent additions a block.",
                &self.architecture.dependent_adds,
            ),
            (
                "independent",
                "128 independent instructions a block.",
                &self.architecture.independent,
            ),
            (
                "additions",
                "Dependent additions, one an iteration.",
                &self.architecture.additions,
            ),
        ] {
            let kernel = self.kernel(name, Call::Count, text);
            self.line(format!("/// {does}"));
            self.line(format!(
                "pub(crate) static {}: kernel_fn!(usize) = {kernel};",
                name.to_uppercase()
            ));
        }
    }
}

/// The name of a kernel or set, converted to the name of a function.
fn function_name(name: &str) -> String {
    name.to_lowercase().replace(['-', '.', '/', ' '], "_")
}
