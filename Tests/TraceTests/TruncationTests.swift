import Arbiter
import ArbiterProtocol
import Scenario
import Testing

/// A trace that was cut anywhere is never taken for whole.
@Suite("Traces that were cut")
struct TruncationTests {
    /// Short, since it is read once for each of its bytes.
    private var short: [UInt8] {
        let app = AppID("photos", user: 1000)
        let events: [Event] = [
            .connected(ClientID(1), app: app, ClientIdentity()),
            .created(SessionID(1), ClientID(1), camera: CameraID("back"), Configuration(), reestablished: false),
            .startRunning(SessionID(1)), .pressure(.serious), .disconnected(ClientID(1)),
        ]
        return TraceFileTests.written(events.enumerated().map { ($1, Moment.zero + .seconds($0)) })[0]
    }

    @Test("Cut after any byte, a trace is refused with its line, or has no end")
    func everywhere() throws {
        let whole = short
        let lines = whole.count { $0 == 10 }
        var boundaries = 0
        for length in 0..<whole.count {
            let bytes = Array(whole[..<length])
            let before = bytes.count { $0 == 10 }
            let strict = Result { () throws(TraceError) in try TraceReader.read(bytes, file: "a.trace") }
            let lenient = Result { () throws(TraceError) in
                try TraceReader.read(bytes, file: "a.trace", mayBeCut: true)
            }
            if length == 0 || before == 0 {
                for case .success in [strict, lenient] { Issue.record("byte \(length): read without a header") }
                continue
            }
            // Without the last line's rest, and that the trace goes on is what a reader can see.
            let parts = try lenient.get()
            #expect(parts.count == 1 && parts[0].end == nil && parts[0].steps.count == before - 1)
            #expect(before < lines)
            guard bytes.last != 10 else {
                boundaries += 1
                #expect(try strict.get().first?.end == nil)
                #expect(try Replay.run(parts[0]).difference == nil)
                continue
            }
            guard case .failure(let error) = strict else {
                Issue.record("byte \(length): read, though its last line is not whole")
                continue
            }
            #expect(
                "\(error)"
                    == "a.trace:\(before + 1): the trace ends in the middle of this line; --cut leaves it out")
        }
        #expect(boundaries == lines - 1)
    }

    @Test("A last line that was cut is told apart from one that was edited, and --cut forgives only the first")
    func edited() throws {
        let whole = try TraceFileTests.files(events: 20)[0]
        let end = try #require(whole.dropLast().lastIndex(of: 10))
        var changed = whole
        changed[end - 40] ^= 1
        for mayBeCut in [false, true] {
            let lines = whole[...end].count { $0 == 10 }
            #expect {
                _ = try TraceReader.read(changed, file: "a.trace", mayBeCut: mayBeCut)
            } throws: { error in
                "\(error)".hasPrefix("a.trace:\(lines): ") && !"\(error)".contains("--cut")
            }
        }
    }
}
