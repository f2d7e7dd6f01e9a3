import ArbiterProtocol
import Broker
import Testing

/// What one broker writes down for the next.
@Suite struct StoredHolderTests {
    private static let secret = "00112233445566778899aabbccddeeff"
    private static let kept =
        "1000\tfront\tkept\t7\t3\t4,2049,77\tkept-0123456789abcdef\t\(secret)\tsimulated:iphone5-back\tphotos"

    @Test("A line is read as it was written, with a grant that outlives the broker and without")
    func roundTrip() throws {
        let plain = try #require(StoredHolder(line: "1000\tfront\tphotos"[...]))
        #expect(plain.app == AppID("photos", user: 1000) && plain.camera == CameraID("front") && plain.kept == nil)
        #expect(plain.line == "1000\tfront\tphotos")
        let read = try #require(StoredHolder(line: Self.kept[...]))
        let kept = try #require(read.kept)
        #expect(kept.grant == GrantID(7) && kept.session == SessionID(3))
        #expect(kept.recording == StoredHolder.Recording(id: 4, device: 2049, inode: 77))
        #expect(kept.secret?.digits == Self.secret && kept.spec == "simulated:iphone5-back")
        #expect(read.line == Self.kept)
        let bare = Self.kept.replacing("4,2049,77", with: "-").replacing(Self.secret, with: "-")
        let nobodys = try #require(StoredHolder(line: bare[...]))
        #expect(nobodys.kept?.recording == nil && nobodys.kept?.secret == nil && nobodys.line == bare)
    }

    @Test("A recording that is paused, and a microphone that is attached, are read as they were written")
    func recordingWithSound() throws {
        let line = Self.kept.replacing("\t3\t4,2049,77", with: "\t3,44100,2\t4,2049,77,1")
        let read = try #require(StoredHolder(line: line[...]))
        let kept = try #require(read.kept)
        #expect(kept.session == SessionID(3))
        #expect(kept.microphone == MicrophoneFormat(sampleRate: 44_100, channels: 2))
        #expect(kept.recording == StoredHolder.Recording(id: 4, device: 2049, inode: 77, isPaused: true))
        #expect(read.line == line)
    }

    @Test("A line that no broker wrote is none, and no listener leads out of the folder")
    func distrusted() {
        let wrong = [
            ("1000\tfront", "too few words"), ("-1\tfront\tphotos", "no user"), ("1000\t\tphotos", "no camera"),
            ("1000\tfront\t", "no app"), (Self.kept.replacing("\t7\t", with: "\t0\t"), "grant 0"),
            (Self.kept.replacing("4,2049,77", with: "4,2049"), "half a recording"),
            (Self.kept.replacing("4,2049,77", with: "4,x,77"), "a recording of no file"),
            (Self.kept.replacing("4,2049,77", with: "4,2049,77,0"), "a recording that is paused by 0"),
            (Self.kept.replacing("\t3\t", with: "\t3,44100\t"), "half a microphone"),
            (Self.kept.replacing("\t3\t", with: "\t3,7999,1\t"), "a microphone of no rate there is"),
            (Self.kept.replacing("\t3\t", with: "\t3,44100,3\t"), "a microphone of three channels"),
            (Self.kept.replacing("kept-0123456789abcdef", with: "../camarb/socket"), "a way out"),
            (Self.kept.replacing("kept-0123456789abcdef", with: "kept-0123456789abcde/"), "a way in"),
            (Self.kept.replacing("kept-0123456789abcdef", with: "kept-0123456789ABCDEF"), "another's letters"),
            (Self.kept.replacing(Self.secret, with: Self.secret + "0"), "a long secret"),
            (Self.kept.replacing(Self.secret, with: "0x112233445566778899aabbccddeeff"), "a wrong digit"),
            (Self.kept.replacing("\tkept\t", with: "\tleft\t"), "another word"),
            (Self.kept + "\t" + Self.kept, "two lines without an end between"),
        ]
        for (line, what) in wrong { #expect(StoredHolder(line: line[...]) == nil, "\(what)") }
        #expect(StoredHolder(camera: CameraID("a\tb"), app: AppID("photos", user: 1)).line == nil)
    }

    @Test("A file is read line by line, whatever a name ends with, and says which lines are none")
    func file() {
        let (holders, strange) = StoredHolder.read(Array("1000\tfront\tphotos\r\nwhat\n1000\tback\tnotes\n".utf8))
        #expect(holders.map(\.app.name) == ["photos\r", "notes"] && strange == [2])
    }

    @Test("A secret is 128 bits, another one each time, equal to itself alone, and shown by nothing that describes it")
    func secrets() throws {
        let one = try ReclaimSecret()
        let another = try ReclaimSecret()
        #expect(one.digits.count == 32 && one.digits != another.digits)
        #expect(one.equals(one) && !one.equals(another))
        // In each of its digits.
        for place in 0..<32 {
            var digits = Array(one.digits)
            digits[place] = digits[place] == "0" ? "1" : "0"
            let changed = try #require(ReclaimSecret(String(digits)))
            #expect(!changed.equals(one))
        }
        #expect(!"\(one)".contains(one.digits) && !String(reflecting: one).contains(one.digits))
    }
}
