import Arbiter
import ArbiterProtocol
import Foundation
import PolicyFile
import Scenario
import Testing
import Workbench

/// `Tests/statements`: policies with one statement each, which is the file's name. What docs/semantics.md makes true is in
/// `true`, what it makes false in `false`; in `named`, what is false only by something that is the same in all worlds, each with
/// the scenario that breaks it.
///
/// A comment on top says why, and, where it is not two clients and one camera, in which worlds.
@Suite("Statements")
struct StatementsTests {
    private static let root = "\(Checkout.root)/Tests/statements"

    /// Without optimization only the smaller worlds are walked whole.
    private static let statesMax = isDebug ? 3000 : 1_000_000

    /// In the order of their names, without what stands behind the dot.
    private static func names(_ folder: String) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)")) ?? []
        return files.filter { $0.hasSuffix(".toml") }.map { String($0.dropLast(5)) }.sorted()
    }

    private struct Verdict {
        let statement: Statement
        let walk: PolicyWalk
        let report: PolicyWalk.Report
        /// The file's comments on it.
        let remarks: String
        let folder: String

        init(_ folder: String, _ name: String) throws {
            self.folder = "\(root)/\(folder)"
            let text = try String(contentsOfFile: "\(self.folder)/\(name).toml", encoding: .utf8)
            remarks = text.split(separator: "\n").prefix { $0.hasPrefix("#") }.joined(separator: "\n")
            let policy = try PolicyFile.load(path: "\(self.folder)/\(name).toml")
            statement = try #require(policy.statements.first)
            #expect(policy.statements.count == 1 && Self.slug(statement.name) == name)
            let size = remarks.firstMatch(of: /Walked with (\d) clients? and (\d) cameras?(, whatever)?/)
            walk = try PolicyWalk(
                policy, clients: size.flatMap { Int($0.1) } ?? 2, cameras: size.flatMap { Int($0.2) } ?? 1,
                scope: size?.3 == nil ? .policy : .everything)
            report = walk.run(
                SearchBounds(statesMax: statesMax), policyLine: "\(name).toml", policies: self.folder)
        }

        /// Only without optimization, where it says nothing.
        var isCutOff: Bool { isDebug && report.finding == nil && report.cutOffBy != nil }

        private static func slug(_ name: String) -> String {
            name.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: "-")
        }

        /// Where a scenario leads to.
        func end(_ text: String) throws -> Arbiter {
            let scenario = try Scenario.parse(text, file: "\(statement.name).scenario", policies: folder)
            var stage = Stage(Arbiter(policy: scenario.world.policy))
            let outcome = scenario.run(on: &stage)
            #expect(outcome.passed, "\(outcome.report)")
            return stage.arbiter
        }
    }

    @Test("There are at least forty of either")
    func count() {
        #expect(Self.names("true").count >= 40 && Self.names("false").count >= 40)
    }

    @Test("A true statement holds in every state, and applies in some", arguments: names("true"))
    func holds(_ name: String) throws {
        let verdict = try Verdict("true", name)
        if verdict.isCutOff { return }
        #expect(verdict.report.finding == nil, "\(verdict.report.finding?.scenario ?? "")")
        #expect(verdict.report.isComplete && verdict.walk.problems(verdict.report).isEmpty, "\(verdict.report)")
    }

    @Test("A false statement is broken, by a scenario that ends where it is", arguments: names("false"))
    func broken(_ name: String) throws {
        let verdict = try Verdict("false", name)
        if verdict.isCutOff { return }
        let finding = try #require(verdict.report.finding, "it holds: \(verdict.report)")
        #expect(finding.statement == verdict.statement.name)
        let end = try verdict.end(finding.scenario)
        let isOfOneMoment = !verdict.statement.isTimed && !verdict.statement.isFair
        #expect(!isOfOneMoment || end.brokenStatement()?.statement == verdict.statement)
    }

    @Test("What makes a statement false and is the same in all worlds is named", arguments: names("named"))
    func named(_ name: String) throws {
        let verdict = try Verdict("named", name)
        #expect(verdict.report.isComplete || verdict.isCutOff, "\(verdict.report)")
        #expect(verdict.walk.problems(verdict.report).isEmpty)
        let words = try #require(verdict.remarks.firstMatch(of: /Never varied: (.+)/)?.1)
        #expect(verdict.walk.neverVaried.contains(String(words)), "\(verdict.walk.neverVaried)")
        let scenario = try String(contentsOfFile: "\(verdict.folder)/\(name).scenario", encoding: .utf8)
        let end = try verdict.end(scenario)
        #expect(end.brokenStatement()?.statement == verdict.statement, "the scenario does not break it")
    }

    // MARK: Facts

    /// Each with a value that a session can run with.
    private static let facts = [
        "app = \"a\"", "claimed-app = \"a\"", "user = 1000", "user = 1001", "user = 0", "login-session = \"none\"",
        "login-session = \"active\"", "presence = \"foreground\"", "presence = \"background\"",
        "layout = \"fullscreen\"", "layout = \"split\"", "layout = \"slide-over\"", "layout = \"picture-in-picture\"",
        "focused = true", "focused = false", "foreground-apps = \"none\"", "foreground-apps = \"one\"",
        "foreground-apps = \"several\"", "client = \"app\"", "client = \"picker\"", "client = \"voip\"",
        "multitasking = true", "multitasking = false", "camera = \"back\"", "position = \"front\"",
        "position = \"back\"", "position = \"external\"", "uses-audio = true", "uses-audio = false",
        "microphone = \"free\"", "microphone = \"taken\"", "pressure = \"nominal\"", "pressure = \"fair\"",
        "pressure = \"serious\"", "pressure = \"critical\"", "recording = true", "recording = false",
        "bid = \"standing\"", "operator = \"chosen\"", "operator = \"none\"", "mode = \"night\"", "mode = \"none\"",
        "duty = \"on\"", "duty = \"half\"", "duty = \"off\"",
    ]

    @Test("That nobody runs with a fact is false of each value that a session can run with", arguments: facts)
    func fact(_ fact: String) throws {
        let text = """
            name = "facts"
            sources = ["shell"]
            [[mode]]
            name = "night"
            [[attribute]]
            name = "duty"
            values = ["on", "half", "off"]
            [[camera]]
            id = "back"
            [[never]]
            name = "Nobody runs with it"
            running = { \(fact) }
            """
        // The most that there may be beside it, and the least.
        for beside in ["", ", camera = \"back\", user = 1000"] where beside.isEmpty || !fact.hasPrefix("user") {
            guard beside.isEmpty || !fact.hasPrefix("camera") else { continue }
            let report = try verify(text.replacing(fact, with: fact + beside), statesMax: 100_000)
            #expect(report.finding?.statement == "Nobody runs with it", "\(beside): \(report)")
        }
    }
}
