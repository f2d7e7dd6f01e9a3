import ArbiterProtocol
import TomlFile

/// Reads the files of a policy and merges them: the main file, its includes, and drop-ins over it. A file that several
/// others include is read once, where it is first included, so that files over it are not undone.
struct PolicyLoader {
    let problems = ProblemList()
    /// In the order in which they count: a later one stands on those before it.
    private var layers: [TomlTable] = []
    /// The table of the main file, whose header is the place of missing keys.
    private var main: TomlTable?
    /// False when something could not be read at all: the rest would give wrong problems.
    private var isWhole = true
    private var chain: [(name: String, identity: RegularFile.Identity)] = []
    private var seen: Set<RegularFile.Identity> = []
    private var bytesRead = 0
    private var filesRead = 0

    /// `nil` where `problems` has the reason.
    var merged: TomlTable? {
        guard isWhole, let main else { return nil }
        var merged = TomlTable(entries: [], place: main.place)
        for layer in layers { merged = merged.overlaid(by: layer) }
        return merged
    }

    mutating func read(path: String) {
        do throws(RegularFile.Fault) {
            let file = try RegularFile.read(path)
            main = take(file.bytes, path, file.identity)
        } catch { refuse(path, "it \(error.words)") }
    }

    /// - Parameter path: where includes start from; `nil` refuses them.
    mutating func read(_ bytes: [UInt8], name: String, includesFrom path: String?) {
        guard bytes.count <= FileBounds.bytesMax else {
            return refuse(name, "the file has \(bytes.count) bytes; a policy has at most \(FileBounds.bytesMax)")
        }
        main = take(bytes, name, nil, mayInclude: path != nil)
    }

    mutating func readDropIns(_ folder: String, mayBeMissing: Bool) {
        do throws(RegularFile.Fault) {
            guard let names = try RegularFile.dropIns(folder) else {
                if !mayBeMissing { refuse(folder, "it cannot be opened: No such file or directory") }
                return
            }
            for name in names {
                let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
                do throws(RegularFile.Fault) {
                    let file = try RegularFile.read(path)
                    // The policy itself may lie among its drop-ins, and an include may be one of them.
                    guard !seen.contains(file.identity) else { continue }
                    guard filesRead < FileBounds.filesMax else {
                        return refuse(folder, "a policy has at most \(FileBounds.filesMax) files, and here are more")
                    }
                    guard bytesRead + file.bytes.count <= FileBounds.bytesMax else {
                        return refuse(path, "with it the policy has more than \(FileBounds.bytesMax) bytes")
                    }
                    _ = take(file.bytes, path, file.identity)
                } catch { refuse(path, "it \(error.words)") }
            }
        } catch { refuse(folder, "it \(error.words)") }
    }

    var fileNames: [String] { layers.map { problems.file(of: $0.place) } }

    /// A problem of a file, or folder, without lines.
    private mutating func refuse(_ name: String, _ message: String) {
        isWhole = false
        problems.add(message, at: .whole(problems.addFile(name, [])))
    }

    /// Parses a text, and reads its includes before it.
    /// - Returns: its table without the includes.
    private mutating func take(
        _ bytes: [UInt8], _ name: String, _ identity: RegularFile.Identity?, mayInclude: Bool = true
    ) -> TomlTable? {
        bytesRead += bytes.count
        filesRead += 1
        if let identity {
            seen.insert(identity)
            chain.append((name, identity))
        }
        defer { if identity != nil { chain.removeLast() } }
        let number = problems.addFile(name, bytes)
        guard var table = problems.parse(bytes, number) else {
            isWhole = false
            return nil
        }
        if table.entry("include") != nil {
            if mayInclude {
                include(table, name)
            } else if let place = table.entry("include")?.keyPlace {
                problems.add(
                    "\"include\" is for files, whose folder its paths count from; this text is none", at: place)
            }
            table.entries.removeAll { $0.key == "include" }
        }
        layers.append(table)
        return table
    }

    private mutating func include(_ table: TomlTable, _ includer: String) {
        let reader = TableReader(table, owner: "", problems: problems)
        let takes = "a list of files, as in [\"base.toml\"]"
        guard let paths = reader.strings("include", takes: takes, countMax: FileBounds.filesMax) else {
            isWhole = false
            return
        }
        for (path, place) in paths {
            if let complaint = FileBounds.complaint(path, bytesMax: FileBounds.lineBytesMax) {
                isWhole = false
                problems.add("a file in \"include\" \(complaint)", at: place)
                continue
            }
            include(path, at: place, from: includer)
        }
    }

    private mutating func include(_ written: String, at place: Place, from includer: String) {
        let path = Self.resolve(written, from: includer)
        func refuse(_ words: String) {
            let names = chain.map(\.name) + [path]
            isWhole = false
            problems.add(
                "\"include\" has \(Wording.quoted(written)) in it, \(words)", at: place,
                hint: names.map(Wording.visible).joined(separator: " → "))
        }
        do throws(RegularFile.Fault) {
            let file = try RegularFile.read(path)
            if chain.contains(where: { $0.identity == file.identity }) { return refuse("which stands on itself") }
            guard !seen.contains(file.identity) else { return }
            guard chain.count <= Bounds.includeDepthMax else {
                return refuse("which is deeper than includes may go: \(Bounds.includeDepthMax)")
            }
            guard filesRead < FileBounds.filesMax else {
                return refuse("one file more than a policy may have: \(FileBounds.filesMax)")
            }
            guard bytesRead + file.bytes.count <= FileBounds.bytesMax else {
                return refuse("with which the policy has more than \(FileBounds.bytesMax) bytes")
            }
            _ = take(file.bytes, path, file.identity)
        } catch { refuse("but it \(error.words)") }
    }

    /// A relative path starts from the folder of the file that names it.
    private static func resolve(_ path: String, from includer: String) -> String {
        guard !path.hasPrefix("/"), let slash = includer.lastIndex(of: "/") else { return path }
        return includer[...slash] + path
    }
}
