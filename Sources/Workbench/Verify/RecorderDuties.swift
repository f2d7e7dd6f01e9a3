import Arbiter
package import ArbiterProtocol
import Scenario

/// The orders that recorders have not answered yet. They are part of an explored state, without their ids, which only count. A walk
/// copies them at every step: short arrays of plain values, which are written only where something changes.
package struct RecorderDuties: Hashable, Sendable {
    /// Sorted by camera; only cameras whose recorder got an order since it started.
    private var cameras: [Duty] = []
    private var recordings: [Recording] = []
    private var photos: [Uncounted<PhotoID>] = []

    package struct RecorderFaults: OptionSet, Hashable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        static let crash = RecorderFaults(rawValue: 1)
        static let fail = RecorderFaults(rawValue: 2)
        static let diskFull = RecorderFaults(rawValue: 4)
        static let refuse = RecorderFaults(rawValue: 8)
        static let trouble = RecorderFaults(rawValue: 16)

        package static let names: [(String, RecorderFaults)] = [
            ("crash", .crash), ("fail", .fail), ("disk-full", .diskFull), ("refuse", .refuse), ("trouble", .trouble),
        ]
    }

    /// An id, which makes no state different from another.
    private struct Uncounted<Value: Hashable & Sendable>: Hashable, Sendable {
        var value: Value
        static func == (a: Self, b: Self) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    private struct Duty: Hashable {
        let camera: CameraID
        var isStreaming = false
        /// Before the first frame; a cut may come first.
        var opening: Uncounted<GrantID>?
        var cutting: Uncounted<GrantID>?
        /// Sessions whose streams are being closed, in the order of the orders.
        var closing: [SessionID] = []
        var isKilled = false
        var hasRamp = false
        /// It captures for an unclaimed grant of another broker.
        var isSurviving = false
        var batches: [Configuration] = []
        var grant: Uncounted<GrantID>?

        var mark: UInt64 {
            (isStreaming ? 2 : 0) | (opening != nil ? 4 : 0) | (cutting != nil ? 8 : 0) | (isKilled ? 16 : 0)
                | (hasRamp ? 32 : 0) | (isSurviving ? 1 << 28 : 0)
        }

        var lives: Bool { isStreaming || opening != nil || cutting != nil }
    }

    private struct Recording: Hashable {
        var id: Uncounted<RecordingID>
        var camera: CameraID
        var session: SessionID
        /// `nil` while it runs.
        var ended: RecordingEnd?
    }

    /// More files or batches under way show nothing that two do not, and worlds stay finite.
    static let underWayMax = 2

    func allows(_ event: Event) -> Bool {
        switch event {
        case .startRecording: recordings.count < Self.underWayMax
        case .capturePhoto, .capturePhotoBracket: photos.count < 1
        case .configure, .commitConfiguration: cameras.allSatisfy { $0.batches.count < Self.underWayMax }
        default: true
        }
    }

    package func answers(_ faults: RecorderFaults) -> [Event] {
        var events: [Event] = []
        if faults.isEmpty, areDone, !cameras.contains(where: \.hasRamp) { return events }
        for duty in cameras {
            let camera = duty.camera
            if let grant = duty.opening?.value {
                events.append(.recorderStreaming(camera, grant, inForce: Configuration()))
            }
            if let grant = duty.cutting?.value { events.append(.recorderCut(camera, grant)) }
            if let session = duty.closing.first, let grant = duty.grant?.value {
                events.append(.recorderClosedStreams(camera, grant, session))
            }
            if duty.isSurviving, faults.contains(.crash), let grant = duty.grant?.value {
                // Its client has ended.
                events.append(.recorderCut(camera, grant))
            }
            if duty.isKilled || (duty.lives && faults.contains(.crash)) { events.append(.recorderGone(camera)) }
            if (duty.isStreaming || duty.opening != nil) && duty.cutting == nil, faults.contains(.fail) {
                events.append(.deviceFailed(camera, .device, message: "no data"))
            }
            if let batch = duty.batches.first, let grant = duty.grant?.value {
                events.append(.recorderConfigured(camera, grant, asked: batch, inForce: batch))
                if faults.contains(.refuse) {
                    events.append(.recorderRefusedConfiguration(camera, grant, asked: batch, message: "no"))
                }
            }
            if duty.isStreaming, let grant = duty.grant?.value {
                if duty.hasRamp { events.append(.rampFinished(camera, grant, videoZoomFactor: 2)) }
                if faults.contains(.trouble) {
                    events.append(.recorderTrouble(camera, code: "slow", message: "frames are late"))
                    events.append(.cameraStateChanged(camera, grant, Configuration([.adjustingFocus: .flag(true)])))
                }
            }
        }
        for recording in recordings where recording.ended != nil || faults.contains(.diskFull) {
            events.append(
                .recordingFinished(
                    recording.id.value, why: recording.ended ?? .diskFull, frames: 1, duration: .milliseconds(33),
                    bytes: 1))
        }
        return events
            + photos.map { .photoCaptured(PhotoCaptured(photo: $0.value, width: 1, height: 1, bytes: 1)) }
    }

    var firstAnswer: Event? { answers([]).first }

    mutating func become(_ other: borrowing RecorderDuties) {
        copyEach(&cameras, other.cameras)
        copyEach(&recordings, other.recordings)
        copyEach(&photos, other.photos)
    }

    mutating func note(_ event: Event) {
        switch event {
        case .recorderStreaming(let camera, _, _):
            change(camera) { duty in
                // After a cut that came before the first frame, the camera stays cut.
                if duty.cutting == nil { duty.isStreaming = true }
                duty.opening = nil
            }
        case .recorderCut(let camera, _):
            change(camera) { duty in
                (duty.cutting, duty.opening) = (nil, nil)
                if duty.isSurviving { (duty.isSurviving, duty.isStreaming) = (false, false) }
            }
        case .recorderClosedStreams(let camera, _, let session):
            change(camera) { $0.closing.removeAll { $0 == session } }
        case .recorderGone(let camera):
            cameras.removeAll { $0.camera == camera }
            end(.recorderReset) { $0.camera == camera }
        case .deviceFailed(let camera, _, _):
            change(camera) { duty in
                (duty.isStreaming, duty.isSurviving) = (false, false)
                (duty.opening, duty.closing) = (nil, [])
            }
        case .recorderConfigured(let camera, _, let batch, _):
            change(camera) { duty in
                duty.batches.removeFirst()
                if batch[.videoZoomRampRate] != nil { duty.hasRamp = true }
            }
        case .recorderRefusedConfiguration(let camera, _, _, _): change(camera) { $0.batches.removeFirst() }
        case .rampFinished(let camera, _, _): change(camera) { $0.hasRamp = false }
        case .recordingFinished(let id, _, _, _, _, _, _):
            if let place = recordings.firstIndex(where: { $0.id.value == id }) { recordings.remove(at: place) }
        case .photoCaptured(let photo):
            if let place = photos.firstIndex(where: { $0.value == photo.photo }) { photos.remove(at: place) }
        default: break
        }
    }

    mutating func survive(_ camera: CameraID, _ survivor: Survivor) {
        let grant = Uncounted(value: survivor.grant)
        order(camera) { $0 = Duty(camera: camera, isStreaming: true, isSurviving: true, grant: grant) }
        guard let recording = survivor.recording else { return }
        recordings.append(Recording(id: Uncounted(value: recording), camera: camera, session: Self.nobody))
    }

    /// The grant, and its recording, are a session's again.
    mutating func reclaim(_ session: SessionID, _ grant: GrantID) {
        for index in recordings.indices where recordings[index].session == Self.nobody {
            guard let place = place(of: recordings[index].camera), cameras[place].grant?.value == grant else {
                continue
            }
            recordings[index].session = session
        }
    }

    private static let nobody = SessionID(0)

    package mutating func take(_ effect: Effect) {
        switch effect {
        case .resume(let camera, let grant, _, _):
            let counted = Uncounted(value: grant)
            change(camera) { ($0.opening, $0.isSurviving) = (counted, false) }
        case .open(let camera, let grant, _, _):
            let counted = Uncounted(value: grant)
            order(camera) { $0 = Duty(camera: camera, opening: counted, grant: counted) }
        case .cut(let camera, let grant, let why, _, _):
            order(camera) { duty in
                (duty.isStreaming, duty.isSurviving, duty.hasRamp) = (false, false, false)
                (duty.batches, duty.closing) = ([], [])
                duty.cutting = Uncounted(value: grant)
            }
            end(why) { $0.camera == camera }
        case .killRecorder(let camera): order(camera) { $0.isKilled = true }
        case .configure(let camera, _, _, let batch): change(camera) { $0.batches.append(batch) }
        case .capturePhoto(_, _, _, let photo): photos.append(Uncounted(value: photo))
        case .capturePhotoBracket(_, _, _, let first, let bracket):
            for place in bracket.shots.indices { photos.append(Uncounted(value: first + PhotoID(place))) }
        case .startRecording(let camera, _, let session, let id):
            recordings.append(Recording(id: Uncounted(value: id), camera: camera, session: session))
        case .stopRecording(_, let id, let why, _): end(why) { $0.id.value == id }
        case .closeStreams(let camera, _, let session):
            change(camera) { duty in
                duty.closing.removeAll { $0 == session }
                duty.closing.append(session)
            }
        case .refused, .answered, .openStream, .attachMicrophone, .detachMicrophone, .pauseRecording, .resumeRecording,
            .appendMetadata, .setSlate, .setPicture, .notify, .announce:
            break
        }
    }

    private func place(of camera: CameraID) -> Int? { cameras.firstIndex { $0.camera == camera } }

    private mutating func change(_ camera: CameraID, _ body: (inout Duty) -> Void) {
        if let place = place(of: camera) { body(&cameras[place]) }
    }

    private mutating func order(_ camera: CameraID, _ body: (inout Duty) -> Void) {
        if place(of: camera) == nil {
            cameras.insert(Duty(camera: camera), at: cameras.firstIndex { $0.camera > camera } ?? cameras.endIndex)
        }
        change(camera, body)
    }

    private mutating func end(_ why: RecordingEnd, _ which: (Recording) -> Bool) {
        for index in recordings.indices where which(recordings[index]) && recordings[index].ended == nil {
            recordings[index].ended = why
        }
    }

    /// The duties of a camera for fingerprints, without ids.
    func mark(of camera: CameraID) -> UInt64 {
        guard let place = place(of: camera) else { return 0 }
        return 1 | cameras[place].mark | UInt64(cameras[place].batches.count) << 6 | UInt64(photos.count) << 16
            | UInt64(cameras[place].closing.count) << 20
    }

    func mark(of session: SessionID) -> UInt64 {
        var mark: UInt64 = 0
        // The order in which files end does not matter, so they are counted: four bits for each way to end.
        for recording in recordings where recording.session == session {
            mark += recording.ended.map { 16 << UInt64(4 * (RecordingEnd.allCases.firstIndex(of: $0) ?? 0)) } ?? 1
        }
        // The session whose streams are closed first is answered first.
        for place in cameras.indices where !cameras[place].closing.isEmpty {
            mark |= UInt64((cameras[place].closing.firstIndex(of: session) ?? -1) + 1) << 40
        }
        return mark
    }

    func owesFile(of session: SessionID) -> Bool { recordings.contains { $0.session == session } }

    /// A recorder core owes as many answers as it may, and gives one before anything else happens. Where control passes
    /// from one session to the next, each pass orders a configuration, whether or not the one before is answered.
    var areBehind: Bool { cameras.contains { $0.batches.count > Self.underWayMax } }
    var areConfiguring: Bool { cameras.contains { !$0.batches.isEmpty } }

    var areDone: Bool {
        photos.isEmpty && recordings.allSatisfy { $0.ended == nil }
            && cameras.allSatisfy { duty in
                duty.opening == nil && duty.cutting == nil && !duty.isKilled && duty.batches.isEmpty
                    && duty.closing.isEmpty
            }
    }
}
