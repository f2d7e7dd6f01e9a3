import ArbiterProtocol
import ArgumentParser
import PolicyFile
import TomlFile
import Workbench

struct CameraCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say everything that is wrong with the files of simulated cameras, or which camera each is.",
        discussion: """
            All problems of all files come in one run, each with its place, its line and what was probably meant. Of a \
            camera each format is shown with its number in the list, which one is the default, and which keys nobody \
            published.
            Exit status 1 when there is any problem; 5 when a file cannot be read.
            Examples:
              camclient camera check my-webcam.toml
              camclient camera check --json cameras/*.toml
            """)

    @Argument(help: ArgumentHelp("Cameras' files.", valueName: "file"), completion: .file(extensions: ["toml"]))
    var files: [String]
    @OptionGroup var output: OutputOptions

    func run() async throws {
        var found: [FileProblems] = []
        for file in files {
            do throws(FileProblems) { show(try CameraFile.load(path: file), file) } catch {
                found.append(error)
                show(error, file)
            }
        }
        try Failure.finish(found)
    }

    private func show(_ found: FileProblems, _ file: String) {
        guard output.json else { return Output.line(found.description.printableLines) }
        Output.json([
            "file": .string(file), "ok": .bool(false), "problems": .array(found.problems.map(\.json)),
            "more": .integer(Int64(found.more)),
        ])
    }

    private func show(_ model: CameraModel, _ file: String) {
        if output.json {
            return Output.json([
                "file": .string(file), "ok": .bool(true), "problems": .array([]), "more": .integer(0),
                "camera": model.json,
            ])
        }
        Output.line("\(file): is a camera: \(model.sentence)".printable)
        var rows = formatRows(model.formats.map(\.format), default: model.defaultFormatIndex)
        for (place, format) in model.formats.enumerated() where !format.assumed.isEmpty {
            rows[place].append("assumed: \(format.assumed.joined(separator: " "))")
        }
        for line in columns(rows) { Output.line("  \(line)") }
    }
}

extension CameraModel {
    /// `iPhone 6s front camera, front, 2576x1932, flash (3 times the light)`.
    fileprivate var sentence: String {
        var words = [name, position.rawValue, "\(sensorWidth)x\(sensorHeight)"]
        if lights.flash { words.append("flash (\(lights.flashGain.shortDescription) times the light)") }
        if lights.torch { words.append("torch") }
        if hasSmoothAutofocus { words.append("smooth autofocus") }
        if hasStillImageStabilization { words.append("still image stabilization") }
        if hasLensStabilization { words.append("lens stabilization") }
        if !assumed.isEmpty { words.append("assumed: \(assumed.joined(separator: " "))") }
        return words.joined(separator: ", ")
    }

    fileprivate var json: JSON {
        .object([
            "id": .string(id), "name": .string(name), "position": .string(position.rawValue),
            "sensorWidth": .integer(Int64(sensorWidth)), "sensorHeight": .integer(Int64(sensorHeight)),
            "flash": .bool(lights.flash), "flashGain": .number(lights.flashGain), "torch": .bool(lights.torch),
            "smoothAutofocus": .bool(hasSmoothAutofocus), "stillImageStabilization": .bool(hasStillImageStabilization),
            "lensStabilization": .bool(hasLensStabilization), "defaultFormatIndex": .integer(Int64(defaultFormatIndex)),
            "assumed": .strings(assumed),
            "formats": .array(
                formats.map { entry in
                    entry.format.described.adding([
                        "reads": .integer(Int64(entry.readWidth)), "assumedKeys": .strings(entry.assumed),
                    ])
                }),
        ])
    }
}

struct CameraCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camera", abstract: "Check the files that describe simulated cameras.",
        discussion: """
            A file says what a simulated camera can do; docs/simulated-cameras.md has the format. No broker is needed.
            Example:
              camclient camera check my-webcam.toml
            """, subcommands: [CameraCheck.self])
}
