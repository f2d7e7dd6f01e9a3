import PolicyFile
import TomlFile

/// A policy to begin with, and a scenario that shows it at work.
public struct PlayExample: Sendable {
    /// The server gives them to the page by the example's number. The policy's file has no folder.
    public typealias Texts = (file: String, policy: String, scenario: String)

    /// A list shows no more of a description.
    private static let descriptionMax = 110

    let group: String
    let name: String
    /// The policy's first comment.
    let description: String
    public let texts: Texts

    /// The policies of a folder, by their names; those that cannot be read are left out.
    /// - Parameters:
    ///   - group: what they are called together.
    ///   - scenario: the path of the scenario for a policy, by its name without the ending.
    public static func all(of folder: String, _ group: String, scenario: (String) -> String?) -> [PlayExample] {
        let files = (try? RegularFile.dropIns(folder)) ?? nil
        return (files ?? []).compactMap { file in
            guard let policy = policy("\(folder)/\(file)") else { return nil }
            let name = String(file.dropLast(".toml".count))
            let told = scenario(name).flatMap(text).map(withoutPolicy) ?? ""
            return PlayExample(
                group: group, name: name, description: Self.description(of: policy), texts: (file, policy, told))
        }
    }

    private static func text(_ path: String) -> String? {
        guard let file = try? RegularFile.read(path) else { return nil }
        return String(validating: file.bytes, as: UTF8.self)
    }

    /// As it is written, or as one file where it includes others, which nobody reads for the page.
    private static func policy(_ path: String) -> String? {
        guard let text = text(path) else { return nil }
        guard text.split(separator: "\n").contains(where: { $0.hasPrefix("include") }) else { return text }
        guard let policy = try? PolicyFile.load(path: path) else { return nil }
        return (comment(text).map { "# \($0)\n\n" } ?? "") + PolicyWriter.text(policy)
    }

    /// The policy stands beside the scenario.
    private static func withoutPolicy(_ scenario: String) -> String {
        let lines = scenario.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.filter { !($0.hasPrefix("policy ") && $0.hasSuffix(".toml")) }.joined(separator: "\n")
    }

    private static func comment(_ text: String) -> Substring? {
        text.split(separator: "\n").first { $0.hasPrefix("#") }.map { $0.drop { $0 == "#" || $0 == " " } }
    }

    private static func description(of policy: String) -> String {
        guard let comment = comment(policy) else { return "" }
        return comment.count > descriptionMax ? comment.prefix(descriptionMax - 1) + "…" : String(comment)
    }
}
