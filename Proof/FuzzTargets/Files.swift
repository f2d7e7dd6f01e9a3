import ArbiterProtocol
import CLinux
import PolicyFile
import RecorderCore
import TomlFile

/// A simulated camera's file.
extension FuzzTarget {
    /// A camera that was read can be written, and reads back as the same; the broker takes it, and each control takes its usual value.
    /// A refusal has a problem with its place, without control characters for a terminal.
    static func cameraFile(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(FileProblems) {
            let model = try CameraFile.parse(text, id: "camera", file: "camera.toml")
            let written = CameraWriter.text(model)
            checkReadsBack(model, "A camera, written as \(written),") {
                try CameraFile.parse(written, id: "camera", file: "written.toml")
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
        checkReadsBack(capabilities, "A camera on the wire") { try CameraCapabilities(wire: capabilities.wire) }
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

/// Recordings whose recorder core was lost, as anybody may have changed them since.
extension FuzzTarget {
    /// A file that is refused stays the same byte for byte; a completed file stays the same when it is completed again; a file whose
    /// completion was lost at any write is completed as it would have been; and nothing is written past the deadline.
    static func lostRecording(_ input: [UInt8]) {
        let bytes = expanded(input.dropFirst())
        // The number of writes, and of looks at the clock.
        let stage = Int(input.first ?? 0)
        let file = FileInMemory(bytes)
        let whole = completed(file)
        if let whole {
            precondition(whole.bytes == Int64(file.bytes.count), "A completed file has another size than is said.")
            let first = file.bytes
            let again = completed(file)
            precondition(again == whole, "Completed again, a file has \(String(describing: again)), not \(whole).")
            precondition(file.bytes == first, "A file that is complete was changed.")
            let torn = FileInMemory(bytes, ordersMax: stage % 16)
            _ = completed(torn)
            let mended = completed(FileInMemory(torn.bytes))
            precondition(
                mended?.frames == whole.frames && mended?.duration == whole.duration,
                "A completion that was cut after \(stage % 16) writes leaves \(String(describing: mended)), not \(whole)."
            )
        }
        let late = FileInMemory(bytes)
        var looks: Int64 = 0
        let hurried = completed(late, until: Int64(stage)) {
            looks += 1
            return looks
        }
        precondition(hurried == whole || hurried == nil && late.bytes == bytes, "A late completion changed its file.")
    }

    /// - Returns: `nil` where it was refused without a write.
    private static func completed(_ file: FileInMemory, until deadline: Int64 = 1, clock: @escaping () -> Int64 = { 0 })
        -> CompletedRecording?
    {
        let before = file.bytes
        do throws(CompletionFault) {
            return try RecordingCompletion.complete(file, until: deadline, clock: clock)
        } catch {
            precondition(file.bytes == before, "A file that was refused was changed: \(error.words)")
            return nil
        }
    }

    /// A recording's header has kilobytes of zeros: a mark and two bytes, big-endian, stand for so many.
    private static func expanded(_ input: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(input)[...]
        while let byte = rest.popFirst() {
            guard byte == zerosMark[0], rest.first == zerosMark[1], rest.count >= 3, bytes.count < fileBytesMax else {
                bytes.append(byte)
                continue
            }
            let count = rest.dropFirst().prefix(2).reduce(0) { $0 << 8 | Int($1) }
            bytes += repeatElement(0, count: count)
            rest = rest.dropFirst(3)
        }
        return bytes
    }
    private static let zerosMark: [UInt8] = [0xde, 0xad]
    private static let fileBytesMax = 1 << 20
}

private final class FileInMemory: LostFile {
    private(set) var bytes: [UInt8]
    /// Writes that are still done; all later ones are lost.
    private var ordersLeft: Int

    init(_ bytes: [UInt8], ordersMax: Int = .max) {
        self.bytes = bytes
        ordersLeft = ordersMax
    }

    func openedAgain() -> Int64 { Int64(bytes.count) }

    func read(_ count: Int, at offset: Int64) -> [UInt8] {
        precondition(offset >= 0 && count <= Int(CAMARB_WRITER_READ_MAX), "\(count) bytes at \(offset) were asked for.")
        return Array(bytes.dropFirst(Int(offset)).prefix(count))
    }

    func put(_ new: UnsafeRawBufferPointer, at offset: Int64) {
        guard isDone() else { return }
        precondition(0...Int64(bytes.count) ~= offset, "Bytes were written at \(offset), behind the end.")
        let place = Int(offset)
        let end = min(place + new.count, bytes.count)
        bytes.replaceSubrange(place..<end, with: new)
    }

    func truncate(to offset: Int64) {
        guard isDone() else { return }
        precondition(0...Int64(bytes.count) ~= offset, "The file was cut at \(offset), behind its end.")
        bytes.removeLast(bytes.count - Int(offset))
    }

    func wantAnswer() {}
    func settle() -> FileFault? { nil }

    private func isDone() -> Bool {
        ordersLeft -= 1
        return ordersLeft >= 0
    }
}
