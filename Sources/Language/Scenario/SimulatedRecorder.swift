import Arbiter
public import ArbiterProtocol

/// A camera's recorder core on a virtual clock: by default it answers orders at once.
public struct SimulatedRecorder: Hashable, Sendable {
    public let camera: CameraID
    public var capabilities: CameraCapabilities?
    public var behaviour = RecorderBehaviour.works
    public private(set) var grant: GrantID?
    public private(set) var inForce = Configuration()
    private var wanted = Configuration()
    /// Batches that were ordered and not yet answered.
    public private(set) var asked: [Configuration] = []
    private var wasUsed = false
    private var recordings: [Recording] = []
    /// The last that was begun, ended or not.
    private var ramp: SimulatedRamp?
    /// Photos that were ordered while it hangs.
    private var photos: [PhotoID] = []
    private var pictures: [SessionID: Configuration] = [:]
    /// In order of time, then of the orders.
    private var pending: [Pending] = []

    private struct Recording: Hashable {
        var id: RecordingID
        var start: Moment
        /// `nil` while frames get into its file.
        var pausedSince: Moment?

        /// Without its pauses.
        func duration(until now: Moment) -> Duration { (pausedSince ?? now) - start }
    }

    private struct Pending: Hashable {
        var at: Moment
        var event: Event

        var isFile: Bool { if case .recordingFinished = event { true } else { false } }

        /// A file is finished although its grant is over.
        var outlivesCut: Bool {
            switch event {
            case .recordingFinished, .photoCaptured: true
            default: false
            }
        }
    }

    /// Of recordings of simulated cameras.
    public static let framesPerSecond: Int64 = 30
    public static let bytesPerFrame: UInt64 = 1000
    /// As in the broker.
    static let photoLost = "The recorder core ended before the photo was taken."

    public init(_ camera: CameraID) { self.camera = camera }
    public var nextAnswer: Moment? { pending.first?.at }

    public mutating func takeAnswer(by now: Moment) -> Event? {
        guard let first = pending.first, first.at <= now else { return nil }
        pending.removeFirst()
        if case .recorderGone = first.event { behaviour.hangs = behaviour.hangsAlways }
        return first.event
    }

    private mutating func answer(_ event: Event, at moment: Moment) {
        let answer = Pending(at: moment, event: event)
        // A file is finished behind everything else of its moment: nobody waits for it (semantics §4).
        let place = pending.firstIndex { $0.at > moment || ($0.at == moment && $0.isFile && !answer.isFile) }
        pending.insert(answer, at: place ?? pending.endIndex)
    }

    private var isSilent: Bool { behaviour.isManual || behaviour.hangs }

    /// Carries out an order to this camera.
    public mutating func take(_ effect: Effect, at now: Moment) {
        if case .killRecorder(camera) = effect {
            behaviour.hangs = behaviour.hangsAlways
            if behaviour.isManual { forget() } else { crash(at: now) }
            return
        }
        switch effect {
        case .resume(camera, let grant, _, _):
            // A grant from before its adoption is unknown.
            self.grant = grant
            if isSilent { return }
            answer(.recorderStreaming(camera, grant, inForce: inForce), at: now + behaviour.openDelay)
        case .open(camera, let grant, _, let asked): open(grant, asked, at: now)
        case .configure(camera, let grant, _, let asked): configure(grant, asked, at: now)
        case .closeStreams(camera, let grant, let session):
            if isSilent { return }
            answer(.recorderClosedStreams(camera, grant, session), at: now)
        case .capturePhoto(camera, _, let session, let photo): takePhoto(photo, of: session, at: now)
        case .capturePhotoBracket(camera, _, let session, let first, let bracket):
            for place in bracket.shots.indices { takePhoto(first + PhotoID(place), of: session, at: now) }
        case .setPicture(camera, _, let session, let picture): pictures[session] = picture
        case .startRecording(camera, _, _, let recording): recordings.append(Recording(id: recording, start: now))
        case .stopRecording(camera, let recording, let why, _):
            if !isSilent { finish(recordings.filter { $0.id == recording }, why, now) }
        case .cut(camera, let grant, let why, _, _):
            if !isSilent {
                pending.removeAll { !$0.outlivesCut }
                answer(.recorderCut(camera, grant), at: now + behaviour.cutDelay)
                finish(recordings, why, now)
            }
            if self.grant == grant { self.grant = nil }
        case .pauseRecording(camera, let recording): pause(recording, at: now)
        case .resumeRecording(camera, let recording): goOn(recording, at: now)
        // Orders to another recorder core, and those of which this one does nothing that anybody could see.
        default: return
        }
    }

