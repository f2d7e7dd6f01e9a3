import Glibc
import Testing

@Suite("Layering")
struct LayeringTests {
    static let allowed: [(target: String, imports: Set<String>)] = [
        ("Vocabulary", []), ("CaptureModel", ["Vocabulary"]), ("Arbiter", ["CaptureModel", "Vocabulary"]),
        ("ArbiterProtocol", ["Vocabulary"]),
        ("Explain", ["Arbiter", "Vocabulary"]), ("ReferenceArbiter", ["ArbiterProtocol"]),
        ("JSONText", ["ArbiterProtocol"]),
        ("Timeline", ["ArbiterProtocol", "JSONText"]), ("DesktopFacts", ["ArbiterProtocol", "JSONText"]),
        // Sines and cosines are the C library's.
        ("Resolution", ["Glibc"]),
    ]

    @Test("The vocabulary and the core import no C, and arrows point one way", arguments: allowed)
    func importsOnly(target: String, allowed: Set<String>) throws {
        let root = #filePath.split(separator: "/").dropLast(3).map(String.init)
        let files = try swiftFiles(in: "/" + (root + ["Sources", target]).joined(separator: "/"))
        #expect(!files.isEmpty)
        for file in files {
            for line in try lines(of: file) where line.hasPrefix("import ") || line.contains(" import ") {
                let words = line.split { $0 == " " || $0 == "\n" }
                // Comments and text may have the word too; an import has it first, or behind modifiers.
                guard let place = words.firstIndex(of: "import"), place <= 2, !line.hasPrefix("/"), !line.hasPrefix(" ")
                else { continue }
                let module = String(words[words.index(after: place)])
                #expect(allowed.contains(module), "\(file): \(line)")
            }
        }
    }

    /// Whoever calls one with more mixes two of them up. What only this package makes may take more, behind `package`.
    @Test("No public initializer takes more than eight values")
    func publicInitializersAreShort() throws {
        let root = #filePath.split(separator: "/").dropLast(3).map(String.init)
        let files = try swiftFiles(in: "/" + (root + ["Sources"]).joined(separator: "/"))
        var seen = 0
        for file in files {
            let text = try lines(of: file).joined()
            for head in text.split(separator: "public init").dropFirst() {
                let count = valuesTaken(head)
                seen += 1
                #expect(count <= 8, "\(file): public init\(head.prefix(80))… takes \(count)")
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

    private func swiftFiles(in path: String) throws -> [String] {
        let folder = try #require(opendir(path), "\(path) cannot be read")
        defer { closedir(folder) }
        var files: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".swift") {
                files.append("\(path)/\(name)")
            } else if entry.pointee.d_type == UInt8(DT_DIR), !name.hasPrefix(".") {
                files += try swiftFiles(in: "\(path)/\(name)")
            }
        }
        return files
    }

    private func lines(of path: String) throws -> [String] {
        let file = try #require(fopen(path, "r"), "\(path) cannot be read")
        defer { fclose(file) }
        var lines: [String] = []
        var buffer = [CChar](repeating: 0, count: 4096)
        while fgets(&buffer, Int32(buffer.count), file) != nil {
            lines.append(String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
        return lines
    }
}
