import ArbiterProtocol
import ArgumentParser
import Camarb
import Glibc
import Workbench

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who holds what, who waits, and why.",
        discussion: "Examples:\n  camclient status\n  camclient status --json")

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let status = try await connection.ask { try await $0.status() }
        output.show(described: status.json, status.lines)
    }
}

extension BrokerStatus {
    fileprivate var lines: [String] {
        var lines = headLines + deskLines + machineLines
        lines += ["", "cameras"]
        lines += cameras.isEmpty ? ["  none"] : cameras.map { "  \($0.words)" }
        lines += ["", "sessions"]
        return lines + (sessions.isEmpty ? ["  none"] : columns(sessions.map(\.row)))
    }

    private var headLines: [String] {
        // A wrong policy's problems have lines of their own, and carets that stand under their words.
        let problems = degraded.printableLines.split(separator: "\n", omittingEmptySubsequences: false)
        let lines = [
            "camarbd \(version.printable), policy \(policy.printable), \(decision) decision\(decision == 1 ? "" : "s")",
            policyHash.isEmpty ? nil : "policy hash \(policyHash.printable)",
            policyByHand.isEmpty ? nil : "the policy is \(policyByHand.printable)",
            degraded.isEmpty ? nil : "degraded: \(problems.joined(separator: "\n  "))",
        ]
        return lines.compactMap(\.self)
    }

    private var deskLines: [String] {
        var lines = placementLines
        if !unknown.isEmpty {
            let facts = unknown.map(\.rawValue).joined(separator: ", ")
            lines.append(
                "not known: \(facts), because no shell and no camagent tells the broker (camagent --print shows what one sees)"
            )
        }
        lines += speakers.flatMap(\.lines)
        if !loginSessionsUnknown.isEmpty {
            lines += [
                "login sessions are not known: \(loginSessionsUnknown.printable)",
                "  so nobody has a camera by sitting at its seat: only root and those that the policy's [access] names",
            ]
        }
        // Those that come and go at a machine's screen; a server may have hundreds of the others.
        let logins = loginSessions.filter { !$0.seat.isEmpty }
        lines += logins.map(\.line)
        let others = loginSessions.count - logins.count
        return others > 0 ? lines + ["login sessions without a seat: \(others)"] : lines
    }

    private var machineLines: [String] {
        let trouble = overrideTrouble.isEmpty ? "" : ", and nothing comes of it: \(overrideTrouble.printable)"
        let before = [
            isPrivate ? "the privacy switch of the machine is on: no app has a camera" : nil,
            isOwnPrivate ? "your own privacy switch is on: none of your apps has a camera" : nil,
            isAsleep ? "the machine sleeps, or is about to: no app has a camera" : nil,
            pressure == .nominal ? nil : "pressure is \(pressure.wireName)\(pressureReason)",
            pressureTrouble.isEmpty ? nil : "pressure is not measured: \(pressureTrouble.printable)",
        ]
        let chosen = override.map { "the operator has chosen \($0.description.printable)\(trouble)" }
        return before.compactMap(\.self) + modeLines + [chosen].compactMap(\.self)
    }

    private var placementLines: [String] {
        // An older broker says only whether any source does.
        guard !placements.isEmpty else { return presenceKnown ? [] : [PresenceStanding.nobody.words ?? ""] }
        return placements.compactMap { placement in
            placement.standing.words.map { placements.count == 1 ? $0 : "user \(placement.user): \($0)" }
        }
    }

    private var modeLines: [String] {
        let until = calendarUntil.isEmpty ? "" : " until \(calendarUntil.printable)"
        let isByHand = !modeSetBy.isEmpty
        var lines: [String] = []
        if !mode.isEmpty {
            let setter = modeSetBy == "root" ? "root" : "the operator"
            let why = isByHand ? ", as \(setter) set it" : ", by the calendar\(until)"
            lines.append("the mode is \(mode.printable)\(why)")
        }
        if isByHand, !calendarMode.isEmpty {
            lines.append("the calendar says \(calendarMode.printable)\(until), and counts when the mode is taken back")
        }
        return lines
    }

    private var pressureReason: String {
        if let measured = pressureMeasured, measured >= pressure { return ": \(pressureWhy.printable)" }
        if pressureSaid >= pressure { return ", as a shell says" }
        return ", which has passed and counts a little longer"
    }
}

extension PresenceStanding {
    fileprivate var words: String? {
        switch self {
        case .told: nil
        case .kept:
            "the source of presence has left: what it said holds a few seconds longer, then every app counts as background"
        case .lost:
            "the source of presence has left: every app counts as background until a shell or a camagent says otherwise"
        case .login: "no presence source tells windows apart: apps of an active login session count as foreground"
        case .nobody: "no presence source: every app counts as foreground"
        }
    }
}

