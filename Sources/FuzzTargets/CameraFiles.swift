import ArbiterProtocol
import CameraFile
import TomlFile

/// A simulated camera's file.
extension FuzzTarget {
    /// What was read can be written, and reads back as the same; what the camera says of itself is taken by the broker,
    /// and each of its controls takes what it usually is. A refusal has a problem with its place, in words that steer no
    /// terminal.
    static func cameraFile(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(FileProblems) {
            let model = try CameraFile.parse(text, id: "camera", file: "camera.toml")
            let written = CameraWriter.text(model)
            do throws(FileProblems) {
                let again = try CameraFile.parse(written, id: "camera", file: "written.toml")
                precondition(again == model, "A camera reads back as another one:\n\(written)")
            } catch {
                preconditionFailure("A camera that was written does not read back: \(error)\n\(written)")
            }
            check(model.capabilities)
        } catch {
            precondition(!error.problems.isEmpty, "A camera was refused without a problem.")
            let lines = text.unicodeScalars.count { $0 == "\n" } + 1
            for problem in error.problems {
                precondition(
                    (1...lines).contains(problem.line) && problem.column >= 1 && problem.length >= 1,
                    "A problem has no place in \(lines) lines: \(problem)")
                let words = [problem.message, problem.lineText, problem.hint].joined()
                precondition(
                    !problem.message.isEmpty && words.unicodeScalars.allSatisfy { $0.isPrintable || $0 == "\t" },
                    "A problem steers a terminal: \(problem)")
            }
        }
    }

    private static func check(_ capabilities: CameraCapabilities) {
        precondition(capabilities.defaultFormat != nil, "A camera has no usual format.")
        for control in capabilities.controls {
            precondition(control.takes(control.usual), "A control does not take what it usually is: \(control)")
        }
        do throws(BrokerError) {
            let again = try CameraCapabilities(wire: capabilities.wire)
            precondition(again == capabilities, "A camera is told as another one: \(capabilities)")
        } catch {
            preconditionFailure("A camera that was read is refused by the broker: \(error.message)")
        }
    }
}

/// Writes a camera as `docs/simulated-cameras.md` has its file, with every key that has a value.
private enum CameraWriter {
    static func text(_ model: CameraModel) -> String {
        var text = """
            name = \(TomlText.quoted(model.name))
            position = "\(model.position.rawValue)"
            sensor = [\(model.sensorWidth), \(model.sensorHeight)]
            default = \(TomlText.quoted(model.formats[model.defaultFormatIndex].format.name))
            flash = \(model.lights.flash)
            flash-gain = \(TomlText.number(model.lights.flashGain))
            torch = \(model.lights.torch)
            smooth-autofocus = \(model.hasSmoothAutofocus)
            still-image-stabilization = \(model.hasStillImageStabilization)
            lens-stabilization = \(model.hasLensStabilization)
            assumed = \(TomlText.list(model.assumed))

            """
        var rest = model.formats[...]
        while let first = rest.popFirst() {
            var names = [first.format.pixelFormat]
            // A pair is one table: there is a bound on tables.
            if var twin = rest.first, names == ["420v"], twin.format.pixelFormat == "420f" {
                twin.format.pixelFormat = "420v"
                if twin == first {
                    names.append("420f")
                    rest.removeFirst()
                }
            }
            text += format(first, names)
        }
        return text
    }

    private static func format(_ entry: CameraModel.Format, _ pixelFormats: [String]) -> String {
        let (format, optics) = (entry.format, entry.format.optics)
        func pair(_ first: Double, _ second: Double) -> String {
            "[\(TomlText.number(first)), \(TomlText.number(second))]"
        }
        var text = """

            [[format]]
            pixel-formats = \(TomlText.list(pixelFormats))
            size = [\(format.width), \(format.height)]
            frame-rates = \(pair(format.minFrameRate, format.maxFrameRate))
            field-of-view = \(TomlText.number(format.fieldOfView))
            max-zoom = \(TomlText.number(format.videoMaxZoomFactor))
            lossless-zoom = \(TomlText.number(format.videoZoomFactorUpscaleThreshold))
            reads = \(entry.readWidth)
            binned = \(format.isBinned)
            autofocus = "\(optics.autoFocusSystem.rawValue)"
            stabilization = \(TomlText.list(optics.videoStabilizationModes.map(\.rawValue)))
            hdr = \(optics.isVideoHDRSupported)
            assumed = \(TomlText.list(entry.assumed))

            """
        if let still = optics.highResolutionStill { text += "stills = [\(still.width), \(still.height)]\n" }
        if let iso = optics.iso { text += "iso = \(pair(iso.least, iso.most))\n" }
        if let exposure = optics.exposureDuration { text += "exposure = \(pair(exposure.least, exposure.most))\n" }
        return text
    }
}
