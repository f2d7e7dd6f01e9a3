import ArbiterProtocol
import ArgumentParser
import Camarb
import FrameStream
import JSONText
import Resolution
import Timeline

/// How fine a camera sees at zoom 1, at the threshold of its lossless zoom and at 3, beside crop-and-upscale.
struct MeasureResolution: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure how fine a simulated camera sees: at zoom 1, at the threshold, and at 3.",
        usage: "camclient measure-resolution [options] [<camera>]",
        discussion: """
            Takes pictures as an app does, of the resolution chart that simulated cameras look at. RESOLVES is the finest \
            grating seen with 30 percent of its contrast, in hundreds of line widths a picture height. Beside it is what \
            the picture of zoom 1 has left when its middle is cropped and magnified as much. Up to the threshold a \
            zoom resolves what zoom 1 does.
            Examples:
              camclient measure-resolution back --format "420v 1920x1080@30"
              camclient measure-resolution back --all-formats --json
            """)

    @Argument(
        help: "The camera's id; the first that `camclient devices` lists if left out.",
        completion: CameraCompletion.kind)
    var camera: String?
    @Option(
        help: ArgumentHelp(
            "A format, as `camclient formats` names it; the session's own if left out.", valueName: "name"))
    var format: String?
    @Flag(help: "Measure every format of the camera.")
    var allFormats = false
    @Option(help: ArgumentHelp("How long to wait for the camera, and then for each picture.", valueName: "time"))
    var timeout = TimeArgument.tenSeconds
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if format != nil, allFormats {
            throw ValidationError("--format names one, and --all-formats means all: give one of the two.")
        }
    }

    /// One line of the answer.
    struct Row {
        let format: CameraFormat
        let zoom: Double
        /// Nil: no grating is resolved.
        let resolution: Double?
        /// Nil at zoom 1, too, where nothing is cropped.
        let cropAndUpscale: Double?

        var isThreshold: Bool { zoom == format.videoZoomFactorUpscaleThreshold }
    }

    func run() async throws {
        let id = try await connection.chosen(camera)
        let client = try connection.connect()
        let description = try await client.camera(id)
        guard description.sensorWidth > 1, description.sensorHeight > 1 else {
            throw Failure(
                .answerIsNo, "The sensor of \(id.name.printable) is not known: its recorder has not described it.")
        }
        let meter = ResolutionMeter(ResolutionChart(width: description.sensorWidth, height: description.sensorHeight))
        let formats = try wanted(description)
        for (index, format) in formats.enumerated() {
            // A session for each: the buffers of its earlier formats stay its own, and are too many in the end.
            var configuration = Configuration()
            if let format { configuration[.activeFormat] = .text(format) }
            let measured = try await client.withSession(camera: id.name, configuration: configuration) { handle in
                try await rows(description, meter, handle)
            }
            if index == 0, !output.json { Output.line(Self.heading) }
            for row in measured { show(row) }
        }
    }

    /// Their names; nil is the one that a session has which asks for none.
    private func wanted(_ camera: CameraDescription) throws(Failure) -> [String?] {
        if allFormats { return camera.formats.map(\.name) }
        guard let format, !camera.formats.contains(where: { $0.name == format }) else { return [format] }
        let instead = NearestWord.insteadOf(format, camera.formats.map(\.name), lists: "camclient formats")
        throw Failure(.usage, "“\(format)” is not a format of \(camera.camera.name); \(instead)")
    }

    /// Of one format, which a session is to run in.
    private func rows(
        _ camera: CameraDescription, _ meter: ResolutionMeter, _ session: borrowing SessionHandle
    ) async throws -> [Row] {
        let inbox = Inbox(session.notices)
        try await session.startRunning()
        _ = try await inbox.waitUntilRunning(within: timeout.duration)
        let inForce = try await session.properties().configuration
        guard case .text(let name)? = inForce[.activeFormat],
            let format = camera.formats.first(where: { $0.name == name })
        else {
            throw Failure(.answerIsNo, "The broker does not say which of its formats \(camera.camera.name) runs in.")
        }
        let photographer = ChartPhotographer(
            format: format, inbox: inbox, pictures: session.pictures, timeout: timeout.duration)
        return try await photographer.rows(meter, session)
    }

    // MARK: The answer

    /// Lines come as they are measured, so the columns are as wide as the longest words of a camera are.
    private static let widths = [28, 9, 9]
    private static let heading = line(["FORMAT", "ZOOM", "RESOLVES", "CROP AND UPSCALE"])

    private static func line(_ cells: [String]) -> String {
        zip(cells, widths + [0]).map { $0.rightPadded($1) }.joined(separator: "  ")
    }

    private func show(_ row: Row) {
        if output.json {
            Output.line(
                JSON.object([
                    "format": .string(row.format.name), "zoom": .number(row.zoom),
                    "isThreshold": .bool(row.isThreshold), "resolution": Self.json(row.resolution),
                    "cropAndUpscale": Self.json(row.cropAndUpscale),
                ]).text)
            return
        }
        let zoom = row.zoom.shortDescription + (row.isThreshold ? " *" : "")
        Output.line(
            Self.line([
                row.format.name.printable, zoom, Self.text(row.resolution) ?? "nothing",
                row.zoom == 1 ? "" : Self.text(row.cropAndUpscale) ?? "nothing",
            ]))
    }

    private static func json(_ resolution: Double?) -> JSON { resolution.map { .number($0) } ?? .null }

    /// Two digits: gratings are 4 percent apart.
    private static func text(_ resolution: Double?) -> String? {
        resolution.map { (($0 * 100).rounded() / 100).shortDescription }
    }
}

