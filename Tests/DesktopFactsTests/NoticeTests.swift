import Agent
import ArbiterProtocol
import Testing

private func at(_ seconds: Double) -> Moment { Moment(nanoseconds: Int64(seconds * 1e9)) }

@Suite("When the user is told")
struct NoticeTests {
    private func cut(_ app: String) -> AppNotice {
        .recordingCut(app: app, camera: "Front", by: .app("blue"), cause: .videoDeviceInUseByAnotherClient)
    }

    @Test("Under a flood there is one every ten seconds, however much happens")
    func flood() {
        var pacing = NoticePacing()
        var told = 0
        for tenth in 0..<1000 {
            pacing.add(cut("app \(tenth)"))
            if pacing.take(at: at(Double(tenth) / 10)) != nil { told += 1 }
        }
        #expect(told == 10)
    }

    @Test("A wait that is over by then is not told any more")
    func withdrawn() {
        var pacing = NoticePacing()
        pacing.add(.waits(app: "red", camera: "Front", holder: nil))
        pacing.add(.waits(app: "green", camera: "Front", holder: .app("blue")))
        pacing.keepWaits { app, _ in app == "green" }
        #expect(pacing.take(at: at(0))?.body == "green waits for Front, which blue has.")
        pacing.add(.waits(app: "red", camera: "Front", holder: nil))
        pacing.keepWaits { _, _ in false }
        #expect(pacing.deadline == nil)
    }

    @Test("An app that waits longer than five seconds is told, each wait once, by the time since when the broker says")
    func waits() {
        var waits = Waits()
        /// These wait for a camera, since when the wall clock said that.
        func update(_ apps: (String, Int64)..., at seconds: Double, wallClock: Int64) {
            let front = CameraUse {
                ($0.camera, $0.name, $0.holder) = (CameraID("front"), "Front", .app("blue"))
                $0.waiting = apps.map { app in CameraUse.WaitingApp { ($0.app, $0.since) = app } }
            }
            waits.update([front], at: at(seconds), wallClock: wallClock)
        }
        // The wall clock stands at 1000 s; red has waited for two seconds.
        update(("red", 998_000_000), ("green", 1000_000_000), at: 50, wallClock: 1000_000_000)
        #expect(waits.deadline == at(53))
        #expect(waits.due(at: at(52.9)) == [])
        #expect(waits.due(at: at(53)) == [.waits(app: "red", camera: "Front", holder: .app("blue"))])
        #expect(waits.due(at: at(54)) == [])
        // The wall clock is set forward by an hour: a wait that is known goes on as it was.
        update(("red", 998_000_000), ("green", 1000_000_000), at: 54, wallClock: 4600_000_000)
        #expect(waits.deadline == at(55))
        #expect(waits.due(at: at(55)).count == 1)
        #expect(waits.deadline == nil)
        // It had the camera, and waits again.
        update(at: 60, wallClock: 1010_000_000)
        #expect(!waits.contains(app: "red", camera: "Front"))
        update(("red", 1010_000_000), at: 60, wallClock: 1010_000_000)
        #expect(waits.deadline == at(65))
        // A wait that began tomorrow began now.
        update(("pink", .max), ("grey", .min), at: 70, wallClock: 1020_000_000)
        #expect(waits.deadline.map { $0 < at(70) } == true)
        #expect(waits.due(at: at(75)).count == 2)
    }

    @Test("Every cause has words of its own, and a name is escaped where a body has markup")
    func words() {
        let sentences = Cause.allCases.map {
            AppNotice.recordingCut(app: "a<b", camera: "F", by: .outside("mpv"), cause: $0).sentence
        }
        // In use and several in front are the same to a user.
        #expect(Set(sentences).count == Cause.allCases.count - 1)
        #expect(sentences[2].contains("mpv, which did not ask, has the camera now"))
        var pacing = NoticePacing()
        pacing.add(cut("a<b & c>"))
        #expect(pacing.take(at: at(0))?.markup.contains("a&lt;b &amp; c&gt;") == true)
    }
}
