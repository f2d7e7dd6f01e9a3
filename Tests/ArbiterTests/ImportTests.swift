import Foundation
import Testing

/// Sources and Proof as floors: which target stands where, and what its files import.
private struct House {
    /// From the bottom up. A target imports what stands on its own floor or below; Edge and Language know nothing of each other but the
    /// wire, which Edge carries.
    static let floors = ["Core", "Language", "Workbench", "Edge", "Programs"]
    /// The floor whose folder is a target, and the folder in it that is another.
    static let workbench = "Workbench"
    static let commands = "Commands"

    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    /// By a target's name: its floor (`Proof` beside them), its folder, and what its files import.
    private(set) var targets: [String: (floor: String, folder: URL, imports: Set<String>)] = [:]

    init() throws {
        for floor in Self.floors + ["Proof"] {
            let folder = root.appending(path: floor == "Proof" ? floor : "Sources/\(floor)")
            if floor == Self.workbench {
                let commands = folder.appending(path: Self.commands)
                targets[floor] = (floor, folder, try Self.imports(in: folder, without: commands))
                targets[floor + Self.commands] = (floor, commands, try Self.imports(in: commands))
                continue
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            for name in names.sorted() where name != "C" {
                let own = folder.appending(path: name)
                targets[name] = (floor, own, try Self.imports(in: own))
            }
        }
    }

    static func texts(in folder: URL, without inner: URL? = nil) throws -> [String] {
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        return try files.compactMap { file in
            guard let file = file as? URL, file.pathExtension == "swift" else { return nil }
            if let inner, file.path.hasPrefix(inner.path + "/") { return nil }
            return try String(contentsOf: file, encoding: .utf8)
        }
    }

    /// Every module that the files import.
    private static func imports(in folder: URL, without inner: URL? = nil) throws -> Set<String> {
        var modules: Set<String> = []
        for text in try texts(in: folder, without: inner) {
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                let levels = ["@_exported", "public", "internal", "private", "package", "fileprivate"]
                let rest = words.drop { levels.contains(String($0)) }
                guard rest.first == "import" else { continue }
                // `import class Foundation.Thread` brings all of Foundation, too.
                let parts = ["class", "struct", "enum", "protocol", "typealias", "func", "let", "var"]
                guard let module = rest.dropFirst().first(where: { !parts.contains(String($0)) }) else { continue }
                modules.insert(String(module.prefix { $0 != "." }))
            }
        }
        return modules
    }

    /// The most targets in a row of which each imports the next.
    func chain(from target: String) -> [String] {
        let below = (targets[target]?.imports ?? []).filter { targets[$0] != nil }.map(chain)
        return [target] + (below.max { ($0.count, $0.joined()) < ($1.count, $1.joined()) } ?? [])
    }
}

@Suite("The arrows between targets point one way")
struct ImportTests {
    private let house: House

    init() throws { house = try House() }

