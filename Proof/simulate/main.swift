import DaemonSimulation
import Glibc
import System

// One run of camarbd in simulated time: a process has one time. Tests/simulation/run makes many runs.

/// Without shared cameras and leases: an app that has used up its lease does not run alone.
private let policies = ["desktop", "ios9", "ipados16", "v4l2", "call-corks"]
private let linesShown = 40

private let help = """
    simulate runs camarbd once in simulated time, with clients, recorder cores and faults by chance from a seed.

    usage: simulate [--seed N] [--steps N] [--policies DIR] [--verbose]

      --seed N        the same seed is the same run, where SWIFT_DETERMINISTIC_HASHING=1 (1)
      --steps N       of the first phase, in which faults happen (300)
      --policies DIR  where \(policies.map { $0 + ".toml" }.joined(separator: ", ")) are (policies)
      --verbose       everything that happened of late, not only what led to a broken promise
      --help          this text

    Exit status: 0 every promise was kept, 1 one was not, 2 it could not be tried. Tests/simulation/run makes many runs.

    """

private func number<Number: FixedWidthInteger>(_ text: String, from least: Number) throws(Flags.Mistake) -> Number {
    guard let number = Number(text), number >= least else {
        throw Flags.Mistake("“\(text)” is no number from \(least) to \(Number.max).")
    }
    return number
}

private func run() -> Int32 {
    var seed: UInt64 = 1
    var steps = 300
    var folder = "policies"
    var isVerbose = false
    var flags = Flags(Array(CommandLine.arguments.dropFirst()))
    do throws(Flags.Mistake) {
        while let flag = flags.next() {
            switch flag {
            case "--seed": seed = try number(try flags.value("a number"), from: 0)
            case "--steps": steps = try number(try flags.value("a number"), from: 1)
            case "--policies": folder = try flags.value("a folder")
            case "--verbose": isVerbose = try flags.isThere()
            case "-h", "--help":
                print(help)
                return 0
            default: throw flags.unknown(to: "simulate")
            }
        }
    } catch {
        print("simulate: \(error.sentence)")
        return 2
    }
    let report: DaemonSimulation.Report
    do throws(SystemFault) {
        report = try DaemonSimulation(seed: seed, policies: policies.map { "\(folder)/\($0).toml" }).run(steps: steps)
    } catch {
        print("simulate: \(error)")
        return 2
    }
    if isVerbose { for line in report.lines { print("# \(line)") } }
    print("steps \(report.steps)\nseconds \(report.seconds)\nanswers \(report.answers)\nrefusals \(report.refusals)")
    print("notices \(report.notices)\ncores \(report.recorders)\nalone \(report.alone)\ndigest \(report.digest)")
    for fault in report.faults { print("fault-\(fault.name) \(fault.count)") }
    guard let violation = report.violation else { return 0 }
    if !isVerbose { for line in report.lines.suffix(linesShown) { print("# \(line)") } }
    print("seed \(seed): \(violation)")
    return 1
}

exit(run())
