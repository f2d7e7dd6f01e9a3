import Arbiter
import ArbiterProtocol
import Foundation
import PolicyFile
import Testing
import TomlFile

/// Files of the checkout that tests read: the package's folder is two above this file's.
enum Checkout {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func path(_ name: String) -> String { root.appending(path: name).path }
    static func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }
    static func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: root.appending(path: name))) }

    /// The files in `policies/`.
    static func policies() throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: path("policies"))
        #expect(names.count >= 3)
        return names.filter { $0.hasSuffix(".toml") }.sorted()
    }
}

func parse(_ text: String) throws -> Policy { try PolicyFile.parse(text, file: "p.toml") }

/// The report of `parse` on a text.
func problems(_ text: String) -> String {
    do {
        let policy = try PolicyFile.parse(text, file: "p.toml")
        return "no problem in \(policy.name)"
    } catch {
        return error.description
    }
}

/// A folder of a test's own, gone with it.
final class TemporaryFolder {
    let path = FileManager.default.temporaryDirectory.appending(path: "camarb-policies-\(UUID().uuidString)").path

    init(_ files: KeyValuePairs<String, String> = [:]) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, text) in files { try write(text, to: name) }
    }

    func write(_ text: String, to name: String) throws {
        let file = URL(filePath: path).appending(path: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: false, encoding: .utf8)
    }

    func load(_ name: String, dropIns: String? = nil) throws(FileProblems) -> LoadedPolicy {
        try PolicyFile.load(path: "\(path)/\(name)", dropIns: dropIns.map { "\(path)/\($0)" })
    }

    /// The mistakes of a file of it, without the folder's name.
    func problems(_ name: String, dropIns: String? = nil) -> String {
        do throws(FileProblems) {
            return "no problem in \(try load(name, dropIns: dropIns).policy.name)"
        } catch {
            return error.description.replacing(path + "/", with: "")
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