    private mutating func pause(_ id: RecordingID, at now: Moment) {
        for place in recordings.indices where recordings[place].id == id { recordings[place].pausedSince = now }
    }

    private mutating func goOn(_ id: RecordingID, at now: Moment) {
        for place in recordings.indices where recordings[place].id == id {
            guard let since = recordings[place].pausedSince else { continue }
            recordings[place].start = recordings[place].start + (now - since)
            recordings[place].pausedSince = nil
        }
    }

    private mutating func takePhoto(_ photo: PhotoID, of session: SessionID, at now: Moment) {
        if isSilent {
            // In a manual recorder lines bring the answers.
            if !behaviour.isManual { photos.append(photo) }
            return
        }
        var shown = inForce
        shown.merge(pictures[session] ?? Configuration())
        let format = self.format(shown)
        let (width, height) = (UInt32(clamping: format?.width ?? 0), UInt32(clamping: format?.height ?? 0))
        let captured = PhotoCaptured(photo: photo, width: width, height: height, bytes: Self.bytesPerFrame)
        answer(.photoCaptured(captured), at: now)
    }

    private mutating func open(_ grant: GrantID, _ asked: Configuration, at now: Moment) {
        wasUsed = true
        self.grant = grant
        self.asked = []
        pictures = [:]
        ramp = nil
        inForce = whole(asked)
        if isSilent { return }
        let at = now + behaviour.openDelay
        if behaviour.diesOnOpen {
            crash(at: at)
        } else if let message = behaviour.openFailure {
            self.grant = nil
            answer(.deviceFailed(camera, DeviceFault(message: message), message: message), at: at)
        } else {
            answer(.recorderStreaming(camera, grant, inForce: inForce), at: at)
        }
    }

    private mutating func configure(_ grant: GrantID, _ asked: Configuration, at now: Moment) {
        self.asked.append(asked)
        if isSilent { return }
        self.asked.removeFirst()
        let at = now + behaviour.configureDelay
        if let message = behaviour.configureRefusal {
            answer(.recorderRefusedConfiguration(camera, grant, asked: asked, message: message), at: at)
            return
        }
        let before = inForce
        if asked[.cancelVideoZoomRamp] == .flag(true), let ramp {
            wanted[.videoZoomFactor] = .number(ramp.zoom(at: now))
        }
        if asked[.cancelVideoZoomRamp] == .flag(true) || asked[.videoZoomFactor] != nil { endRamp() }
        take(asked)
        if before[.activeFormat] != inForce[.activeFormat] { endRamp() }
        answer(.recorderConfigured(camera, grant, asked: asked, inForce: inForce), at: at)
        rampAnswer(asked, from: before, grant, at)
    }

    /// It captures since another broker.
    public mutating func survive(_ survivor: Survivor, at now: Moment) {
        guard !wasUsed, capabilities != nil, survivor.isCredible else { return }
        wasUsed = true
        grant = survivor.grant
        inForce = whole(Configuration())
        recordings = survivor.recording.map { [Recording(id: $0, start: now)] } ?? []
    }

    /// The broker, which has the files, reports the lengths of recordings, and that photos under way failed.
    public mutating func crash(at now: Moment) {
        let ended = recordings
        let underWay =
            photos + pending.compactMap { if case .photoCaptured(let photo) = $0.event { photo.photo } else { nil } }
        forget()
        answer(.recorderGone(camera), at: now)
        for photo in underWay {
            let lost = PhotoCaptured(photo: photo, width: 0, height: 0, bytes: 0, error: Self.photoLost)
            answer(.photoCaptured(lost), at: now)
        }
        finish(ended, .recorderReset, now)
    }

    /// A process takes its state with it, answers under way included.
    public mutating func forget() {
        grant = nil
        recordings = []
        ramp = nil
        photos = []
        pending = []
        inForce = Configuration()
        asked = []
    }

