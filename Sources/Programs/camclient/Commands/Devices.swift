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
        if output.json {
            for camera in cameras { Output.line(camera.json.text) }
            return
        }
        guard !cameras.isEmpty else { return Output.notice("There is no camera.") }
        let rows = cameras.map { camera in
            [
                camera.camera.name.printable, camera.name.printable, camera.position.rawValue,
                camera.present ? camera.tenancy.rawValue : "unplugged",
                camera.holder?.description.printable ?? camera.outside?.printable ?? "-",
                camera.waiting.map(\.description.printable).joined(separator: ", "),
            ]
        }
        for line in columns([["CAMERA", "NAME", "POSITION", "STATE", "HOLDER", "WAITING"]] + rows) { Output.line(line) }
    }
}

struct Formats: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List a camera's formats: number, name, and what each can do.",
        usage: "camclient formats [options] [<camera>]",
        discussion: """
            The name is what the setting activeFormat takes; a session that sets none has the default. An asterisk is \
            behind what a simulated camera's file assumes; in JSON, assumed names those fields.
            Example:
              camclient formats front
            """)

    @Argument(
        help: "The camera's id; the first that `camclient devices` lists if left out.",
        completion: CameraCompletion.kind) var camera: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let id = try await connection.chosen(camera)
        let description = try await connection.ask { try await $0.camera(id) }
        if output.json {
            for (index, format) in description.formats.enumerated() {
                Output.line(
                    format.described.adding([
                        "index": .integer(Int64(index)), "default": .bool(index == description.defaultFormatIndex),
                    ]).text)
            }
            return
        }
        guard !description.formats.isEmpty else {
            throw Failure(.answerIsNo, "The formats of \(id.name) are not known: its recorder has not described it.")
        }
        let rows = formatRows(description.formats, default: description.defaultFormatIndex)
        for line in columns([["#", "", "NAME", "FORMAT"]] + rows) { Output.line(line) }
        if description.formats.contains(where: { !$0.assumed.isEmpty }) {
            Output.line("* assumed: nobody published it, and nobody measured it.")
        }
    }
}

/// A row for each format: its number in the list, whether it is the default, its name, and what it can do.
func formatRows(_ formats: [CameraFormat], default defaultIndex: Int) -> [[String]] {
    formats.enumerated().map { index, format in
        [String(index), index == defaultIndex ? "default" : "", format.name.printable, format.referenceLine.printable]
    }
}

extension CameraFormat {
    /// Its fields, with its name and its line for people.
    var described: JSON {
        let fields = JSON.object(["name": .string(name), "line": .string(referenceLine)]).adding(wire.json)
        return assumed.isEmpty ? fields.adding(["assumed": .array([])]) : fields
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

    @Argument(
        help: "The camera's id; the first that `camclient devices` lists if left out.",
        completion: CameraCompletion.kind) var camera: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let id = try await connection.chosen(camera)
        let controls = try await connection.ask { try await $0.camera(id) }.controls
        if output.json {
            for control in controls { Output.line(control.wire.json.text) }
            return
        }
        guard !controls.isEmpty else {
            return Output.notice("\(id.name.printable) has none: there are its formats, rates and its zoom.")
        }
        let rows = controls.map { [$0.key.rawValue, $0.allowed.printable, $0.usual.description.printable] }
        for line in columns([["CONTROL", "TAKES", "USUAL"]] + rows) { Output.line(line) }
    }
}

extension ConnectionOptions {
    /// The camera that was named, if there is one of that id; without a name the first.
    func chosen(_ camera: String?) async throws -> CameraID {
        let known = try await ask { try await $0.status().cameras.map(\.camera) }
        guard let id = camera.map({ CameraID($0) }) ?? known.first else {
            throw Failure(.answerIsNo, "There is no camera.")
        }
        guard known.contains(id) else { throw Failure(.unknownCamera(id.name, among: known.map(\.name).sorted())) }
        return id
    }
}
