import Broker
import Foundation
import Testing

/// Nothing in camarbd grows by what users say without a bound, and the page says each.
@Suite("What other users decide the size of")
struct UserSizedTests {
    private static let root = URL(filePath: BrokerProcess.root)

    @Test("docs/reliability.md says all of it")
    func page() throws {
        let page = Self.root.appending(path: "docs/reliability.md")
        var text = try String(contentsOf: page, encoding: .utf8)
        let begin = try #require(text.range(of: "<!-- sizes -->\n"))
        let end = try #require(text.range(of: "<!-- /sizes -->"))
        let rows =
            ["| what | of one client or user | in all | when that is used up |", "|---|---|---|---|"]
            + UserSized.all.map { "| \($0.what) | \($0.ofOne) | \($0.inAll) | \($0.whenUsedUp) |" }
        let written = text[begin.upperBound..<end.lowerBound].split(separator: "\n").map(String.init)
        if written != rows, ProcessInfo.processInfo.environment["CAMARB_REWRITE"] == "1" {
            text.replaceSubrange(begin.upperBound..<end.lowerBound, with: rows.joined(separator: "\n") + "\n")
            try text.write(to: page, atomically: true, encoding: .utf8)
        }
        #expect(written == rows, "docs/reliability.md differs from the table; CAMARB_REWRITE=1 writes it anew")
    }

    /// What camarbd is made of and keeps something in.
    private static let folders = [
        "Programs/Broker", "Edge/Bus", "Edge/System/Machine", "Edge/System/Loop", "Core/Arbiter/State", "Core/Explain",
        "Language/ArbiterProtocol/Text",
    ]
    /// Values of one answer, made and given away.
    private static let answers = ["Explanation", "Standing", "Status"]

    @Test("Each collection that camarbd keeps is in the table, or its size is the machine's")
    func collections() throws {
        let names = UserSized.all.map(\.kept) + [MachineSized.kept]
        let listed = names.flatMap { $0.split(separator: " ").map(String.init) }
        let twice = Dictionary(grouping: listed) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
        #expect(twice.isEmpty, "named twice: \(twice)")
        let found = try Self.folders.flatMap(Self.collections)
        #expect(Set(found).subtracting(listed).sorted() == [], "kept, and without a line in UserSized or MachineSized")
        #expect(Set(listed).subtracting(found).sorted() == [], "listed, and not there")
    }

    /// The properties of types that are arrays, sets, dictionaries or tables, as `Type.property`.
    private static func collections(in folder: String) throws -> [String] {
        let property =
            /^ {4}(?:(?:public|package|private|fileprivate|internal)(?:\(set\))? )*var (\w+)(?:: (?:\[|Set<|Table<|Directory<|NameTable<|Words<)| = (?:\[|Set<|Table<|Directory<|NameTable<))/
        let type = /^(?:[a-z]+ )*(?:struct|class|enum) (\w+)/
        let path = root.appending(path: "Sources/\(folder)").path
        var found: [String] = []
        let files = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        for file in files where file.hasSuffix(".swift") {
            var name = ""
            for line in try String(contentsOfFile: "\(path)/\(file)", encoding: .utf8).split(separator: "\n") {
                if let match = try type.firstMatch(in: String(line)) { name = String(match.1) }
                if answers.contains(name) { continue }
                // What is worked out anew each time keeps nothing.
                if line.contains(" { ") || line.hasSuffix("{") { continue }
                if let match = try property.firstMatch(in: String(line)) { found.append("\(name).\(match.1)") }
            }
        }
        return found
    }
}