    @Test("Each floor imports what is below it, Broker no workbench, and nothing imports Proof")
    func floors() throws {
        let allowed: [String: Set<String>] = [
            "Core": ["Core"], "Language": ["Core", "Language"], "Workbench": ["Core", "Language", "Workbench", "Edge"],
            "Edge": ["Core", "Edge"], "Programs": ["Core", "Language", "Workbench", "Edge", "Programs"],
            "Proof": ["Core", "Language", "Workbench", "Edge", "Programs", "Proof"],
        ]
        for (name, target) in house.targets {
            for imported in target.imports {
                guard let other = house.targets[imported] else { continue }
                // The wire is what Edge carries.
                let isWire = target.floor == "Edge" && imported == "ArbiterProtocol"
                let isAllowed = isWire || allowed[target.floor]?.contains(other.floor) == true
                #expect(isAllowed, "\(name) of \(target.floor) imports \(imported) of \(other.floor)")
            }
        }
        for name in ["Broker", "Workbench"] {
            let workbench = ["Workbench", "WorkbenchCommands"]
            #expect(try #require(house.targets[name]).imports.isDisjoint(with: workbench), "\(name)")
        }
        for name in try #require(house.targets["Workbench"]).imports {
            #expect(house.targets[name]?.floor != "Edge", "Workbench imports \(name)")
        }
    }

    @Test("There are at most 26 targets in Sources; at most six import each other in a row, or seven with camclient")
    func size() {
        let own = house.targets.filter { $0.value.floor != "Proof" }
        #expect(own.count <= 26, "\(own.keys.sorted())")
        for name in own.keys {
            let chain = house.chain(from: name)
            // camclient imports the workbench's commands, which stand above all that the other programs do.
            #expect(chain.count <= (name == "camclient" ? 7 : 6), "\(chain.joined(separator: " → "))")
        }
    }

    @Test("The drawing of the floors in docs/architecture.md has every target on its floor")
    func drawing() throws {
        let page = try String(contentsOf: house.root.appending(path: "docs/architecture.md"), encoding: .utf8)
        var drawn: [String: String] = [:]
        for line in page.split(separator: "\n") where line.hasPrefix("│") {
            let cells = line.split(separator: "│", omittingEmptySubsequences: true)
            guard cells.count == 2 else { continue }
            let floor = cells[0].trimmingCharacters(in: .whitespaces)
            for name in cells[1].split(separator: " ") { drawn[String(name)] = floor }
        }
        let built = house.targets.mapValues(\.floor)
        let wrong = drawn.filter { built[$0.key] != $0.value }
        #expect(wrong.isEmpty, "drawn, and not so")
        #expect(built.filter { drawn[$0.key] == nil }.isEmpty, "not drawn")
    }

    @Test(
        "The core, the protocol and the reference import nothing but what is listed",
        arguments: [
            ("Vocabulary", []), ("Arbiter", ["Vocabulary"]), ("Explain", ["Arbiter", "Vocabulary"]),
            ("ArbiterProtocol", ["Vocabulary", "Synchronization"]), ("ReferenceArbiter", ["ArbiterProtocol"]),
        ] as [(String, Set<String>)])
    func listed(_ target: String, _ allowed: Set<String>) throws {
        #expect(try #require(house.targets[target]).imports.subtracting(allowed) == [])
    }

    // The clocks need no import, so that the imports say nothing about them.
    @Test("The vocabulary and the core have no clock", arguments: ["Vocabulary", "Arbiter"])
    func clock(target: String) throws {
        for text in try House.texts(in: try #require(house.targets[target]).folder) {
            for clock in ["ContinuousClock", "SuspendingClock", "Task.sleep"] {
                // Not inside the expectation, which would print the whole file.
                let isNamed = text.contains(clock)
                #expect(!isNamed, "\(target) names \(clock)")
            }
        }
    }

    @Test("What is installed imports no Foundation")
    func installed() {
        for (name, target) in house.targets where target.floor != "Proof" {
            let isFree = target.imports.isDisjoint(with: ["Foundation", "FoundationEssentials", "Dispatch"])
            #expect(isFree, "\(name)")
        }
    }

    /// Whoever calls one with more mixes two of them up. What only this package makes may take more, behind `package`.
    @Test("No public initializer takes more than eight values")
    func initializers() throws {
        var seen = 0
        for (name, target) in house.targets where target.floor != "Proof" {
            for head in try House.texts(in: target.folder).flatMap({ $0.split(separator: "public init").dropFirst() }) {
                // Colons outside of inner brackets, up to the bracket that closes the list.
                var (depth, count) = (0, 0)
                for character in head {
                    if "([{".contains(character) { depth += 1 }
                    if ")]}".contains(character) { depth -= 1 }
                    if depth == 1, character == ":" { count += 1 }
                    if depth == 0, character == ")" { break }
                }
                seen += 1
                #expect(count <= 8, "\(name): public init\(head.prefix(80))… takes \(count)")
            }
        }
        #expect(seen > 100, "the sources' initializers were not found")
    }
}