extension SpeakerStatus {
    fileprivate var lines: [String] {
        let whose = user.map { "user \($0)" } ?? "everybody"
        var words = ["\(role.printable) of \(whose): \(app.description.printable)"]
        if process != 0 { words.append("process \(process)") }
        if !unit.isEmpty { words.append("unit \(unit.printable)") }
        if isWeak { words.append("weak identity") }
        let line = words.joined(separator: ", ")
        if source.isEmpty { return [line] }
        return [line, "windows of \(whose): known from \(source.printable), told by \(app.description.printable)"]
    }
}

extension LoginSessionStatus {
    fileprivate var line: String {
        var words = ["login session \(id.printable) of user \(user) on \(seat.printable)"]
        words.append(isActive ? "is active" : "is not active")
        if isLocked { words.append("and locked") }
        if isRemote { words.append("(remote)") }
        return words.joined(separator: " ")
    }
}

extension SessionStatus {
    fileprivate var row: [String] {
        [
            "  \(session.rawValue)", app.description.printable, camera.name.printable, words,
            // What else there is of it is not for this user.
            app == .anotherUsersApp ? "" : presence.wireName + (focused ? ", focused" : ""),
            rank.isEmpty ? "" : "rank \(rank.printable)", isWeak ? "weak identity" : "",
            right == "none" ? "no right to the camera" : "",
        ]
    }

    private var words: String {
        var words = state.rawValue
        switch state {
        case .interrupted where causes.contains(.videoDeviceBlockedByPrivacy):
            // Somebody's will, and nothing that passes by itself; what else there is comes after it.
            let others = causes.ordered.filter { $0 != .videoDeviceBlockedByPrivacy }.map(\.shortName)
            words = "switched off (privacy)"
            if !others.isEmpty { words += ", and interrupted: \(others.joined(separator: ", "))" }
        case .interrupted: words += ": \(causes.ordered.map(\.shortName).joined(separator: ", "))"
        case .restricted: words += " to \(access.names.joined(separator: ", "))"
        case .stopped, .running: break
        }
        if let recording { words += ", recording \(recording)" }
        if !rule.isEmpty { words += " because “\(rule.printable)”" }
        return words
    }
}

extension CameraStatus {
    fileprivate var words: String {
        let words = [
            "\(camera.name.printable)  \(present ? tenancy.rawValue : "unplugged")",
            holder.map { "held by \($0.description.printable)" }, bypass.map { "bypassable: \($0.printable)" },
            outside.map { "held outside the broker by \($0.printable)" }, openIn.map { "open in \($0.printable)" },
            fault.map { "it failed: \($0.printable)" }, unwatched.map { "not watched: \($0.printable)" },
            isPrivate ? "the privacy switch is on" : nil, waiting.isEmpty ? nil : "waiting: \(waitingWords)",
            sharers.isEmpty
                ? nil : "watching: \(sharers.map(\.description.printable).joined(separator: ", "))",
        ]
        return words.compactMap(\.self).joined(separator: "; ")
    }

    /// Each app once, with how many of its sessions wait, first in line first; the holder's own app is no other one.
    private var waitingWords: String {
        var counts: [(app: Interrupter, count: Int)] = []
        for app in waiting {
            if let place = counts.firstIndex(where: { $0.app == app }) {
                counts[place].count += 1
            } else {
                counts.append((app, 1))
            }
        }
        return counts.map { app, count in
            let name = app.description.printable
            // Another user's apps all have this one name.
            if app == holder, app != .anotherUsersApp {
                return count == 1 ? "another session of \(name)" : "\(count) other sessions of \(name)"
            }
            return count == 1 ? name : "\(name) (\(count) sessions)"
        }
        .joined(separator: ", ")
    }
}

struct Metrics: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what happened since camarbd's start, in numbers.",
        discussion: """
            The text is OpenMetrics: grants, interruptions by cause, waits and handovers as histograms, refusals by rule, \
            recordings, and for root also resets, disconnects and the budgets that all users share. Others than root see \
            what happened to their own sessions.
            Examples:
              camclient metrics
              camclient metrics | grep interruptions
              camclient metrics --textfile /var/lib/prometheus/node-exporter/camarb.prom
                                          for node_exporter, from a timer of each minute
            """)

    @Option(
        name: .long,
        help: .value(
            "path", "Write them to a file in one step, in the older text format that node_exporter's collector reads."))
    var textfile: String?

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let text = try await connection.ask { try await $0.metrics() }
        guard let textfile else { return Output.text(text) }
        // The collector may look at any moment, and must never see half a file.
        try writeTextAtOnce(OpenMetrics.older(text), to: textfile)
    }
}