/// Sets a session's zoom, and takes the picture that shows it.
private struct ChartPhotographer {
    let format: CameraFormat
    let inbox: Inbox
    let pictures: Pictures
    let timeout: Duration

    func rows(
        _ meter: ResolutionMeter, _ session: borrowing SessionHandle
    ) async throws -> [MeasureResolution.Row] {
        let threshold = format.videoZoomFactorUpscaleThreshold
        let whole = try await picture(at: 1, session)
        guard let scale = meter.scale(of: whole, upscaleThreshold: threshold) else {
            throw Failure(
                .answerIsNo, "\(format.name) does not show the resolution chart that simulated cameras look at.")
        }
        var rows: [MeasureResolution.Row] = []
        for zoom in Set([1, threshold, 3]).sorted() where zoom <= format.videoMaxZoomFactor {
            let zoomed = zoom == 1 ? whole : try await picture(at: zoom, session)
            rows.append(
                MeasureResolution.Row(
                    format: format, zoom: zoom, resolution: meter.resolution(of: zoomed, scale: scale / zoom),
                    cropAndUpscale: zoom == 1 ? nil : meter.resolution(ofMagnifying: whole, by: zoom, scale: scale)))
        }
        return rows
    }

    private func picture(at zoom: Double, _ session: borrowing SessionHandle) async throws -> LumaPlane {
        try await session.configure(Configuration([.videoZoomFactor: .number(zoom)]))
        try await inbox.wait(for: "applied configuration", within: timeout) { event in
            guard case .configurationApplied(let change) = ClientEvent(event), change.by == .client else {
                return nil as Void?
            }
            return ()
        }
        // What was captured before that may be of the zoom before.
        let plane = try await firstPlane(since: Moment.now)
        guard let plane else {
            throw Failure(.answerIsNo, "No picture of \(format.name) came within \(timeout.seconds) s.")
        }
        return plane
    }

    /// Nil when time is up.
    private func firstPlane(since begin: Moment) async throws -> LumaPlane? {
        let (pictures, timeout, format) = (pictures, timeout, format)
        let search = Task.detached { () async throws -> LumaPlane? in
            for try await picture in pictures
            where picture.captured >= begin && picture.width == format.width && picture.height == format.height
                && !picture.flags.contains(.slate)
            {
                let y = picture.y
                let layout = PictureLayout(width: y.width, height: y.height, pixelFormat: picture.pixelFormat)
                let plane = y.withUnsafeBytes {
                    LumaPlane(
                        $0, width: y.width, height: y.height, stride: y.bytesPerRow, black: layout.black,
                        white: layout.white)
                }
                if picture.isIntact { return plane }
            }
            return nil
        }
        let alarm = Task.detached {
            try await Task.sleep(for: timeout)
            search.cancel()
        }
        defer { alarm.cancel() }
        return try await search.value
    }
}
