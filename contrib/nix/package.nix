# Tried by .ci/recipes: parsed, and evaluated with a stand-in for nixpkgs. It was not built.
{
  lib,
  rustPlatform,
  installShellFiles,
}:

rustPlatform.buildRustPackage {
  pname = "memgauge";
  version = (lib.importTOML ../../Cargo.toml).workspace.package.version;

  src = ../..;
  cargoLock.lockFile = ../../Cargo.lock;
  cargoBuildFlags = [
    "--package"
    "memgauge"
  ];
  buildType = "dist";

  # The tests take minutes, and run from a clone: cargo test.
  doCheck = false;

  nativeBuildInputs = [ installShellFiles ];
  postInstall = ''
    installManPage docs/memgauge.1
    installShellCompletion --bash docs/completions/memgauge.bash
    installShellCompletion --fish docs/completions/memgauge.fish
    installShellCompletion --zsh docs/completions/_memgauge
  '';

  meta = {
    description = "Measures the memory system of a machine and says how far each number can be trusted";
    license = with lib.licenses; [
      mit
      asl20
    ];
    mainProgram = "memgauge";
  };
}
