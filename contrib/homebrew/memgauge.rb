# Formula of a tap: brew install OWNER/TAP/memgauge. It installs the programs of a release.
# contrib/fill.py replaces the words between @. Tried by .ci/recipes: ruby -c, and loaded with a
# stand-in for Homebrew. Homebrew did not run it.
class Memgauge < Formula
  repository = "@REPOSITORY@"

  desc "Measures the memory system of a machine and how far each number can be trusted"
  homepage repository
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "#{repository}/releases/download/v@VERSION@/memgauge-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256 memgauge-@VERSION@-aarch64-apple-darwin.tar.gz@"
    end
    on_intel do
      url "#{repository}/releases/download/v@VERSION@/memgauge-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256 memgauge-@VERSION@-x86_64-apple-darwin.tar.gz@"
    end
  end
  on_linux do
    on_arm do
      url "#{repository}/releases/download/v@VERSION@/memgauge-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 memgauge-@VERSION@-aarch64-unknown-linux-musl.tar.gz@"
    end
    on_intel do
      url "#{repository}/releases/download/v@VERSION@/memgauge-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 memgauge-@VERSION@-x86_64-unknown-linux-musl.tar.gz@"
    end
  end

  def install
    bin.install "memgauge"
    man1.install "memgauge.1"
    bash_completion.install "completions/memgauge.bash" => "memgauge"
    fish_completion.install "completions/memgauge.fish"
    zsh_completion.install "completions/_memgauge"
    prefix.install "third-party-licenses.txt"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/memgauge --version")
    # A request that memgauge rejects: nothing is measured, and the exit code is 2.
    shell_output("#{bin}/memgauge bandwidth --sizes 0 2>&1", 2)
  end
end
