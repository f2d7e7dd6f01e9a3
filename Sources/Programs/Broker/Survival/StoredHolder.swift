package import ArbiterProtocol
import CLinux
import System

/// A camera's holder, as a line of the store.
///
/// The user's number, the camera's id and the app's name, with tabs between. Where the grant may outlive the broker there are
/// six more words before the name: `kept`, grant, session, recording, listener, secret and the camera's spec; `-` is none.
/// The session's word goes on with rate and channels of its microphone, a recording's with a 1 where it is paused.
/// A line that could not have been written is passed over.
package struct StoredHolder {
    package var camera: CameraID
    package var app: AppID
    package var kept: Kept?

    /// A grant that a recorder core keeps beyond the broker's end.
    package struct Kept {
        package var grant: GrantID
        package var session: SessionID
        package var recording: Recording?
        package var microphone: MicrophoneFormat?
        /// A socket in the store's folder, by name: the recorder core listens on it.
        package var listener: String
        /// `nil` until a client has one: without it the grant cannot be reclaimed.
        package var secret: ReclaimSecret?
        package var spec: String
    }

    /// A recording that runs, and its file: no other may go into the same.
    package struct Recording: Hashable {
        package var id: RecordingID
        package var device: UInt64
        package var inode: UInt64
        package var isPaused: Bool

        package init(id: RecordingID, device: UInt64, inode: UInt64, isPaused: Bool = false) {
            (self.id, self.device, self.inode, self.isPaused) = (id, device, inode, isPaused)
        }
    }

    package init(camera: CameraID, app: AppID, kept: Kept? = nil) {
        (self.camera, self.app, self.kept) = (camera, app, kept)
    }

    private static let word = "kept"
    private static let none = "-"
    /// A listener's name is this and sixteen hexadecimal digits: nothing that leads out of the folder.
    package static let listenerPrefix = "kept-"
    private static let listenerDigits = 16

    package static func isListener(_ name: some StringProtocol) -> Bool {
        guard name.hasPrefix(listenerPrefix) else { return false }
        let digits = name.utf8.dropFirst(listenerPrefix.utf8.count)
        return digits.count == listenerDigits && digits.allSatisfy(\.isLowerHexDigit)
    }

    package static func read(_ bytes: some Collection<UInt8>) -> (holders: [StoredHolder], strangeLines: [Int]) {
        var (holders, strange): ([StoredHolder], [Int]) = ([], [])
        // By bytes: in a text, a name's last sign may make one character with the line's end.
        for (number, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            if let holder = StoredHolder(line: String(decoding: line, as: UTF8.self)[...]) {
                holders.append(holder)
            } else {
                strange.append(number + 1)
            }
        }
        return (holders, strange)
    }

    package init?(line: Substring) {
        let words: [String] = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard words.count >= 3, let user = UInt32(words[0]), !words[1].isEmpty else { return nil }
        camera = CameraID(words[1])
        if words.count == 3 {
            guard !words[2].isEmpty else { return nil }
            app = AppID(words[2], user: user)
            return
        }
        guard words.count == 10, words[2] == Self.word, let grant = UInt64(words[3]), grant > 0,
            let (session, microphone) = Self.holder(words[4]), Self.isListener(words[6]), !words[8].isEmpty,
            !words[9].isEmpty
        else { return nil }
        app = AppID(words[9], user: user)
        var recording: Recording?
        if words[5] != Self.none {
            guard let numbers = Self.numbers(words[5]), numbers.count == 3 || (numbers.count == 4 && numbers[3] == 1)
            else { return nil }
            recording = Recording(id: numbers[0], device: numbers[1], inode: numbers[2], isPaused: numbers.count == 4)
        }
        var secret: ReclaimSecret?
        if words[7] != Self.none {
            guard let read = ReclaimSecret(words[7]) else { return nil }
            secret = read
        }
        kept = Kept(
            grant: GrantID(grant), session: SessionID(session), recording: recording, listener: words[6],
            secret: secret, spec: words[8])
        kept?.microphone = microphone
    }

    private static func numbers(_ word: String) -> [UInt64]? {
        let numbers = word.split(separator: ",", omittingEmptySubsequences: false).map { UInt64($0) }
        return numbers.contains(nil) ? nil : numbers.compactMap(\.self)
    }

    private static func holder(_ word: String) -> (UInt64, MicrophoneFormat?)? {
        guard let numbers = numbers(word) else { return nil }
        switch numbers.count {
        case 1: return (numbers[0], nil)
        case 3:
            guard let rate = UInt32(exactly: numbers[1]), let channels = UInt32(exactly: numbers[2]) else { return nil }
            let format = MicrophoneFormat(sampleRate: rate, channels: channels)
            return format.problem == nil ? (numbers[0], format) : nil
        default: return nil
        }
    }

    /// Without the line's end; `nil` where a name contains a separator of words or lines.
    package var line: String? {
        var words = ["\(app.user)", camera.name]
        if let kept {
            let recording = kept.recording.map { "\($0.id),\($0.device),\($0.inode)\($0.isPaused ? ",1" : "")" }
            let microphone = kept.microphone.map { ",\($0.sampleRate),\($0.channels)" } ?? ""
            words += [
                Self.word, "\(kept.grant.rawValue)", "\(kept.session.rawValue)\(microphone)", recording ?? Self.none,
                kept.listener, kept.secret?.digits ?? Self.none, kept.spec,
            ]
        }
        words.append(app.name)
        guard words.allSatisfy({ word in !word.utf8.contains { $0 == 0x09 || $0 == 0x0a } }) else { return nil }
        return words.joined(separator: "\t")
    }
}

extension UInt8 {
    var isLowerHexDigit: Bool { (0x30...0x39).contains(self) || (0x61...0x66).contains(self) }
}
