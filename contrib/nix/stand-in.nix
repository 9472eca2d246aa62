# Evaluates the outputs of the flake with a stand-in for nixpkgs, and lists the inputs of each package.
let
  genAttrs =
    names: f:
    builtins.listToAttrs (
      map (name: {
        inherit name;
        value = f name;
      }) names
    );
  lib = {
    inherit genAttrs;
    importTOML = path: builtins.fromTOML (builtins.readFile path);
    licenses = {
      mit = "MIT";
      asl20 = "Apache-2.0";
    };
  };
  rustPlatform.buildRustPackage = package: {
    inherit (package) version postInstall buildType;
    src = toString package.src;
    lockFile = toString package.cargoLock.lockFile;
    licenses = package.meta.license;
    outPath = "/stand-in/${package.pname}";
  };
  callPackage =
    path: _:
    import path {
      inherit lib rustPlatform;
      installShellFiles = null;
    };
  nixpkgs = {
    inherit lib;
    legacyPackages = genAttrs [
      "x86_64-linux"
      "aarch64-linux"
      "riscv64-linux"
      "x86_64-darwin"
      "aarch64-darwin"
    ] (_: { inherit callPackage; });
  };
  self = (import ./flake.nix).outputs { inherit self nixpkgs; };
in
builtins.mapAttrs (system: package: {
  inherit (package.default) version postInstall src licenses;
  inherit (self.apps.${system}.default) program;
}) self.packages
