import ArgumentParser
import Camarb
import Workbench
import WorkbenchCommands

struct Photo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take a photo.", usage: "camclient photo [options] <file>",
        discussion: """
            With --bias there is a photo for each value, of consecutive frames: door-1.jpg, door-2.jpg, …
            Examples:
              camclient photo door.jpg --camera front --set videoZoomFactor=2
              camclient photo door.jpg --high-resolution --bias -2,0,2
            """)

    @Argument(help: "The JPEG to write; - is standard output.") var file: String
    @Flag(help: "Of the format's high-resolution size instead of the stream's.") var highResolution = false
    // A list often begins with a minus.
    @Option(
        parsing: .unconditional,
        help: .value("values", "A bracket: 1 to 8 exposure values relative to the measured one, such as -2,0,2."))
    var bias: String?
    @Flag(help: "Replace an existing file.") var overwrite = false
    @OptionGroup var capture: CaptureOptions

    func validate() throws {
        _ = try bracket()
        guard file == NewFile.standardOutput else { return }
        if bias != nil { throw ValidationError("A bracket is several files: name one, to which numbers are added.") }
        try refusePicturesOnTerminal()
        if capture.output.json {
            throw ValidationError("--json and the picture both want standard output: name a file.")
        }
    }

    private func bracket() throws -> PhotoBracket? {
        guard let bias else { return nil }
        let values = bias.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard !values.contains(nil) else {
            throw ValidationError("--bias is \(bias); it takes numbers with commas between them, such as -2,0,2.")
        }
        do { return try PhotoBracket(exposureTargetBiases: values.compactMap(\.self)) } catch {
            throw ValidationError(error.message)
        }
    }

    func run() async throws {
        NewFile.warn(of: file, .jpeg)
        let bracket = try bracket()
        let paths = bracket.map { (1...$0.shots.count).map { file.numbered($0) } } ?? [file]
        let interrupts = Interrupts.stream()
        var wanted = try capture.session.configuration()
        if highResolution { wanted[.highResolutionStillImageOutputEnabled] = .flag(true) }
        let photos = try await capture.session.run(capture.connection, configured: wanted) { _, handle in
            let inbox = Inbox(handle.notices, interrupts: interrupts)
            var targets: [NewFile] = []
            do {
                for path in paths { targets.append(try NewFile.forPicture(path, overwriting: overwrite)) }
                try await inbox.start(handle, within: capture.timeout.duration)
                let photos = try await take(bracket, to: targets.map(\.descriptor), handle, inbox)
                if file == NewFile.standardOutput { try targets[0].pour(bytes: photos[0].bytes) }
                return photos
            } catch {
                for target in targets { target.removeIfEmpty() }
                throw error
            }
        }
        for (path, photo) in zip(paths, photos) { show(photo, in: path) }
    }

    private func take(
        _ bracket: PhotoBracket?, to files: [Int32], _ handle: SessionHandle, _ inbox: Inbox
    ) async throws -> [PhotoCaptured] {
        let ids: [PhotoID] =
            if let bracket {
                try await handle.capturePhotos(to: files, bracket: bracket)
            } else {
                [try await handle.capturePhoto(to: files[0])]
            }
        var taken: [PhotoID: PhotoCaptured] = [:]
        while taken.count < ids.count {
            let photo = try await sayingWhat("waiting for the picture") {
                try await inbox.wait(for: "photo", within: capture.timeout.duration) { event -> PhotoCaptured? in
                    if case .runtimeError = event { Output.notice("camclient: \(event.line)") }
                    guard case .photoCaptured(let photo) = event, ids.contains(photo.photo) else { return nil }
                    return photo
                }
            }
            if let error = photo.error { throw Failure(.answerIsNo, "There is no photo: \(error)") }
            taken[photo.photo] = photo
        }
        return ids.compactMap { taken[$0] }
    }

    private func show(_ photo: PhotoCaptured, in path: String) {
        let metadata = photo.metadata.map { ", \($0.words)" } ?? ""
        let line = "\(photo.width)x\(photo.height), \(photo.bytes) bytes\(metadata)"
        if file == NewFile.standardOutput { return Output.notice("camclient: \(line)") }
        capture.output.show(
            [
                "file": path, "photo": photo.photo, "width": photo.width, "height": photo.height,
                "bytes": photo.bytes, "metadata": photo.metadata?.wire.object,
            ], ["\(path): \(line)"])
    }
}

extension PhotoMetadata {
    /// `1/60 s, ISO 34, zoom 2, flash`: the exposure, and values that are not usual.
    fileprivate var words: String {
        let exposure = exposureDuration.map { seconds in
            let under = (1 / seconds).rounded()
            let isFraction = seconds < 1 && abs(under * seconds - 1) < 1e-3
            return isFraction ? "1/\(under.shortDescription) s" : "\(seconds.shortDescription) s"
        }
        let words = [
            exposure, iso.map { "ISO \($0.shortDescription)" },
            exposureTargetBias.flatMap { $0 == 0 ? nil : "bias \($0.shortDescription)" },
            videoZoomFactor == 1 ? nil : "zoom \(videoZoomFactor.shortDescription)", flashFired ? "flash" : nil,
            stillImageStabilizationUsed ? "still image stabilization" : nil,
            lensStabilizationUsed ? "lens stabilization" : nil,
        ]
        return words.compactMap(\.self).joined(separator: ", ")
    }
}
