import Arbiter
import ArbiterProtocol
import Foundation
import PolicyFile
import Scenario
import Testing
import Workbench

/// Statements by chance over policies by chance. Half of them are false by construction: a run of the policy with events at
/// any millisecond breaks them, judged by what the broker's status said, and not by the walk. A walk may be cut off, but it
/// never says of one of these that it holds.
@Suite("Random statements")
struct RandomStatementTests {
    private static let seed: UInt64 = 14

    /// A hundred take four seconds of an optimized build; `CAMARB_STATEMENTS` is another number.
    private static let count =
        ProcessInfo.processInfo.environment["CAMARB_STATEMENTS"].flatMap(Int.init) ?? usualCount

    #if DEBUG
        private static let usualCount = 16
        private static let statesMax = 20_000
    #else
        private static let usualCount = 100
        private static let statesMax = 150_000
    #endif

    @Test("No false statement holds, and what is found broken is a scenario that runs")
    func statements() throws {
        var random = SeededRandom(seed: Self.seed)
        var said = (broken: 0, holds: 0, cutOff: 0)
        for number in 0..<Self.count {
            let policy = RandomPolicy(&random)
            let isFalse = number % 2 == 0
            let run = isFalse ? try RandomRun(policy, &random) : nil
            let statement = run?.falseStatement(&random) ?? RandomRun.anyStatement(&random)
            let text = policy.text + "\n" + statement
            let report = try verify(text, statesMax: Self.statesMax)
            if let finding = report.finding {
                said.broken += 1
                try finding.runs()
            } else if report.cutOffBy != nil {
                said.cutOff += 1
            } else {
                said.holds += 1
                #expect(run == nil, "number \(number) is false, and holds:\n\(text)\n\(run?.story ?? "")")
            }
        }
        print("random statements: \(said.broken) broken, \(said.holds) hold, \(said.cutOff) cut off")
        #expect(said.broken >= Self.count / 2 - said.cutOff && said.cutOff <= Self.count / 4)
    }
}
