import ArbiterProtocol
import ArgumentParser
import Camarb
import Workbench

struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the cameras: who has each, and who waits.", discussion: "Example:\n  camclient devices --json")

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

struct Formats: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List a camera's formats: number, name, and what each can do.",
        usage: "camclient formats [options] [<camera>]",
        discussion: """
            The name is what the setting activeFormat takes; a session that sets none has the default. An asterisk \
            follows a value that a simulated camera's file assumes; in JSON, assumed names those fields.
            Example:
              camclient formats front
            """)

    @OptionGroup var asked: AskedCamera
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (id, description) = try await asked.describe()
        let (formats, usual) = (description.formats, description.defaultFormatIndex)
        if formats.isEmpty, !output.json {
            throw Failure(.answerIsNo, "The formats of \(id.name) are not known: its recorder has not described it.")
        }
        output.list(
            formats.enumerated().map { $1.described.adding(["index": $0, "default": $0 == usual]) },
            columns([["#", "", "NAME", "FORMAT"]] + formatRows(formats, default: usual))
                + (formats.contains { !$0.assumed.isEmpty }
                    ? ["* assumed: nobody published it, and nobody measured it."] : []))
    }
}

func formatRows(_ formats: [CameraFormat], default defaultIndex: Int) -> [[String]] {
    formats.enumerated().map { index, format in
        [String(index), index == defaultIndex ? "default" : "", format.name.printable, format.referenceLine.printable]
    }
}

extension CameraFormat {
    var described: JSONObject {
        let fields = (["name": name, "line": referenceLine] as JSONObject).adding(wire.object)
        return assumed.isEmpty ? fields.adding(["assumed": [String]()]) : fields
    }
}

struct Controls: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List what can be set on a camera beside format, rate and zoom.",
        usage: "camclient controls [options] [<camera>]",
        discussion: """
            Each is a setting of the same name. A camera begins every session with the usual values.
            Examples:
              camclient controls front
              camclient record visit.mkv --set gainMode=locked --set gain=40
            """)

    @OptionGroup var asked: AskedCamera
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (id, description) = try await asked.describe()
        let controls = description.controls
        if controls.isEmpty, !output.json {
            return Output.notice("\(id.name.printable) has none: there are its formats, rates and its zoom.")
        }
        output.list(
            controls.map(\.wire.object),
            table(
                controls,
                [
                    "CONTROL": { $0.key.rawValue }, "TAKES": { $0.sentence.printable },
                    "USUAL": { $0.usual.description.printable },
                ]))
    }
}

struct AskedCamera: ParsableArguments {
    @Argument(
        help: "The camera's id; the first that `camclient devices` lists if left out.",
        completion: CameraCompletion.kind) var camera: String?
    @OptionGroup var connection: ConnectionOptions

    func describe() async throws -> (CameraID, CameraDescription) {
        let known = try await connection.ask { try await $0.status().cameras.map(\.camera) }
        guard let id = camera.map({ CameraID($0) }) ?? known.first else {
            throw Failure(.answerIsNo, "There is no camera.")
        }
        guard known.contains(id) else { throw Failure(.unknownCamera(id.name, among: known.map(\.name).sorted())) }
        return (id, try await connection.ask { try await $0.camera(id) })
    }
}

struct Configure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Set keys on a session of its own that runs, and show what is in force.",
        usage: "camclient configure [options] <key=value> ...",
        discussion: """
            The settings belong to the session and end with it; the command shows what the camera makes of them.
            Example:
              camclient configure activeFormat="420v 1920x1080@30" frameRate=15
            """)

    @Argument(
        help: .value(
            "key=value",
            "Settings: \(ConfigurationKey.allCases.filter { !$0.isReadOnly }.map(\.rawValue).joined(separator: ", "))."),
        completion: .settings) var batch: [String]
    @OptionGroup var session: SessionOptions
    @Option(help: .value("time", "How long to wait for the camera, and then for the settings."))
    var timeout = TimeArgument.tenSeconds
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let settings = try readSettings(batch)
        let change = try await session.run(connection) { _, handle in
            let inbox = Inbox(handle.notices)
            try await handle.startRunning()
            _ = try await inbox.waitUntilRunning(within: timeout.duration)
            try await handle.configure(settings)
            return try await inbox.wait(for: "applied configuration", within: timeout.duration) { event in
                guard case .configurationApplied(let change) = event, change.by == .client else {
                    return nil as ConfigurationChange?
                }
                return change
            }
        }
        output.show(
            ["asked": change.asked.wire.object, "inForce": change.inForce.wire.object, "by": change.by.rawValue],
            table(
                change.inForce.ordered,
                [
                    "KEY": { $0.key.rawValue }, "ASKED": { change.asked[$0.key]?.description ?? "-" },
                    "IN FORCE": { $0.value.description },
                ]))
    }
}
