import ArgumentParser
import Camarb
import WorkbenchCommands

struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the cameras, with holders and waiting apps.", discussion: "Example:\n  camclient devices --json"
    )

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let cameras = try await connection.ask { try await $0.status().cameras }
        if cameras.isEmpty, !output.json { return Output.notice("There is no camera.") }
        output.list(
            cameras.map(\.json),
            table(
                cameras,
                [
                    "CAMERA": { $0.camera.name.printable }, "NAME": { $0.name.printable },
                    "POSITION": { $0.position.rawValue },
                    "STATE": { $0.present ? $0.tenancy.rawValue : "unplugged" },
                    "HOLDER": { $0.holder?.description.printable ?? $0.outside?.printable ?? "-" },
                    "WAITING": { $0.waiting.map(\.description.printable).joined(separator: ", ") },
                ]))
    }
}

struct CameraArgument: ParsableArguments {
    @Argument(
        help: "The camera's id; without it the first that `camclient devices` lists.",
        completion: CameraCompletion.kind) var camera: String?
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func describe() async throws -> (CameraID, CameraDescription) {
        let known = try await connection.ask { try await $0.status().cameras.map(\.camera) }
        guard let id = camera.map({ CameraID($0) }) ?? known.first else {
            throw Failure(.answerIsNo, "There is no camera.")
        }
        guard known.contains(id) else { throw Failure(.unknownCamera(id.name, among: known.map(\.name).sorted())) }
        return (id, try await connection.ask { try await $0.camera(id) })
    }
}

struct Formats: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List a camera's formats, with their names and abilities.",
        usage: "camclient formats [options] [<camera>]",
        discussion: """
            The setting activeFormat takes a format's name; without it a session has the default format. An asterisk \
            marks values that a simulated camera's file assumes; in JSON, assumed names those fields.
            Example:
              camclient formats front
            """)

    @OptionGroup var camera: CameraArgument

    func run() async throws {
        let (id, description) = try await camera.describe()
        let (formats, usual) = (description.formats, description.defaultFormatIndex)
        if formats.isEmpty, !camera.output.json {
            throw Failure(.answerIsNo, "The formats of \(id.name) are not known: its recorder has not described it.")
        }
        camera.output.list(
            formats.enumerated().map { $1.described.adding(["index": $0, "default": $0 == usual]) },
            columns([["#", "", "NAME", "FORMAT"]] + formatRows(formats, default: usual), folded: true)
                + (formats.contains { !$0.assumed.isEmpty }
                    ? ["* assumed: nobody published it, and nobody measured it."] : []))
    }
}

struct Controls: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List a camera's controls: its settings besides format, rate and zoom.",
        usage: "camclient controls [options] [<camera>]",
        discussion: """
            Each control is a setting of the same name. Every session begins with the usual values.
            Examples:
              camclient controls front
              camclient record visit.mkv --set gainMode=locked --set gain=40
            """)

    @OptionGroup var camera: CameraArgument

    func run() async throws {
        let (id, description) = try await camera.describe()
        let controls = description.controls
        if controls.isEmpty, !camera.output.json {
            return Output.notice("\(id.name.printable) has none: there are its formats, rates and its zoom.")
        }
        camera.output.list(
            controls.map(\.wire.object),
            table(
                controls,
                [
                    "CONTROL": { $0.key.rawValue }, "TAKES": { $0.sentence.printable },
                    "USUAL": { $0.usual.description.printable },
                ]))
    }
}

struct Configure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Set keys on a session, and show the configuration in force.",
        usage: "camclient configure [options] <key=value> ...",
        discussion: """
            Starts a session of its own, and ends it: the settings last no longer. The table shows what was set, and \
            which values the camera has.
            Example:
              camclient configure activeFormat="420v 1920x1080@30" frameRate=15
            """)

    @Argument(
        help: .value(
            "key=value",
            "Settings: \(ConfigurationKey.allCases.filter { !$0.isReadOnly }.map(\.rawValue).joined(separator: ", "))."),
        completion: .settings) var batch: [String]
    @OptionGroup var capture: CaptureOptions

    func run() async throws {
        let settings = try readSettings(batch)
        let change = try await capture.session.run(capture.connection) { _, handle in
            let inbox = Inbox(handle.notices)
            try await inbox.start(handle, within: capture.timeout.duration)
            try await handle.configure(settings)
            return try await inbox.wait(
                for: "applied configuration", within: capture.timeout.duration
            ) { event -> ConfigurationChange? in
                guard case .configurationApplied(let change) = event, change.by == .client else { return nil }
                return change
            }
        }
        capture.output.show(
            ["asked": change.asked.wire.object, "inForce": change.inForce.wire.object, "by": change.by.rawValue],
            table(
                change.inForce.ordered,
                [
                    "KEY": { $0.key.rawValue }, "ASKED": { change.asked[$0.key]?.description ?? "-" },
                    "IN FORCE": { $0.value.description },
                ]))
    }
}

func table<Row>(_ rows: [Row], _ described: KeyValuePairs<String, (Row) -> String>) -> [String] {
    columns([described.map(\.key)] + rows.map { row in described.map { $0.value(row) } }, folded: true)
}
