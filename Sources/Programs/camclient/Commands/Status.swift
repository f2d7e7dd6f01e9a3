import ArgumentParser
import Camarb
import Workbench
import WorkbenchCommands

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who has which camera, who waits, and why.",
        discussion: """
            With --watch the status is shown again with each change, at most five times a second, until Ctrl-C: on a \
            terminal in the place of the last one, else below it, and with --json a line for each. It outlives a restart of \
            the broker: it says that the broker has left, as JSON {"reachable": false, "message": …}, and waits for the next.
            Examples:
              camclient status
              camclient status --json
              camclient status --watch
              camclient status --watch --json | jq -c '.cameras[]?.holder'
            """)

    @Flag(help: "Show it again with each change, until Ctrl-C.") var watch = false
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        if watch {
            var watch = StatusWatch(connection, output)
            return try await watch.run()
        }
        let status = try await connection.ask { try await $0.status() }
        output.show(status, status.lines)
    }
}

extension BrokerStatus {
    var lines: [String] {
        headLines + placementLines + speakers.flatMap(\.lines) + loginLines + machineLines
            + ["", "cameras"] + (cameras.isEmpty ? ["  none"] : cameras.map { "  \($0.words)" })
            + ["", "sessions"] + (sessions.isEmpty ? ["  none"] : columns(sessions.map(\.row), folded: true))
    }

    private var headLines: [String] {
        // A wrong policy's problems have lines of their own, and carets that stand under their words.
        let problems = degraded.printableLines.replacing("\n", with: "\n  ")
        let lines = [
            "camarbd \(version.printable), policy \(policy.printable), \(decision) decision\(decision == 1 ? "" : "s")",
            policyHash.isEmpty ? nil : "policy hash \(policyHash.printable)",
            policyByHand.isEmpty ? nil : "the policy is \(policyByHand.printable)",
            degraded.isEmpty ? nil : "degraded: \(problems)",
        ]
        return lines.compactMap(\.self)
    }

    private var placementLines: [String] {
        // An older broker sends only whether there is any source.
        let standings =
            placements.isEmpty
            ? [presenceKnown ? nil : PresenceStanding.nobody.words]
            : placements.map { placement in
                placement.standing.words.map { placements.count == 1 ? $0 : "user \(placement.user): \($0)" }
            }
        let facts = unknown.map(\.rawValue).joined(separator: ", ")
        let missing =
            "not known: \(facts), because no shell and no camagent tells the broker (camagent --print shows what one sees)"
        return standings.compactMap(\.self) + (unknown.isEmpty ? [] : [missing])
    }

    private var loginLines: [String] {
        let trouble = [
            "login sessions are not known: \(loginSessionsUnknown.printable)",
            "  so nobody has a camera by sitting at its seat: only root and those that the policy's [access] names",
        ]
        let seated = loginSessions.filter { !$0.seat.isEmpty }
        let others = loginSessions.count - seated.count
        return (loginSessionsUnknown.isEmpty ? [] : trouble) + seated.map(\.line)
            + (others > 0 ? ["login sessions without a seat: \(others)"] : [])
    }

    private var machineLines: [String] {
        let until = calendarUntil.isEmpty ? "" : " until \(calendarUntil.printable)"
        let setter = modeSetBy == "root" ? "root" : "the operator"
        let trouble = overrideTrouble.isEmpty ? "" : ", and nothing comes of it: \(overrideTrouble.printable)"
        let lines = [
            isPrivate ? "the privacy switch of the machine is on: no app has a camera" : nil,
            isOwnPrivate ? "your own privacy switch is on: none of your apps has a camera" : nil,
            isAsleep ? "the machine sleeps, or is about to: no app has a camera" : nil,
            pressure == .nominal ? nil : "pressure is \(pressure.wireName)\(pressureReason)",
            pressureTrouble.isEmpty ? nil : "pressure is not measured: \(pressureTrouble.printable)",
            mode.isEmpty
                ? nil
                : "the mode is \(mode.printable)"
                    + (modeSetBy.isEmpty ? ", by the calendar\(until)" : ", as \(setter) set it"),
            modeSetBy.isEmpty || calendarMode.isEmpty
                ? nil
                : "the calendar says \(calendarMode.printable)\(until), and counts when the mode is taken back",
            override.map { "the operator has chosen \($0.description.printable)\(trouble)" },
        ]
        return lines.compactMap(\.self)
    }

    private var pressureReason: String {
        if let measured = pressureMeasured, measured >= pressure { return ": \(pressureWhy.printable)" }
        return pressureSaid >= pressure ? ", as a shell says" : ", which has passed and counts a little longer"
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
        let name = app.description.printable
        let words = [
            "\(role.printable) of \(whose): \(name)", process == 0 ? nil : "process \(process)",
            unit.isEmpty ? nil : "unit \(unit.printable)", isWeak ? "weak identity" : nil,
        ]
        return [words.compactMap(\.self).joined(separator: ", ")]
            + (source.isEmpty ? [] : ["windows of \(whose): known from \(source.printable), told by \(name)"])
    }
}

extension LoginSessionStatus {
    fileprivate var line: String {
        "login session \(id.printable) of user \(user) on \(seat.printable) \(isActive ? "is active" : "is not active")"
            + (isLocked ? " and locked" : "") + (isRemote ? " (remote)" : "")
    }
}

