package import ArbiterProtocol
import ArgumentParser
import PolicyFile
import TomlFile

struct CameraCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camera", abstract: "Check the files that describe simulated cameras.",
        discussion: """
            Such a file has the abilities of a simulated camera; its format is in docs/simulated-cameras.md. No broker \
            is needed.
            Example:
              camclient camera check my-webcam.toml
            """, subcommands: [CameraCheck.self])
}

struct CameraCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Print every problem of the files of simulated cameras, or the camera that each describes.",
        discussion: """
            All problems of all files come in one run, each with its place, its line and the nearest correct word. Of a \
            camera each format is shown with its number in the list, the default format, and the assumed keys.
            Exit status 1 when there is any problem; 5 when a file cannot be read.
            Examples:
              camclient camera check my-webcam.toml
              camclient camera check --json cameras/*.toml
            """)

    @Argument(help: .value("file", "Cameras' files."), completion: .file(extensions: ["toml"])) var files: [String]
    @OptionGroup var output: OutputOptions

    func run() async throws {
        var found: [FileProblems] = []
        for file in files {
            do throws(FileProblems) { show(try CameraFile.load(path: file), file) } catch {
                found.append(error)
                output.show(
                    ["file": file, "ok": false, "problems": error.problems.map(\.json), "more": error.more],
                    [error.description.printableLines])
            }
        }
        try Failure.finish(found)
    }

    private func show(_ model: CameraModel, _ file: String) {
        var rows = formatRows(model.formats.map(\.format), default: model.defaultFormatIndex)
        for (place, format) in model.formats.enumerated() where !format.assumed.isEmpty {
            rows[place].append("assumed: \(format.assumed.joined(separator: " "))")
        }
        output.show(
            ["file": file, "ok": true, "problems": [JSONObject](), "more": 0, "camera": model.json],
            ["\(file): is a camera: \(model.sentence)".printable] + columns(rows).map { "  \($0)" })
    }
}

extension CameraModel {
    /// `iPhone 6s front camera, front, 2576x1932, flash (3 times the light)`.
    fileprivate var sentence: String {
        let words = [
            name, position.rawValue, "\(sensorWidth)x\(sensorHeight)",
            lights.flash ? "flash (\(lights.flashGain.shortDescription) times the light)" : nil,
            lights.torch ? "torch" : nil, hasSmoothAutofocus ? "smooth autofocus" : nil,
            hasStillImageStabilization ? "still image stabilization" : nil,
            hasLensStabilization ? "lens stabilization" : nil,
            assumed.isEmpty ? nil : "assumed: \(assumed.joined(separator: " "))",
        ]
        return words.compactMap(\.self).joined(separator: ", ")
    }

    fileprivate var json: JSONObject {
        [
            "id": id, "name": name, "position": position.rawValue, "sensorWidth": sensorWidth,
            "sensorHeight": sensorHeight, "flash": lights.flash, "flashGain": lights.flashGain, "torch": lights.torch,
            "smoothAutofocus": hasSmoothAutofocus, "stillImageStabilization": hasStillImageStabilization,
            "lensStabilization": hasLensStabilization, "defaultFormatIndex": defaultFormatIndex, "assumed": assumed,
            "formats": formats.map {
                $0.format.described.adding(["reads": $0.readWidth, "assumedKeys": $0.assumed])
            },
        ]
    }
}

package func formatRows(_ formats: [CameraFormat], default defaultIndex: Int) -> [[String]] {
    formats.enumerated().map { index, format in
        [String(index), index == defaultIndex ? "default" : "", format.name.printable, format.referenceLine.printable]
    }
}

extension CameraFormat {
    package var described: JSONObject {
        let fields = (["name": name, "line": referenceLine] as JSONObject).adding(wire.object)
        return assumed.isEmpty ? fields.adding(["assumed": [String]()]) : fields
    }
}
