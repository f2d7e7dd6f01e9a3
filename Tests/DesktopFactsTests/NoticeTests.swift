import ArbiterProtocol
import DesktopFacts
import Testing

private func at(_ seconds: Double) -> Moment { Moment(nanoseconds: Int64(seconds * 1e9)) }

@Suite("When the user is told")
struct NoticeTests {
    private func cut(_ app: String) -> AppNotice {
        .recordingCut(app: app, camera: "Front", by: .app("blue"), cause: .videoDeviceInUseByAnotherClient)
    }

    @Test("The first is told at once, and never more than one in ten seconds")
    func pace() {
        var pacing = NoticePacing()
        #expect(pacing.deadline == nil)
        #expect(pacing.take(at: at(100)) == nil)
        pacing.add(cut("a"))
        #expect(pacing.deadline == .zero)
        let told1 = pacing.take(at: at(100))
        #expect(told1?.summary == "A recording was cut")
        pacing.add(cut("b"))
        #expect(pacing.deadline == at(110))
        #expect(pacing.take(at: at(109.9)) == nil)
        let told2 = pacing.take(at: at(110))
        #expect(told2?.body.contains("b with Front") == true)
        #expect(pacing.take(at: at(110)) == nil)
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

    @Test("What happens within the pause is told in one, the first four by name")
    func merged() {
        var pacing = NoticePacing()
        pacing.add(cut("first"))
        _ = pacing.take(at: at(0))
        for number in 0..<9 { pacing.add(cut("app\(number)")) }
        pacing.add(cut("app0"))
        let text = pacing.take(at: at(10))
        #expect(text?.summary == "Several apps lost a camera or wait for one")
        #expect(text?.body.split(separator: "\n").count == NoticePacing.listedMax + 1)
        #expect(text?.body.hasSuffix("The same happened 5 more times.") == true)
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

    @Test(
        "Who answered for the user is told before what merely happened, and its notification is not replaced by the next"
    )
    func answersFirst() {
        var pacing = NoticePacing()
        for number in 0..<9 { pacing.add(cut("app\(number)")) }
        pacing.add(allowed("spy"))
        let text = pacing.take(at: at(0))
        #expect(text?.isToStay == true)
        #expect(text?.summary == "Somebody answered for your apps")
        let lines = text?.body.split(separator: "\n") ?? []
        #expect(lines.count == NoticePacing.listedMax + 1)
        #expect(lines.filter { $0.contains("“spy” may use cameras") }.count == 1)
        #expect(lines.last?.hasPrefix("The same happened 6 more times: camclient apps answers") == true)
        // Answers are not hidden behind more of them: the first are named.
        for number in 0..<9 { pacing.add(allowed("app\(number)")) }
        pacing.add(cut("late"))
        let more = pacing.take(at: at(10))
        #expect(more?.body.contains("“app0”") == true && more?.body.contains("late") == false)
        pacing.add(cut("a"))
        let cutAlone = pacing.take(at: at(20))
        #expect(cutAlone?.isToStay == false)
    }

    @Test("A question says whose name nobody vouches for, and what its program is")
    func question() {
        func text(_ isVouched: Bool, _ program: String?) -> NotificationText {
            NotificationText(
                AppQuestion(
                    number: 1, app: "Zoom", isVouched: isVouched, program: program, camera: "Front", time: .seconds(30))
            )
        }
        #expect(text(true, nil).summary == "May “Zoom” use cameras?")
        #expect(!text(true, nil).body.contains("vouches"))
        #expect(text(false, "/usr/bin/python3").body.contains("nobody vouches for the name"))
        #expect(text(false, "/usr/bin/python3").body.contains("/usr/bin/python3"))
    }

    @Test("The permission store's denials are those of named apps, by name, at most as many as the broker takes")
    func denied() {
        let few = DeniedApps(["": ["no"], "b": ["no"], "a": ["no", "yes"], "c": ["yes"], "d": ["ask"], "e": []])
        #expect(few.apps == ["a", "b"] && few.leftOut == 0)
        let many = DeniedApps(Dictionary(uniqueKeysWithValues: (0..<2000).map { ("app\(10_000 + $0)", ["no"]) }))
        #expect(many.apps.count == DeniedApps.appsMax && many.leftOut == 976 && many.apps.first == "app10000")
    }
}
