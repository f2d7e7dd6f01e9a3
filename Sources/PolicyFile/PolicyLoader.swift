import ArbiterProtocol

/// Reads the files of a policy and merges them: the file asked for, what it includes, and drop-ins over it.
///
/// A file that several others include is read once, where it is first included; so what stands on it is not undone.
struct PolicyLoader {
    let problems = ProblemList()
    /// In the order in which they count: a later one stands on those before it.
    private var layers: [TomlTable] = []
    /// The table of the file that was asked for: what is missing is missing there.
    private var main: TomlTable?
    /// False when something could not be read at all: what is there would give problems that are none.
    private var isWhole = true
    private var chain: [(name: String, identity: RegularFile.Identity)] = []
    private var seen: Set<RegularFile.Identity> = []
    private var bytesRead = 0
    private var filesRead = 0

    /// The merged table, or nil where `problems` says why there is none.
    var merged: TomlTable? {
        guard isWhole, let main else { return nil }
        var merged = TomlTable(entries: [], place: main.place)
        for layer in layers { merged = merged.overlaid(by: layer) }
        return merged
    }

    /// Reads the policy's own file.
    mutating func read(path: String) {
        do throws(RegularFile.Fault) {
            let file = try RegularFile.read(path)
            main = take(file.bytes, path, file.identity)
        } catch {
            refuse(path, "it \(error.words)")
        }
    }

    /// Reads the policy's own text. `path` is where includes start from; nil: they are refused.
    mutating func read(_ bytes: [UInt8], name: String, includesFrom path: String?) {
        guard bytes.count <= Bounds.fileBytesMax else {
            return refuse(name, "the file has \(bytes.count) bytes; a policy has at most \(Bounds.fileBytesMax)")
        }
        main = take(bytes, name, nil, mayInclude: path != nil)
    }

    /// Reads the drop-ins of a folder over everything read so far.
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
                    guard filesRead < Bounds.filesMax else {
                        return refuse(folder, "a policy has at most \(Bounds.filesMax) files, and here are more")
                    }
                    guard bytesRead + file.bytes.count <= Bounds.fileBytesMax else {
                        return refuse(path, "with it the policy has more than \(Bounds.fileBytesMax) bytes")
                    }
                    _ = take(file.bytes, path, file.identity)
                } catch {
                    refuse(path, "it \(error.words)")
                }
            }
        } catch {
            refuse(folder, "it \(error.words)")
        }
    }

    /// The files that count, in their order.
    var fileNames: [String] { layers.map { problems.texts.files[$0.place.file].name } }

    // MARK: One file

    /// A problem of a file, or folder, that has no lines.
    private mutating func refuse(_ name: String, _ message: String) {
        isWhole = false
        problems.add(message, at: .whole(problems.addFile(name, [])))
    }

    /// Parses a text, and reads what it includes before it. Gives its table without the includes.
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
        // Before it is parsed: the parser recurses once a dotted key, and only a line's length bounds how often.
        guard !refuseLongLines(bytes, number) else {
            isWhole = false
            return nil
        }
        do throws(TomlError) {
            var table = try TomlDocument.parse(bytes, file: number)
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
        } catch {
            isWhole = false
            // toml++ reads on behind a missing quote and stops at the line's end.
            let hint = error.message.holds("unescaped control") ? "is a closing quote missing?" : ""
            problems.add("this is not TOML: \(error.spoken)", at: error.place, hint: hint)
            return nil
        }
    }

    /// A problem for each line that is too long. A key cannot go on in the next line, whatever strings and comments are
    /// around it, so that nothing of the text has to be understood for this.
    /// - Returns: whether there is one.
    private func refuseLongLines(_ bytes: [UInt8], _ file: Int) -> Bool {
        var isRefused = false
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        where line.count > Bounds.lineBytesMax {
            isRefused = true
            problems.add(
                "the line has \(line.count) bytes; it may have at most \(Bounds.lineBytesMax)",
                at: Place(file: file, line: index + 1, column: 1, length: 1))
        }
        return isRefused
    }

    // MARK: Includes

    private mutating func include(_ table: TomlTable, _ includer: String) {
        let reader = TableReader(table, owner: "", problems: problems)
        let takes = "a list of files, as in [\"base.toml\"]"
        guard let paths = reader.strings("include", takes: takes, countMax: Bounds.filesMax) else {
            isWhole = false
            return
        }
        for (path, place) in paths {
            if let complaint = Bounds.complaint(path, bytesMax: Bounds.lineBytesMax) {
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
            if chain.contains(where: { $0.identity == file.identity }) {
                return refuse("which stands on itself")
            }
            guard !seen.contains(file.identity) else { return }
            guard chain.count <= Bounds.includeDepthMax else {
                return refuse("which is deeper than includes may go: \(Bounds.includeDepthMax)")
            }
            guard filesRead < Bounds.filesMax else {
                return refuse("one file more than a policy may have: \(Bounds.filesMax)")
            }
            guard bytesRead + file.bytes.count <= Bounds.fileBytesMax else {
                return refuse("with which the policy has more than \(Bounds.fileBytesMax) bytes")
            }
            _ = take(file.bytes, path, file.identity)
        } catch {
            refuse("but it \(error.words)")
        }
    }

    /// A relative path starts from the folder of the file that names it.
    private static func resolve(_ path: String, from includer: String) -> String {
        guard !path.hasPrefix("/"), let slash = includer.lastIndex(of: "/") else { return path }
        return includer[...slash] + path
    }
}

extension TomlError {
    /// toml++ begins every message with what it was doing, which the place says, and may end with the name
    /// of its own setting. It quotes the text, too: what could steer a terminal comes out as a sign.
    fileprivate var spoken: String {
        var rest = message[...]
        if rest.hasPrefix("Error while parsing "), let colon = rest.firstIndex(of: ":") {
            rest = rest[rest.index(after: colon)...].drop { $0 == " " }
        }
        let setting = " (TOML_MAX_NESTED_VALUES)"
        return Wording.visible(String(rest.hasSuffix(setting) ? rest.dropLast(setting.count) : rest))
    }
}
