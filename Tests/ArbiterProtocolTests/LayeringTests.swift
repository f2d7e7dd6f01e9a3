import Foundation
import Testing

@Suite("Layering")
struct LayeringTests {
    /// Whoever calls one with more mixes two of them up. What only this package makes may take more, behind `package`.
    @Test("No public initializer takes more than eight values")
    func publicInitializersAreShort() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var seen = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            for head in try String(contentsOf: file, encoding: .utf8).split(separator: "public init").dropFirst() {
                let count = valuesTaken(head)
                seen += 1
                #expect(count <= 8, "\(file.path): public init\(head.prefix(80))… takes \(count)")
            }
        }
        #expect(seen > 100, "the sources' initializers were not found")
    }

    /// Colons outside of brackets, up to the bracket that closes the list.
    private func valuesTaken(_ head: Substring) -> Int {
        var (depth, count) = (0, 0)
        for character in head {
            switch character {
            case "(", "[", "{": depth += 1
            case ")", "]", "}":
                depth -= 1
                if depth == 0 { return count }
            case ":" where depth == 1: count += 1
            default: break
            }
        }
        return count
    }
}
