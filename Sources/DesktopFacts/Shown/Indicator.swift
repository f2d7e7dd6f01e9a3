public import ArbiterProtocol

/// What the desktop's panel shows of the cameras: an icon, a tooltip, and the lines of a menu.
///
/// It is there while a camera is in use, while one of the user's apps waits for one, and while the user's own privacy
/// switch is on.
public struct Indicator: Hashable, Sendable {
    /// A line of the menu.
    public enum Line: Hashable, Sendable {
        /// To be read.
        case text(String)
        case separator
        /// Stops the user's app of that name.
        case stop(app: String)
        /// Turns the user's own privacy switch.
        case setPrivacy(Bool)
    }

    /// More cameras, waiting apps for each, and apps to stop than fit on a screen are counted, not listed.
    public static let camerasMax = 8
    public static let waitingMax = 6
    public static let stopsMax = 12

    /// Of the icon naming specification, symbolic: a panel has its own colours.
    public private(set) var icon: String
    public private(set) var title: String
    /// With markup escaped.
    public private(set) var tooltip: String
    public private(set) var lines: [Line]

    public init(icon: String, title: String, tooltip: String, lines: [Line]) {
        self.icon = icon
        self.title = title
        self.tooltip = tooltip
        self.lines = lines
    }

    /// - Parameters:
    ///   - cameras: as the broker lists them.
    ///   - isPrivate: the user's own privacy switch is on.
    ///   - time: a time of day for people, of microseconds of CLOCK_REALTIME.
    /// Nil: there is nothing to show.
    public init?(_ cameras: [CameraUse], isPrivate: Bool, time: (Int64) -> String) {
        let used = cameras.filter { $0.holder != nil || !$0.waiting.isEmpty }
        guard !used.isEmpty || isPrivate else { return nil }
        if used.contains(where: \.isRecording) {
            (icon, title) = ("media-record-symbolic", "A camera records")
        } else if used.contains(where: { $0.holder != nil }) {
            (icon, title) = ("camera-video-symbolic", "A camera is in use")
        } else if isPrivate {
            (icon, title) = ("camera-disabled-symbolic", "Your apps have no camera")
        } else {
            (icon, title) = ("camera-video-symbolic", "An app waits for a camera")
        }
        var texts = used.prefix(Self.camerasMax).flatMap { Self.sentences($0, time) }
        if used.count > Self.camerasMax { texts.append("\(used.count - Self.camerasMax) more cameras are in use") }
        if isPrivate { texts.append("Privacy is on: your apps have no camera") }
        tooltip = texts.map(ShownText.escaped).joined(separator: "\n")
        let stops = Self.stoppable(used).map { Line.stop(app: $0) }
        lines = texts.map { .text($0) } + [.separator] + stops + [.setPrivacy(!isPrivate)]
    }

    private static func sentences(_ use: CameraUse, _ time: (Int64) -> String) -> [String] {
        let camera = ShownText.name(use.name)
        var sentences: [String] = []
        if let holder = use.holder {
            let since = use.since.map { " since \(time($0))" } ?? ""
            sentences.append("\(holder.shownName) has \(camera)\(since)\(use.isRecording ? " and records" : "")")
        }
        sentences += use.waiting.prefix(waitingMax).map {
            "\(ShownText.name($0.app)) waits for \(camera) since \(time($0.since))"
        }
        if use.waiting.count > waitingMax {
            sentences.append("\(use.waiting.count - waitingMax) more wait for \(camera)")
        }
        return sentences
    }

    /// The user's own apps that have a camera or wait for one, each once: holders first.
    private static func stoppable(_ used: [CameraUse]) -> [String] {
        var apps: [String] = []
        func add(_ app: String) { if apps.count < stopsMax, !apps.contains(app) { apps.append(app) } }
        for use in used where use.isOwn { if case .app(let name)? = use.holder { add(name) } }
        for use in used { for waiting in use.waiting { add(waiting.app) } }
        return apps
    }
}

extension Interrupter {
    /// For people, at the beginning of a sentence.
    var shownName: String {
        switch self {
        case .app(let name): ShownText.name(name)
        case .anotherUsersApp: "Another user's app"
        case .outside(let program): "\(ShownText.name(program)), which did not ask,"
        }
    }
}
