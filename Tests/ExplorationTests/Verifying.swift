import Arbiter
import ArbiterProtocol
import Campaigns
import Foundation
import PolicyFile
import Scenario
import Testing
import Workbench

/// Files of the checkout: the package's folder is two above this file's.
enum Checkout {
    static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        .joined(separator: "/")
    static let policies = "\(root)/policies"
    static let shipped: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: policies)) ?? []
        return files.filter { $0.hasSuffix(".toml") }.sorted()
    }()

    /// A shipped policy.
    static func policy(_ name: String) throws -> Policy { try PolicyFile.load(path: "\(policies)/\(name)") }
}

/// Without optimization searches go less far.
#if DEBUG
    let isDebug = true
#else
    let isDebug = false
#endif

/// As a scenario has a whole policy in it.
func block(_ text: String) -> String { "\"\"\"\n\(text)\n\"\"\"" }

/// A walk's report on a policy as it is written. Its scenarios have the policy in them.
func verify(
    _ text: String, clients: Int = 2, cameras: Int = 1, scope: WalkScope = .policy, reducesSymmetry: Bool = true,
    countsLeases: Bool = false, statesMax: Int = .max
) throws -> PolicyWalk.Report {
    try PolicyWalk(
        PolicyFile.parse(text, file: "p"), clients: clients, cameras: cameras, scope: scope,
        reducesSymmetry: reducesSymmetry,
        countsLeases: countsLeases
    ).run(SearchBounds(statesMax: statesMax), policyLine: block(text))
}

extension PolicyWalk.Finding {
    /// Its scenario comes out as it is told, and its policy is in it.
    func runs(_ place: SourceLocation = #_sourceLocation) throws {
        let outcome = try Scenario.parse(scenario, file: "finding", policies: ".").run()
        #expect(outcome.passed, "\(outcome.report)", sourceLocation: place)
    }
}

extension Walk.Report {
    /// No promise was broken on the way.
    func expectKept(_ place: SourceLocation = #_sourceLocation) {
        guard let counterexample else { return }
        Issue.record("\(world): \(counterexample.message)\n\(counterexample.text)", sourceLocation: place)
    }
}

extension Array {
    /// Each element in as many copies as there are values, with one of them each.
    mutating func vary<Value>(_ path: WritableKeyPath<Element, Value>, _ values: [Value]) {
        self = flatMap { element in
            values.map { value in
                var varied = element
                varied[keyPath: path] = value
                return varied
            }
        }
    }
}
