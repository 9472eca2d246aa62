# Package of Spack, which builds from source: copy to packages/memgauge/package.py of a repository.
# contrib/fill.py replaces the words between @. Tried by .ci/recipes: loaded with a stand-in for
# Spack, which checks the directives; flake8 checks the style. Spack did not run it.

from spack_repo.builtin.build_systems.cargo import CargoPackage

from spack.package import *

REPOSITORY = "@REPOSITORY@"


class Memgauge(CargoPackage):
    """Measures the memory system of a machine and says how far each number can be trusted."""

    homepage = REPOSITORY
    url = f"{REPOSITORY}/releases/download/v@VERSION@/memgauge-@VERSION@.tar.gz"

    license("MIT OR Apache-2.0")

    version("@VERSION@", sha256="@SHA256 memgauge-@VERSION@.tar.gz@")

    depends_on("rust@@RUST@:", type="build")
    # The kernels are assembly, which a C compiler assembles.
    depends_on("c", type="build")

    build_directory = "crates/memgauge"

    @property
    def build_args(self):
        return ["--locked", "--profile", "dist"]

    @run_after("install")
    def install_manual(self):
        with working_dir(self.stage.source_path):
            mkdirp(self.prefix.share.man.man1)
            install("docs/memgauge.1", self.prefix.share.man.man1)
            mkdirp(bash_completion_path(self.prefix))
            install("docs/completions/memgauge.bash", bash_completion_path(self.prefix).memgauge)
            mkdirp(fish_completion_path(self.prefix))
            install("docs/completions/memgauge.fish", fish_completion_path(self.prefix))
            mkdirp(zsh_completion_path(self.prefix))
            install("docs/completions/_memgauge", zsh_completion_path(self.prefix))

    def test_version(self):
        """run the installed program"""
        memgauge = which(self.prefix.bin.memgauge)
        assert str(self.spec.version) in memgauge("--version", output=str.split)
