import ArbiterProtocol

struct AgentView: Equatable {
    var user: UInt32
    var source: String?
    var desktop: Desktop?
    var captures: [CaptureStream]?
    var windowTrouble, microphoneTrouble: String?
    var facts: UserFacts
    var names: [Int32: String]

    var text: String {
        var lines = [source.map { "windows, from \($0)" } ?? "windows"]
        if let windowTrouble { lines.append("  \(desktop == nil ? "not known: " : "")\(windowTrouble)") }
        if let desktop {
            let rows = desktop.windows.enumerated().reversed().map { place, window in
                [
                    "  0x" + String(window.id, radix: 16), called(window.process),
                    window.kind == .furniture ? "no app's" : desktop.placement(of: place).words,
                ]
            }
            lines += rows.isEmpty ? ["  none"] : Self.columns(rows)
        }
        lines.append("apps")
        let apps = (facts.placements ?? [:]).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        lines += apps.isEmpty ? ["  none"] : Self.columns(apps.map { ["  \($0.key)", $0.value.words] })
        lines.append("microphones")
        if let microphoneTrouble { lines.append("  not known: \(microphoneTrouble)") }
        if let captures {
            let rows = captures.map { capture in
                [
                    "  \(called(capture.believedProcess))", capture.isMonitor ? "no microphone" : capture.words,
                    capture.name,
                ]
            }
            lines += rows.isEmpty ? ["  nobody listens"] : Self.columns(rows)
        }
        return lines.joined(separator: "\n")
    }

    var json: JSON {
        .object([
            "user": .integer(Int64(user)), "source": .optional(source),
            "windows": desktop.map { desktop in
                .array(desktop.windows.enumerated().map { json(of: $1, desktop.placement(of: $0)) })
            } ?? .null,
            "apps": facts.placements.map { placements in
                .array(placements.sorted { $0.key < $1.key }.map { Self.json(of: $0, $1) })
            } ?? .null, "windowTrouble": .optional(windowTrouble),
            "captures": captures.map { .array($0.map(json(of:))) } ?? .null,
            "microphones": facts.microphones.map { .strings($0.sorted()) } ?? .null,
            "microphoneTrouble": .optional(microphoneTrouble),
        ])
    }

    private static func json(of app: String, _ placement: Placement) -> JSON {
        .object([
            "app": .string(app), "presence": .string(placement.presence.wireName),
            "focused": .bool(placement.isFocused),
        ])
    }

    private func json(of window: Window, _ placement: Placement) -> JSON {
        .object([
            "window": .integer(Int64(window.id)), "process": window.process.map { .integer(Int64($0)) } ?? .null,
            "app": .optional(window.process.flatMap { names[$0] }), "kind": .string(window.kind.rawValue),
            "presence": .string(placement.presence.wireName), "focused": .bool(placement.isFocused),
        ])
    }

    private func json(of capture: CaptureStream) -> JSON {
        .object([
            "node": .integer(Int64(capture.node)), "process": .integer(Int64(capture.believedProcess)),
            "app": .optional(names[capture.believedProcess]), "name": .string(capture.name),
            "running": .bool(capture.isRunning), "monitor": .bool(capture.isMonitor),
        ])
    }

    private func called(_ process: Int32?) -> String {
        guard let process, process > 0 else { return "of no known process" }
        return "\(names[process] ?? "not this user's") (\(process))"
    }

    private static func columns(_ rows: [[String]]) -> [String] {
        let widths = (0..<(rows.map(\.count).max() ?? 0)).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() where !cell.isEmpty {
                line +=
                    cell
                    + (column == row.count - 1 ? "" : String(repeating: " ", count: widths[column] - cell.count + 2))
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}

extension Placement {
    fileprivate var words: String {
        let place =
            switch presence {
            case .background: "background"
            case .foreground(.fullscreen): "fullscreen"
            case .foreground: "in front"
            }
        return isFocused ? "focused, \(place)" : place
    }
}

extension CaptureStream {
    fileprivate var words: String { isRunning ? "listens" : "paused" }
}
