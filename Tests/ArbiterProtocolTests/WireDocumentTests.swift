import ArbiterProtocol
import Foundation
import Testing

/// `docs/wire.md` has a part that is written from the tables the program itself runs on.
@Suite struct WireDocumentTests {
    @Test("docs/wire.md lists every interface, member and error as the program has them")
    func documentIsTrue() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/wire.md")
        let document = try String(contentsOf: path, encoding: .utf8)
        let parts = document.split(separator: "<!-- tables -->\n", omittingEmptySubsequences: false)
        try #require(parts.count == 2, "docs/wire.md has one line <!-- tables -->, and the tables follow it")
        let tables = Self.tables
        if ProcessInfo.processInfo.environment["CAMARB_REWRITE"] != nil {
            try "\(parts[0])<!-- tables -->\n\(tables)".write(to: path, atomically: true, encoding: .utf8)
        }
        // Compared with what was there before, so that a run that rewrites still fails.
        let matches = String(parts[1]) == tables
        #expect(matches, "docs/wire.md differs from the tables; CAMARB_REWRITE=1 writes them anew")
    }

    private static var tables: String {
        var text = "\n"
        for interface in Interface.publicInterfaces + [Interface.recorder] {
            text += "## `\(interface.name)`\n\n\(interface.summary)\n\n"
            if !interface.methods.isEmpty { text += "| method | takes | gives | |\n|---|---|---|---|\n" }
            for method in interface.methods {
                text += row([code(method.name), list(method.takes), list(method.gives), method.summary])
            }
            if !interface.signals.isEmpty { text += "\n| signal | carries | |\n|---|---|---|\n" }
            for signal in interface.signals { text += row([code(signal.name), list(signal.carries), signal.summary]) }
            if !interface.properties.isEmpty { text += "\n| property | type | changes | |\n|---|---|---|---|\n" }
            for property in interface.properties {
                text += row([
                    code(property.name), code(property.type), code(property.changes.rawValue), property.summary,
                ])
            }
            text += "\n"
        }
        text += statusTables + listTables + cameraTables + configurationTable + optionTables + wordTables
        text +=
            "## Errors\n\nEach comes with a sentence that says what was wrong, with which value, and what is allowed.\n\n"
        for kind in BrokerError.Kind.allCases { text += "* `\(kind.rawValue)`\n" }
        return text
    }

    private static var statusTables: String {
        "## Keys of a status\n\nThe answer of `GetStatus`, and the sessions of `GetSessions`.\n"
            + table("`broker`", BrokerStatus.self) + table("one of `cameras`", CameraStatus.self)
            + table("one of `sessions`", SessionStatus.self) + table("one of `placements`", PlacementStatus.self)
            + table("one of `speakers`", SpeakerStatus.self) + table("one of `loginSessions`", LoginSessionStatus.self)
            + table("one of `budgets`", BudgetUse.self) + "\n"
    }

    private static var listTables: String {
        "## Entries of lists\n" + table("one of `apps` of `AttachPlacing`", AppPlacement.self)
            + table("one of `clients` of `ListClients`", ConnectedClient.self)
            + table("one of `answers` of `ListAnswers`", StoredAnswer.self)
            + table("one of `cameras` of `ListUse`", CameraUse.self)
            + table("one of its `waiting`", CameraUse.WaitingApp.self)
            + table("one of `origins` of `GetPolicy`", PolicyOrigin.self)
            + table("one of `changes` of `PlanPolicy`", PlannedChange.self) + "\n"
    }

    private static var cameraTables: String {
        "## What a recorder core says of its camera\n\nThe answer of `Describe`; `Formats` of a camera has the same entries.\n"
            + table("`capabilities`", CameraCapabilities.self) + table("one of `formats`", CameraFormat.self) + "\n"
    }

    private static func table<Value: Described>(_ title: String, _: Value.Type) -> String {
        let rows = Value.fields.filter { !$0.type.isEmpty }.map { row([code($0.name), code($0.type), $0.meaning]) }
        return "\n| of \(title) | type | |\n|---|---|---|\n\(rows.joined())"
    }

    private static func rows<Value: Described>(_: Value.Type) -> String {
        Value.fields.map { row([code($0.name), code($0.type), $0.allowed, $0.meaning]) }.joined()
    }

    private static var configurationTable: String {
        var text = """
            ## Keys of a configuration

            `CreateSession` and `Configure` take these keys, and `ConfigurationApplied` and `Session1.Configuration` show them. A \
            camera lists its controls and their values in `Controls`, and refuses by name a control that it lacks. A key that is not \
            given stays as it is. [capture.md](capture.md) has their rules, with an example of each.

            | key | type | values | where nobody sets it | |
            |---|---|---|---|---|

            """
        for key in ConfigurationKey.allCases {
            text += row([code(key.rawValue), code(key.wireType), key.values, key.usual, key.summary])
        }
        text += """

            `CreateSession` takes one more, which is not the camera's: `reestablished` (`b`), for a session that ran at the broker before \
            this one ("Coming back after a restart"). What such a session asked for in several batches need not be what could be asked \
            for at once: a value that its format does not have, or that a mode overrules, is the nearest that counts, and no refusal.


            """
        return text
    }

    private static var optionTables: String {
        var text = """
            ## Options of a photo and of a recording

            An unknown option, or a value that is not allowed, is refused in the answer, with the option, its value and what is \
            allowed. `CapturePhoto` has none: its `options` are empty, and what a photo is like is configured. `StartRecording` has

            | option | type | takes | |
            |---|---|---|---|

            """
        let options = "| option | type | takes | |\n|---|---|---|---|\n"
        text += rows(RecordingOptions.self)
        text +=
            "\nWithout them a recording ends when it is stopped, cut, or its disk is full. `AttachMicrophone` has, and needs,\n"
        text += "\n\(options)"
        text += rows(MicrophoneFormat.self)
        text += "\n`CapturePhotoBracket` has\n\n\(options)"
        for key in PhotoBracket.Key.allCases {
            text += row([code(key.rawValue), code("ad"), key.allowed, key.summary])
        }
        text += """

            ## How a photo was taken

            The `metadata` of `PhotoCaptured`; empty where there is no photo. A reader passes over keys that it does not know.

            | key | type | |
            |---|---|---|

            """
        for field in PhotoMetadata.fields { text += row([code(field.name), code(field.type), field.meaning]) }
        return text + "\n"
    }

    private static var wordTables: String {
        var text = "## Words of `RecordingFinished`\n\n| `why` | the recording ended with |\n|---|---|\n"
        for why in RecordingEnd.allCases { text += row([code(why.rawValue), why.summary]) }
        text += "\n| `nextChance` | when there can be another |\n|---|---|\n"
        for chance in RecordingFinished.NextChance.allCases { text += row([code(chance.rawValue), chance.summary]) }
        return text + "\n"
    }

    private static func code(_ text: String) -> String { "`\(text)`" }
    private static func list(_ arguments: [Interface.Argument]) -> String {
        arguments.map { "\($0.name) `\($0.type)`" }.joined(separator: ", ")
    }
    private static func row(_ cells: [String]) -> String {
        "| "
            + cells.map { $0.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|") }
            .joined(separator: " | ") + " |\n"
    }
}