    /// The oldest batch that waits for its answer.
    public mutating func takeAsked() -> Configuration? { asked.isEmpty ? nil : asked.removeFirst() }

    /// A batch is in force from now on.
    public mutating func take(_ asked: Configuration) { inForce = whole(asked, over: wanted) }

    /// The same for a batch that a line answered.
    public mutating func apply(_ configuration: Configuration) { inForce = configuration }

    /// A mode that ended by itself is as it is now.
    public mutating func note(_ changed: Configuration) {
        inForce.merge(changed)
        for (key, value) in changed.ordered where key.isControl && wanted[key] == .text("auto") { wanted[key] = value }
    }

    private mutating func finish(_ ended: [Recording], _ why: RecordingEnd, _ now: Moment) {
        recordings.removeAll { ended.contains($0) }
        for recording in ended {
            let duration = recording.duration(until: now)
            let interval = 1_000_000_000 / Self.framesPerSecond
            let frames = UInt64(max(0, duration.wholeNanoseconds / interval))
            // The last frame is shown for as long as any other.
            let last = (recording.pausedSince ?? now) + .nanoseconds(-interval)
            answer(
                .recordingFinished(
                    recording.id, why: why, frames: frames, duration: duration, bytes: frames * Self.bytesPerFrame,
                    lastCapture: frames > 0 ? last : nil), at: now + behaviour.finishDelay)
        }
    }

    private mutating func rampAnswer(_ asked: Configuration, from before: Configuration, _ grant: GrantID, _ at: Moment)
    {
        guard case .number(let target)? = asked[.videoZoomFactor], case .number(let rate)? = asked[.videoZoomRampRate],
            rate > 0
        else { return }
        var start = 1.0
        if case .number(let zoom)? = before[.videoZoomFactor] { start = zoom }
        let ramp = SimulatedRamp(from: start, to: target, rate: rate, began: at)
        self.ramp = ramp
        answer(.rampFinished(camera, grant, videoZoomFactor: target), at: ramp.ends)
    }

    /// A ramp that another zoom replaces ends without an answer.
    private mutating func endRamp() {
        ramp = nil
        pending.removeAll { if case .rampFinished = $0.event { true } else { false } }
    }

    // MARK: Configuration

    /// Everything in force after `asked`, over what was asked before.
    private mutating func whole(_ asked: Configuration, over before: Configuration = Configuration()) -> Configuration {
        guard let capabilities else {
            wanted = before
            wanted.merge(asked.lasting)
            return wanted
        }
        let check = ConfigurationCheck(capabilities: capabilities)
        wanted = check.merged(asked, into: before).lasting.ofTheCamera
        guard let settings = check.settings(wanted) ?? check.settings(Configuration()) else { return wanted }
        return settings.configuration
    }

    private func format(_ inForce: Configuration) -> CameraFormat? {
        guard let capabilities else { return nil }
        let check = ConfigurationCheck(capabilities: capabilities)
        return check.format(inForce[.activeFormat]) ?? capabilities.defaultFormat
    }
}

/// Half a doubling at a time is exact enough for a simulation, and needs no logarithm.
struct SimulatedRamp: Hashable, Sendable {
    let from: Double
    let to: Double
    let began: Moment
    private let half: Int64

    init(from: Double, to: Double, rate: Double, began: Moment) {
        self.from = from
        self.to = to
        self.began = began
        half = Int64(5e8 / rate)
    }

    private static let halvesMax = 64
    private static let halfDoubling = 1.4142135623730951

    private var halves: Int64 {
        var halves: Int64 = 0
        var reached = min(from, to)
        while reached < max(from, to), halves < Self.halvesMax {
            reached *= Self.halfDoubling
            halves += 1
        }
        return halves
    }

    var ends: Moment { began + .milliseconds((halves * half + 500_000) / 1_000_000) }

    func zoom(at now: Moment) -> Double {
        let gone = min(halves, max(0, (now - began).wholeNanoseconds / max(1, half)))
        let times = Double(1 << (gone / 2)) * (gone % 2 == 0 ? 1 : Self.halfDoubling)
        return from < to ? min(from * times, to) : max(from / times, to)
    }
}
