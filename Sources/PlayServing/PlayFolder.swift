import Glibc
import PolicyPage
import TomlFile

/// What the page may have of the folder, which is the process's own: files that it lists itself, by those very names.
struct PlayFolder {
    /// As it was given.
    let name: String

    /// More than a person looks through in a list.
    private static let namesMax = 500

    var page: PlayPage {
        PlayPage(
            folder: name, policies: names { $0.hasSuffix(".toml") }, scenarios: names { $0.hasSuffix(".scenario") })
    }

    /// The text of a file; nil for a name that is not in the list, and for what is no text.
    func text(of file: String) -> String? {
        guard names({ $0 == file && ($0.hasSuffix(".toml") || $0.hasSuffix(".scenario")) }).first == file,
            let found = try? RegularFile.read(file)
        else { return nil }
        return String(validating: found.bytes, as: UTF8.self)
    }

    private func names(_ isWanted: (String) -> Bool) -> [String] {
        guard let folder = opendir(".") else { return [] }
        defer { closedir(folder) }
        var found: [String] = []
        while found.count < Self.namesMax, let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix("."), isWanted(name) { found.append(name) }
        }
        return found.sorted()
    }
}
