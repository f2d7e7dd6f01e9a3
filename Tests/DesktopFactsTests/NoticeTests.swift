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
        let told3 = pacing.take(at: at(0))
        #expect(told3?.body == "green waits for Front, which blue has.")
        pacing.add(.waits(app: "red", camera: "Front", holder: nil))
        pacing.keepWaits { _, _ in false }
        #expect(pacing.deadline == nil)
    }

    @Test("An app that waits longer than five seconds is told, each wait once, by the time since when the broker says")
    func waits() {
        func front(_ apps: (String, Int64)...) -> [CameraUse] {
            [
                CameraUse(
                    camera: CameraID("front"), name: "Front", holder: .app("blue"),
                    waiting: apps.map { CameraUse.WaitingApp(app: $0.0, since: $0.1) })
            ]
        }
        var waits = Waits()
        // The wall clock stands at 1000 s; red has waited for two seconds.
        waits.update(front(("red", 998_000_000), ("green", 1000_000_000)), at: at(50), wallClock: 1000_000_000)
        #expect(waits.deadline == at(53))
        #expect(waits.due(at: at(52.9)) == [])
        #expect(waits.due(at: at(53)) == [.waits(app: "red", camera: "Front", holder: .app("blue"))])
        #expect(waits.due(at: at(54)) == [])
        // The wall clock is set forward by an hour: a wait that is known goes on as it was.
        waits.update(front(("red", 998_000_000), ("green", 1000_000_000)), at: at(54), wallClock: 4600_000_000)
        #expect(waits.deadline == at(55))
        let told4 = waits.due(at: at(55))
        #expect(told4.count == 1)
        #expect(waits.deadline == nil)
        // It had the camera, and waits again.
        waits.update(front(), at: at(60), wallClock: 1010_000_000)
        #expect(!waits.contains(app: "red", camera: "Front"))
        waits.update(front(("red", 1010_000_000)), at: at(60), wallClock: 1010_000_000)
        #expect(waits.deadline == at(65))
        // One that began tomorrow began now.
        waits.update(front(("pink", .max), ("grey", .min)), at: at(70), wallClock: 1020_000_000)
        #expect(waits.deadline.map { $0 < at(70) } == true)
        let told5 = waits.due(at: at(75))
        #expect(told5.count == 2)
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
        let told6 = pacing.take(at: at(0))
        #expect(told6?.markup.contains("a&lt;b &amp; c&gt;") == true)
    }

    private func allowed(_ app: String, _ author: Interrupter? = .app("python3")) -> AppNotice {
        .answered(
            AnswerChange(
                app: app, isVouched: true, answer: .allow, author: author, process: 4711, program: "/usr/bin/python3"))
    }

    @Test("An answer that somebody else gave names the app, what it may, and who said so with process and program")
    func answered() {
        #expect(
            allowed("spy").sentence
                == "“spy” may use cameras from now on: “python3” (process 4711, /usr/bin/python3) said so.")
        func sentence(_ answer: AppAnswer?, isVouched: Bool = true, _ author: Interrupter?) -> String {
            AppNotice.answered(
                AnswerChange(
                    app: "s\u{202e}y", isVouched: isVouched, answer: answer, author: author, process: nil, program: nil)
            ).sentence
        }
        #expect(sentence(.deny, .anotherUsersApp) == "“s y” may use no camera from now on: another user's app said so.")
        #expect(
            sentence(nil, isVouched: false, nil)
                == "What you said of “s y”, a name that nobody vouches for, is forgotten: a program said so.")
    }
}
