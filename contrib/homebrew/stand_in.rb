# Loads a filled formula with a stand-in for Homebrew: stand_in.rb FORMULA FILES_FOLDER REPOSITORY_FOLDER
# Checked: each address has the digest of its archive, and each file that is installed is in the repository or the archive.
require "digest"

formula, files, repository = ARGV
ADDRESSES = {}
INSTALLED = []

# A folder to which a formula installs files.
class Place
  def install(file)
    INSTALLED << (file.is_a?(Hash) ? file.keys.first : file)
  end
end

# The class from which a formula inherits.
class Formula
  class << self
    %i[desc homepage license version].each { |name| define_method(name) { |*| } }
    %i[on_macos on_linux on_arm on_intel].each { |name| define_method(name) { |&block| block.call } }
    def url(address)
      @address = address
    end

    def sha256(digest)
      ADDRESSES[@address] = digest
    end

    def test; end
  end

  %i[bin man1 bash_completion fish_completion zsh_completion prefix].each do |name|
    define_method(name) { Place.new }
  end
end

load formula
raise "addresses: #{ADDRESSES.keys}" unless ADDRESSES.size == 4
ADDRESSES.each do |address, digest|
  file = File.join(files, File.basename(address))
  raise "digest of #{file}" unless Digest::SHA256.file(file).hexdigest == digest
end
Memgauge.new.install
INSTALLED.each do |file|
  found = ["", "docs/"].any? { |folder| File.exist?(File.join(repository, folder, file)) }
  raise "not in an archive: #{file}" unless found || file == "memgauge" || file == "third-party-licenses.txt"
end
puts "#{ADDRESSES.size} addresses, #{INSTALLED.size} files"
