import Glibc
import Scenario

/// The command line; options are taken out, files are left.
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
    let rewrites = line.flag("--rewrite")
    var failed = 0
    for path in line.arguments {
        do {
            let outcome = try Scenario.load(path: path, policies: policies).run()
            if outcome.passed { continue }
            failed += 1
            print(outcome.report)
            if rewrites { try Scenario.write(outcome.rewritten, path: path) }
        } catch {
            failed += 1
            print(error)
        }
    }
    print("\(line.arguments.count) scenarios, \(failed) failed")
    exit(failed == 0 ? 0 : 1)
default:
    print("usage: explore scenarios [--policies DIR] FILES…")
    exit(2)
}
