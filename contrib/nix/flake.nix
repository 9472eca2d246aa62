# A flake below the root of the repository: nix run 'git+file:///path/to/clone?dir=contrib/nix'
# Tried by .ci/recipes: parsed, and the outputs evaluated with a stand-in for nixpkgs. It was not built.
{
  description = "Measures the memory system of a machine and says how far each number can be trusted";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "riscv64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      each = nixpkgs.lib.genAttrs systems;
    in
    {
      packages = each (system: {
        default = nixpkgs.legacyPackages.${system}.callPackage ./package.nix { };
      });
      apps = each (system: {
        default = {
          type = "app";
          program = "${self.packages.${system}.default}/bin/memgauge";
        };
      });
    };
}
