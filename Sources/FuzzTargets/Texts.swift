import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario
import TomlFile
import Trace

/// The texts: policies, scenarios, traces.
extension FuzzTarget {
    /// What was read can be written, and reads back as the same.
    static func policy(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(FileProblems) {
            let policy = try PolicyFile.parse(text, file: "policy.toml")
            let written = PolicyWriter.text(policy)
            do throws(FileProblems) {
                let again = try PolicyFile.parse(written, file: "written.toml")
                precondition(again == policy, "A policy reads back as another one:\n\(written)")
            } catch {
                preconditionFailure("A policy that was written does not read back: \(error)\n\(written)")
            }
            _ = PolicyFile.check(text, file: "policy.toml")
        } catch {
            precondition(!error.problems.isEmpty, "A policy was refused without a problem.")
        }
    }

    /// It is answered or refused, in a world where somebody has the camera and somebody waits.
    static func scenario(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(ScenarioError) {
            let lines = try Scenario.plan(text, on: world, at: .zero, policies: "/nonexistent")
            precondition(lines.allSatisfy { !$0.contains("\n") }, "A line of a plan's answer has lines of its own.")
        } catch {
            precondition(!error.problems.isEmpty, "A plan was refused without a problem.")
        }
    }

    /// Lines get checksums that are right: what is behind them is what a forger would reach.
    static func trace(_ bytes: [UInt8]) {
        var writer = TraceWriter()
        let sealed = bytes.split(separator: UInt8(ascii: "\n")).flatMap { line in
            writer.write(step: TraceWriter.Body(text: String(decoding: line, as: UTF8.self)))
        }
        guard let parts = try? TraceReader.read(sealed, file: "a.trace", mayBeCut: true) else { return }
        for part in parts {
            guard let replayed = try? Replay.run(part) else { continue }
            precondition(
                replayed.end.violations().isEmpty || replayed.difference != nil,
                "A trace that replays as written leaves a broken state: \(replayed.end.violations())")
        }
    }

    /// Two apps, one camera held.
    static let world: Arbiter = {
        let text = """
            # One has the camera, and one waits.
            policy built-in
            camera back
            camera front
            0s   connect photos
                 connect call
                 session photos camera=back
                 session call camera=back
                 start photos
                 start call
            """
        do throws(ScenarioError) {
            let scenario = try Scenario.parse(text, file: "world", policies: "/nonexistent")
            var stage = Stage(Arbiter(policy: .firstCome))
            _ = scenario.run(on: &stage)
            return stage.arbiter
        } catch {
            preconditionFailure("The world of this target is wrong: \(error)")
        }
    }()
}