extension SessionStatus {
    fileprivate var row: [String] {
        [
            "  \(session.rawValue)", app.description.printable, camera.name.printable, words,
            // Another user's presence is hidden.
            app == .anotherUsersApp ? "" : presence.wireName + (focused ? ", focused" : ""),
            rank.isEmpty ? "" : "rank \(rank.printable)", isWeak ? "weak identity" : "",
            right == "none" ? "no right to the camera" : "",
        ]
    }

    private var words: String {
        let state: String
        switch self.state {
        case .interrupted where causes.contains(.videoDeviceBlockedByPrivacy):
            // A user's will goes before all causes that pass by themselves.
            let others = causes.ordered.filter { $0 != .videoDeviceBlockedByPrivacy }
            state = "switched off (privacy)" + (others.isEmpty ? "" : ", and interrupted: \(others.shortNames)")
        case .interrupted: state = "interrupted: \(causes.ordered.shortNames)"
        case .restricted: state = "restricted to \(access.names.joined(separator: ", "))"
        case .stopped, .running: state = self.state.rawValue
        }
        return state + (recording.map { ", recording \($0)" } ?? "")
            + (rule.isEmpty ? "" : " because “\(rule.printable)”")
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

    private var waitingWords: String {
        var apps: [Interrupter] = []
        for app in waiting where !apps.contains(app) { apps.append(app) }
        return apps.map { app in
            let count = waiting.count { $0 == app }
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

extension Sequence where Element == Cause {
    var shortNames: String { map(\.shortName).joined(separator: ", ") }
}

struct Metrics: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the broker's metrics since its start.",
        discussion: """
            The text is OpenMetrics: grants, interruptions by cause, waits and handovers as histograms, refusals by rule, \
            recordings, and for root also resets, disconnects and the budgets that all users share. Users other than \
            root get the figures of their own sessions.
            Examples:
              camclient metrics
              camclient metrics | grep interruptions
              camclient metrics --textfile /var/lib/prometheus/node-exporter/camarb.prom
                                          for node_exporter, from a timer of each minute
            """)

    @Option(
        name: .long,
        help: .value("path", "Write a file in one step, in the older text format of node_exporter's collector."))
    var textfile: String?
    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let text = try await connection.ask { try await $0.metrics() }
        guard let textfile else { return Output.text(text) }
        try writeTextAtOnce(OpenMetrics.older(text), to: textfile)
    }
}

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show every decision as it is made: the event, and the notices that apps receive.",
        usage: "camclient watch [options]",
        discussion: """
            Lines are those of the scenario language, with the decision's id for `camclient explain` as a comment. With \
            --timeline each app has a column; with --json each line is an object, which `camclient timeline --from FILE` \
            draws. Ends with Ctrl-C, or after --duration.
            Examples:
              camclient watch
              camclient watch --timeline
              camclient watch --json --duration 1min > visit.jsonl
              camclient watch --svg visit.svg        a drawing, at the end
            """)

    @Flag(help: "A column for each app, time running down.") var timeline = false
    @Option(name: .long, help: .value("file", "Draw all events into this file at the end.")) var svg: String?
    @Option(
        name: .shortAndLong, help: .value("time", "How long to watch, such as 10s or 2min; without it until Ctrl-C."))
    var duration: TimeArgument?
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let interrupts = Interrupts.stream()
        let client = try connection.connect()
        var picture = TimelineBuilder()
        var live = LiveTimeline(width: Output.isTerminal ? Output.width : 160, style: output.style)
        let notices = client.brokerNotices
        try await client.subscribeToDecisions()
        for camera in try await client.status().cameras {
            note(.fact(.now, .holder(camera: camera.camera.name, camera.holder?.description)), &picture, &live)
        }
        var failure: Failure?
        watching: for await notice in arrivals(notices, until: interrupts, for: duration) {
            switch notice {
            case nil: break watching
            case .ended(let error)?:
                failure = Failure(error)
                break watching
            case .decided(let decision, let moment, let trace, let parts)?:
                if !timeline, !output.json { show(decision, trace) }
                for entry in parts.compactMap({ $0.entry(of: decision, at: moment) }) { note(entry, &picture, &live) }
            case .holderChanged(let camera, let holder)?:
                note(.fact(.now, .holder(camera: camera.name, holder?.description)), &picture, &live)
            default: break
            }
        }
        if let svg { try writeText(picture.timeline(until: .now).svg(), to: svg, for: .owner) }
        if let failure { throw failure }
    }

    private func show(_ decision: DecisionID, _ trace: String) {
        // `explain` has no answer for a decision without a notice.
        if trace.contains("\n") { Output.line("# decision \(decision)") }
        Output.line(Self.rounded(trace))
    }

    private static func rounded(_ trace: String) -> String {
        trace.split(separator: " ", omittingEmptySubsequences: false).map { word in
            word.split(separator: "\n", omittingEmptySubsequences: false).map { part in
                guard part.utf8.count > 6, let time = TimeText.parse(part) else { return String(part) }
                return TimeText.write(.milliseconds((time.wholeNanoseconds / 500_000 + 1) / 2))
            }.joined(separator: "\n")
        }.joined(separator: " ")
    }

    private func note(_ entry: LogEntry, _ picture: inout TimelineBuilder, _ live: inout LiveTimeline) {
        picture.note(entry)
        if output.json {
            Output.json(entry.json)
        } else if timeline {
            Output.lines(live.note(entry))
        }
    }
}
