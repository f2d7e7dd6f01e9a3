import Campaigns
import Glibc
import Scenario
import Workbench

struct Arguments {
    var arguments: [String]

    /// Takes `--name VALUE`.
    mutating func option(_ name: String) -> String? {
        guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else { return nil }
        defer { arguments.removeSubrange(index...(index + 1)) }
        return arguments[index + 1]
    }

    mutating func flag(_ name: String) -> Bool {
        guard let index = arguments.firstIndex(of: name) else { return false }
        arguments.remove(at: index)
        return true
    }
}

var line = Arguments(arguments: Array(CommandLine.arguments.dropFirst()))
let command = line.arguments.isEmpty ? "" : line.arguments.removeFirst()

switch command {
case "scenarios":
    let policies = line.option("--policies") ?? "policies"
    var failed = 0
    for path in line.arguments {
        do {
            let outcome = try Scenario.load(path: path, policies: policies).run()
            if outcome.passed { continue }
            failed += 1
            print(outcome.report)
        } catch {
            failed += 1
            print(error)
        }
    }
    print("\(line.arguments.count) scenarios, \(failed) failed")
    exit(failed == 0 ? 0 : 1)
case "walk":
    let statesMax = line.option("--max-states").flatMap { Int($0) } ?? 20_000
    let only = line.option("--world")
    let isAll = line.flag("--all")
    var found = 0
    var states = 0
    do {
        var worlds = try ExploredWorld.deep()
        if only != nil || isAll { worlds += try ExploredWorld.meetings() }
        if let only { worlds.removeAll { $0.name != only } }
        if worlds.isEmpty {
            print("no world has the name “\(only ?? "")”; `explore walk --all` lists them")
            exit(2)
        }
        for world in worlds {
            let report = Walk(world, statesMax: statesMax).run()
            states += report.states
            let end = report.isComplete ? "complete" : "cut off"
            print(
                "\(report.world): \(report.states) states, \(report.transitions) transitions, depth \(report.depth), \(end)"
            )
            if let counterexample = report.counterexample {
                found += 1
                print(
                    "violation after \(counterexample.length) steps: \(counterexample.message)\n\(counterexample.text)")
            }
        }
    } catch {
        print(error)
        exit(2)
    }
    print("\(states) states walked, \(found) violations")
    exit(found == 0 ? 0 : 1)
case "fuzz":
    if let fuzz = FuzzCommand(&line) { exit(await fuzz.run()) }
    print("usage:\n" + FuzzCommand.usage)
    exit(2)
case FuzzChild.command:
    FuzzChild.answer(line.arguments.first.flatMap { FuzzCommand.Judging(rawValue: $0) } ?? .reference)
default:
    print(
        """
        usage: explore scenarios [--policies DIR] FILES…
               explore walk [--world NAME | --all] [--max-states N]     small worlds, breadth first; --all: also where all events meet
        \(FuzzCommand.usage)
        Exit status: 0 all is well, 1 a promise is broken or an expectation wrong, 2 the command is.
        """)
    exit(2)
}
