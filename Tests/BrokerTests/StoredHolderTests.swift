import ArbiterProtocol
import Broker
import Testing

@Suite struct StoredHolderTests {
    private static let secret = "00112233445566778899aabbccddeeff"
    private static let kept =
        "1000\tfront\tkept\t7\t3\t4,2049,77\tkept-0123456789abcdef\t\(secret)\tsimulated:iphone5-back\tphotos"

    @Test(
        "A line is read as it was written: a grant that outlives the broker, a paused recording, a microphone, or none")
    func roundTrip() throws {
        func read(_ line: String) throws -> StoredHolder {
            let holder = try #require(StoredHolder(line: line[...]))
            #expect(holder.line == line)
            return holder
        }
        let plain = try read("1000\tfront\tphotos")
        #expect(plain.app == AppID("photos", user: 1000) && plain.camera == CameraID("front") && plain.kept == nil)
        let kept = try #require(try read(Self.kept).kept)
        #expect(kept.grant == GrantID(7) && kept.session == SessionID(3) && kept.microphone == nil)
        #expect(kept.recording == StoredHolder.Recording(id: 4, device: 2049, inode: 77))
        #expect(kept.secret?.digits == Self.secret && kept.spec == "simulated:iphone5-back")
        let nobodys = try read(Self.kept.replacing("4,2049,77", with: "-").replacing(Self.secret, with: "-"))
        #expect(nobodys.kept?.recording == nil && nobodys.kept?.secret == nil)
        let sound = try read(Self.kept.replacing("\t3\t4,2049,77", with: "\t3,44100,2\t4,2049,77,1")).kept
        #expect(sound?.session == SessionID(3))
        #expect(sound?.microphone == MicrophoneFormat(sampleRate: 44_100, channels: 2))
        #expect(sound?.recording == StoredHolder.Recording(id: 4, device: 2049, inode: 77, isPaused: true))
    }

    @Test("A line that no broker wrote is none, and no listener leads out of the folder")
    func distrusted() {
        // A word of the line that is another, and the result.
        let recording = "4,2049,77"
        for (part, other, what) in [
            ("\t7\t", "\t0\t", "grant 0"), (recording, "4,2049", "half a recording"),
            (recording, "4,x,77", "a recording of no file"), (recording, "4,2049,77,0", "one that is paused by 0"),
            ("\t3\t", "\t3,44100\t", "half a microphone"), ("\t3\t", "\t3,7999,1\t", "no rate there is"),
            ("\t3\t", "\t3,44100,3\t", "three channels"), ("kept-0123456789abcdef", "../camarb/socket", "a way out"),
            ("kept-0123456789abcdef", "kept-0123456789abcde/", "a way in"),
            ("kept-0123456789abcdef", "kept-0123456789ABCDEF", "another's letters"),
            (Self.secret, Self.secret + "0", "a long secret"),
            (Self.secret, "0x112233445566778899aabbccddeeff", "a wrong digit"),
            ("\tkept\t", "\tleft\t", "another word"),
            (Self.kept, Self.kept + "\t" + Self.kept, "two lines without an end between"),
        ] as [(String, String, String)] {
            #expect(StoredHolder(line: Self.kept.replacing(part, with: other)[...]) == nil, "\(what)")
        }
        for line in ["1000\tfront", "-1\tfront\tphotos", "1000\t\tphotos", "1000\tfront\t"] {
            #expect(StoredHolder(line: line[...]) == nil, "\(line)")
        }
        #expect(StoredHolder(camera: CameraID("a\tb"), app: AppID("photos", user: 1)).line == nil)
    }

    @Test("A secret is 128 bits, another one each time, equal to itself alone, and shown by nothing that describes it")
    func secrets() throws {
        let (one, another) = (try ReclaimSecret(), try ReclaimSecret())
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
