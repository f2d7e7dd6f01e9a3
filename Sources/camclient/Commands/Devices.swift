import ArbiterProtocol
import ArgumentParser
import JSONText
import SystemdBus
import Timeline

/// Which cameras there are, and who has them.
struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the cameras: who has each, and who waits.",
        discussion: "Example:\n  camclient devices --json")

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
                camera.present ? camera.tenancy.rawValue : "unplugged", camera.holder?.description.printable ?? "-",
                camera.waiting.map(\.description.printable).joined(separator: ", "),
            ]
        }
        for line in columns([["CAMERA", "NAME", "POSITION", "STATE", "HOLDER", "WAITING"]] + rows) {
            Output.line(line)
        }
    }
}

/// What a camera can do.
struct Formats: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List a camera's formats, the default first.",
        discussion: """
            The name in the first column is what the setting activeFormat takes.
            Example:
              camclient formats front
            """)

    @Argument(help: "The camera's id; the first that `camclient devices` lists if left out.")
    var camera: String?

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let known = try await connection.ask { try await $0.status().cameras.map(\.camera) }
        guard let id = camera.map({ CameraID($0) }) ?? known.first else {
            throw Failure(.answerIsNo, "There is no camera.")
        }
        guard known.contains(id) else {
            throw Failure(
                BrokerError(
                    .unknownCamera,
                    "“\(id.name)” is no camera; there is \(known.map(\.name).joined(separator: ", ")). See: camclient devices"
                ))
        }
        let description = try await connection.ask { try await $0.camera(id) }
        if output.json {
            for format in description.formats {
                Output.line(
                    JSON.object(["name": .string(format.name)]).text.dropLast() + ","
                        + format.wire.json.text.dropFirst())
            }
            return
        }
        guard !description.formats.isEmpty else {
            throw Failure(.answerIsNo, "The formats of \(id.name) are not known: its recorder has not described it.")
        }
        let rows = description.formats.enumerated().map { index, format in
            [
                format.name, "\(format.minFrameRate.shortDescription)-\(format.maxFrameRate.shortDescription) fps",
                "zoom to \(format.videoMaxZoomFactor.shortDescription)"
                    + (format.videoZoomFactorUpscaleThreshold > 1
                        ? ", lossless to \(format.videoZoomFactorUpscaleThreshold.shortDescription)" : ""),
                "\(format.fieldOfView.shortDescription)°", index == 0 ? "default" : "",
            ]
        }
        for line in columns([["FORMAT", "RATES", "ZOOM", "VIEW", ""]] + rows) { Output.line(line) }
    }
}
