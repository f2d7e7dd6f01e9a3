import Explain
import Foundation
import Testing

/// Nothing in camarbd grows with its clients without a bound, and the page lists each.
@Suite("What other users decide the size of")
struct UserSizedTests {
    private static let root = URL(filePath: BrokerProcess.root)

    /// The page's lines between two marks.
    private static func lines(_ begin: String, _ end: String) throws -> [Substring] {
        let text = try String(contentsOf: root.appending(path: "docs/reliability.md"), encoding: .utf8)
        let from = try #require(text.range(of: begin))
        let rest = text[from.upperBound...]
        return try rest[..<#require(rest.range(of: end)).lowerBound].split(separator: "\n")
    }

    /// The lines behind the table: the sources of each row's numbers, and the collections.
    private static func kept() throws -> [(constants: [Substring], collections: [Substring])] {
        try lines("<!-- kept", "-->").dropFirst(2).map { line in
            let halves = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (halves[0].split(separator: " "), halves[1].split(separator: " "))
        }
    }

    @Test("The numbers of docs/reliability.md are those of the sources")
    func numbers() throws {
        let (rows, kept) = (try Self.lines("<!-- sizes -->", "<!-- /sizes -->").dropFirst(2), try Self.kept())
        #expect(rows.count == kept.count - 1)
        for (row, kept) in zip(rows, kept) {
            let cells = row.split(separator: "|")[1...2].joined(separator: "|")
            let said = cells.matches(of: /(\d+)( KiB| MiB)?/).map { match in
                (Int(match.1) ?? 0) << (match.2 == " KiB" ? 10 : match.2 == " MiB" ? 20 : 0)
            }
            #expect(try said == kept.constants.map(Self.number), "\(row)")
        }
    }

    /// `FILE.NAME`, or of a budget `Budgets.NAME.FIELD`.
    private static func number(_ constant: Substring) throws -> Int {
        if let number = Int(constant) { return number }
        if constant == "History.stepsMax" { return History.stepsMax }
        let words = constant.split(separator: ".")
        let text = try #require(sources["\(words[0]).swift"], "no file \(words[0])")
        let before =
            words.count == 3
            ? "case \\.\(words[1]):[^)]*Bound\\([^)]*\(words[2]): " : "(let|var) \(words[1])(: \\w+)? = "
        let place = try #require(text.range(of: before, options: .regularExpression), "no \(constant)")
        let value = text[place.upperBound...].prefix { "0123456789*< ".contains($0) }
        let sides = value.split(separator: "<").map { side in
            side.split(separator: "*").compactMap { Int($0.filter { $0 != " " }) }.reduce(1, *)
        }
        return sides.count == 2 ? sides[0] << sides[1] : sides[0]
    }

    private static let sources: [String: String] = {
        var found: [String: String] = [:]
        for folder in ["Programs/Broker", "Edge/Bus", "Core", "Language/ArbiterProtocol"] {
            let path = root.appending(path: "Sources/\(folder)").path
            for case let file as String in FileManager.default.enumerator(atPath: path) ?? .init() {
                found[String(file.split(separator: "/").last ?? "")] = try? String(
                    contentsOfFile: "\(path)/\(file)", encoding: .utf8)
            }
        }
        return found
    }()

    /// The folders of camarbd that keep collections.
    private static let folders = [
        "Programs/Broker", "Edge/Bus", "Edge/System/Machine", "Edge/System/Loop", "Core/Arbiter/State", "Core/Explain",
        "Language/ArbiterProtocol/Text",
    ]
    /// Values of one answer.
    private static let answers = ["Explanation", "Standing", "Status"]

    @Test("Each collection that camarbd keeps is in the table, or its size is the machine's")
    func collections() throws {
        let listed = try Self.kept().flatMap { $0.collections.map(String.init) }
        let twice = Dictionary(grouping: listed) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
        #expect(twice.isEmpty, "named twice: \(twice)")
        let found = try Self.folders.flatMap(Self.collections)
        #expect(Set(found).subtracting(listed).sorted() == [], "kept, and not in docs/reliability.md")
        #expect(Set(listed).subtracting(found).sorted() == [], "listed, and not there")
    }

    /// The properties of types that are arrays, sets, dictionaries or tables, as `Type.property`.
    private static func collections(in folder: String) throws -> [String] {
        let property =
            /^ {4}(?:(?:public|package|private|fileprivate|internal)(?:\(set\))? )*var (\w+)(?:: (?:\[|Set<|Table<|Directory<|NameTable<|Reports<)| = (?:\[|Set<|Table<|Directory<|NameTable<))/
        let type = /^(?:[a-z]+ )*(?:struct|class|enum) (\w+)/
        let path = root.appending(path: "Sources/\(folder)").path
        var found: [String] = []
        let files = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        for file in files where file.hasSuffix(".swift") {
            var name = ""
            for line in try String(contentsOfFile: "\(path)/\(file)", encoding: .utf8).split(separator: "\n") {
                if let match = try type.firstMatch(in: String(line)) { name = String(match.1) }
                if answers.contains(name) { continue }
                // A computed property keeps nothing.
                if line.contains(" { ") || line.hasSuffix("{") { continue }
                if let match = try property.firstMatch(in: String(line)) { found.append("\(name).\(match.1)") }
            }
        }
        return found
    }
}
