import Agent
import ArbiterProtocol
import Testing

@Suite("The indicator in the panel")
struct IndicatorTests {
    private func indicator(_ cameras: CameraUse..., isPrivate: Bool = false) -> Indicator? {
        Indicator(cameras, isPrivate: isPrivate) { "\($0) µs" }
    }

    private func use(
        _ name: String = "A", by holder: Interrupter? = nil, isOwn: Bool = false, isRecording: Bool = false,
        since: Int64? = nil, waiting: String...
    ) -> CameraUse {
        CameraUse {
            ($0.camera, $0.name, $0.holder, $0.since) = (CameraID(name), name, holder, since)
            ($0.isOwn, $0.isRecording) = (isOwn, isRecording)
            $0.waiting = waiting.map { app in CameraUse.WaitingApp { ($0.app, $0.since) = (app, 9) } }
        }
    }

    @Test("It is there while a camera is in use, while an app waits, and while privacy is on")
    func when() {
        #expect(indicator() == nil)
        #expect(indicator(use()) == nil)
        #expect(indicator(use(by: .app("red")))?.icon == "camera-video-symbolic")
        #expect(indicator(use(by: .anotherUsersApp))?.title == "A camera is in use")
        #expect(indicator(use(waiting: "red"))?.title == "An app waits for a camera")
        #expect(indicator(isPrivate: true)?.icon == "camera-disabled-symbolic")
        #expect(indicator(use(by: .app("red"), isRecording: true))?.icon == "media-record-symbolic")
    }

    @Test("It says which app has which camera since when and which wait, and lets the user's own be stopped, each once")
    func lines() {
        let shown = indicator(
            use("Front", by: .app("red"), isOwn: true, isRecording: true, since: 5, waiting: "blue"),
            use("Back", by: .anotherUsersApp, waiting: "red", "blue"), use("Top", by: .outside("mpv")),
            use("Low", by: .app("green")))
        #expect(
            shown?.lines == [
                .text("red has Front since 5 µs and records"), .text("blue waits for Front since 9 µs"),
                .text("Another user's app has Back"), .text("red waits for Back since 9 µs"),
                .text("blue waits for Back since 9 µs"), .text("mpv, which did not ask, has Top"),
                .text("green has Low"), .separator, .stop(app: "red"), .stop(app: "blue"), .setPrivacy(true),
            ])
    }

    @Test("What is too much for a screen is counted")
    func bounds() {
        let many = (0..<20).map { number in
            CameraUse { use in
                (use.camera, use.name) = (CameraID("\(number)"), "\(number)")
                (use.holder, use.isOwn) = (.app("app \(number)"), true)
                use.waiting = (0..<64).map { place in CameraUse.WaitingApp { $0.app = "app \(number)/\(place)" } }
            }
        }
        let lines = Indicator(many, isPrivate: true, time: { "\($0)" })?.lines ?? []
        #expect(lines.count == Indicator.camerasMax * (2 + Indicator.waitingMax) + 2 + 1 + Indicator.stopsMax + 1)
        #expect(lines.contains(.text("58 more wait for 0")))
        #expect(lines.contains(.text("12 more cameras are in use")))
        #expect(lines.last == .setPrivacy(false))
    }

    @Test("A name changes neither a text's direction nor its markup, and hides nothing behind its length")
    func names() {
        let shown = indicator(use("F&B", by: .app("<b>\u{202e}x\n" + String(repeating: "y", count: 99))))
        let name = "<b> x " + String(repeating: "y", count: 53) + "…"
        #expect(shown?.lines.first == .text("\(name) has F&B"))
        #expect(shown?.tooltip == "&lt;b&gt;\(name.dropFirst(3)) has F&amp;B")
    }

    @Test("A number of the menu stands for one line, and is never given to another")
    func numbers() {
        var menu = IndicatorMenu()
        /// Whether it is another than before.
        func show(_ lines: Indicator.Line...) -> Bool { menu.show(lines) }
        #expect(show(.text("x"), .separator, .stop(app: "red"), .setPrivacy(true)) == true)
        let (red, revision) = (menu.items[2].id, menu.revision)
        #expect(show(.text("x"), .separator, .stop(app: "red"), .setPrivacy(true)) == false)
        #expect(menu.revision == revision)
        #expect(show(.text("x"), .separator, .separator, .stop(app: "blue"), .stop(app: "red")) == true)
        #expect(menu.revision > revision && menu.line(red) == .stop(app: "red"))
        #expect(Set(menu.items.map(\.id)).count == 5)
        #expect(show() == true)
        #expect(show(.stop(app: "red"), .stop(app: "blue")) == true)
        #expect(menu.line(red) == nil && !menu.has(red) && menu.has(IndicatorMenu.root) && !menu.has(-1))
    }
}
