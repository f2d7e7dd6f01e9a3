import Arbiter
import ArbiterProtocol
import Glibc
import Scenario
import Workbench

/// Scenarios that `policy test --suggest` found for what the tested ones leave out, printed or written into a folder.
struct SuggestedScenarios {
    let path: String
    let coverage: PolicyCoverage
    let search: ScenarioSearch
    let report: ScenarioSearch.Report

    /// - Parameter path: the policy's file.
    init(_ path: String, _ coverage: PolicyCoverage, _ options: SearchOptions) throws(Failure) {
        self.path = path
        self.coverage = coverage
        search = ScenarioSearch(
            coverage.policy, coverage.gaps, clients: options.clients, cameras: options.cameras,
            pairsOnly: options.pairs)
        let place = SearchOptions.place(path)
        let begin = Moment.now
        do throws(ScenarioError) {
            report = try search.run(
                SearchBounds(statesMax: options.maxStates), policyLine: place.name, policies: place.folder,
                limiter: options.limiter(path, since: begin))
        } catch { throw Failure(.usage, "\(path): \(error)") }
        if Output.isErrorTerminal, Moment.now - begin > .seconds(2) { Output.progress("") }
    }

    /// - Parameter isPrinting: the scenarios themselves, too.
    func show(isPrinting: Bool) {
        if !report.left.isEmpty { Output.line("  nothing is suggested for what was \(why):") }
        for gap in report.left { Output.line("    \(gap.claim(in: coverage.policy))") }
        guard isPrinting else { return }
        for suggestion in report.suggestions {
            Output.line("")
            let text = suggestion.scenario
            Output.line(text.hasSuffix("\n") ? String(text.dropLast()) : text)
        }
    }

    /// Writes each suggestion into a file whose name is its sentence; a file that is there already stays as it is.
    func save(in folder: String) throws {
        if mkdir(folder, 0o777) != 0, errno != EEXIST { throw Failure.file(folder, "cannot be made", errno) }
        for suggestion in report.suggestions {
            let name = Self.name(suggestion.title)
            var path = "\(folder)/\(name).scenario"
            var number = 2
            while access(path, F_OK) == 0 {
                path = "\(folder)/\(name)-\(number).scenario"
                number += 1
            }
            try Scenario.write(suggestion.scenario, path: path)
            Output.notice("\(path): written")
        }
    }

    /// Why something is left: all of it was looked at, or not.
    var why: String {
        let size = "up to \(search.clients.counted("client")) × \(search.cameras.counted("camera"))"
        if let cut = report.cutOffBy {
            return "not reached so far: the search was cut off \(cut.sentence), after \(report.states.grouped) "
                + "states of worlds of \(size)"
        }
        return "not reached in any world of \(VerifyVerdict.casts(report.casts, of: report.castsInAll)), \(size), "
            + "nor by what the machine does in smaller ones; walked whole in \(report.states.grouped) states"
    }

    /// A sentence as the name of a file: its words, in small letters, with hyphens between them.
    private static func name(_ sentence: String) -> String {
        let words = sentence.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        // File systems take names of 255 bytes; a number and the suffix come behind this.
        return String(words.joined(separator: "-").prefix(200))
    }

    var json: JSON {
        .object([
            "policy": .string(path),
            "suggestions": .array(
                report.suggestions.map { suggestion in
                    .object([
                        "title": .string(suggestion.title), "scenario": .string(suggestion.scenario),
                        "closes": .strings(suggestion.closes.map { $0.claim(in: coverage.policy) }),
                    ])
                }),
            "left": .strings(report.left.map { $0.claim(in: coverage.policy) }),
            "why": report.left.isEmpty ? .null : .string(why), "complete": .bool(report.cutOffBy == nil),
            "states": .integer(Int64(report.states)),
        ])
    }
}
