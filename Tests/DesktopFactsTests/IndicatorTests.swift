import Agent
import ArbiterProtocol
import Testing

@Suite("The indicator in the panel")
struct IndicatorTests {
    private func indicator(_ cameras: CameraUse..., isPrivate: Bool = false) -> Indicator? {
        Indicator(cameras, isPrivate: isPrivate) { "\($0) µs" }
    }

    private func waiting(_ apps: String...) -> [CameraUse.WaitingApp] {
        apps.map { CameraUse.WaitingApp(app: $0, since: 9) }
    }

    @Test("It is there while a camera is in use, while an app waits, and while privacy is on")
    func when() {
        #expect(indicator() == nil)
        #expect(indicator(CameraUse(camera: CameraID("a"), name: "A")) == nil)
        #expect(
            indicator(CameraUse(camera: CameraID("a"), name: "A", holder: .app("red")))?.icon == "camera-video-symbolic"
        )
        #expect(
            indicator(CameraUse(camera: CameraID("a"), name: "A", holder: .anotherUsersApp))?.title
                == "A camera is in use")
        #expect(
            indicator(CameraUse(camera: CameraID("a"), name: "A", waiting: waiting("red")))?.title
                == "An app waits for a camera")
        #expect(indicator(isPrivate: true)?.icon == "camera-disabled-symbolic")
        #expect(
            indicator(CameraUse(camera: CameraID("a"), name: "A", holder: .app("red"), isRecording: true))?.icon
                == "media-record-symbolic")
    }

    @Test("It says which app has which camera since when and which wait, and lets the user's own be stopped, each once")
    func lines() {
        let shown = indicator(
            CameraUse(
                camera: CameraID("a"), name: "Front", holder: .app("red"), isOwn: true, isRecording: true, since: 5,
                waiting: waiting("blue")),
            CameraUse(camera: CameraID("b"), name: "Back", holder: .anotherUsersApp, waiting: waiting("red", "blue")),
            CameraUse(camera: CameraID("c"), name: "Top", holder: .outside("mpv")),
            CameraUse(camera: CameraID("d"), name: "Low", holder: .app("green"), isOwn: false))
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
            CameraUse(
                camera: CameraID("\(number)"), name: "\(number)", holder: .app("app \(number)"), isOwn: true,
                waiting: (0..<64).map { CameraUse.WaitingApp(app: "app \(number)/\($0)", since: 0) })
        }
        let lines = Indicator(many, isPrivate: true, time: { "\($0)" })?.lines ?? []
        #expect(lines.count == Indicator.camerasMax * (2 + Indicator.waitingMax) + 2 + 1 + Indicator.stopsMax + 1)
        #expect(lines.contains(.text("58 more wait for 0")))
        #expect(lines.contains(.text("12 more cameras are in use")))
        #expect(lines.last == .setPrivacy(false))
    }

    @Test("A name changes neither a text's direction nor its markup, and hides nothing behind its length")
    func names() {
        let shown = indicator(
            CameraUse(
                camera: CameraID("a"), name: "F&B", holder: .app("<b>\u{202e}x\n" + String(repeating: "y", count: 99))))
        let name = "<b> x " + String(repeating: "y", count: 53) + "…"
        #expect(shown?.lines.first == .text("\(name) has F&B"))
        #expect(shown?.tooltip == "&lt;b&gt;\(name.dropFirst(3)) has F&amp;B")
    }

    @Test("A number of the menu stands for one line, and is never given to another")
    func numbers() {
        var menu = IndicatorMenu()
        let changed1 = menu.show([.text("x"), .separator, .stop(app: "red"), .setPrivacy(true)])
        #expect(changed1)
        let red = menu.items[2].id
        let revision = menu.revision
        let changed2 = menu.show([.text("x"), .separator, .stop(app: "red"), .setPrivacy(true)])
        #expect(!changed2)
        #expect(menu.revision == revision)
        let changed3 = menu.show([.text("x"), .separator, .separator, .stop(app: "blue"), .stop(app: "red")])
        #expect(changed3)
        #expect(menu.revision > revision)
        #expect(menu.line(red) == .stop(app: "red"))
        #expect(Set(menu.items.map(\.id)).count == 5)
        let changed4 = menu.show([])
        #expect(changed4)
        let changed5 = menu.show([.stop(app: "red"), .stop(app: "blue")])
        #expect(changed5)
        #expect(menu.line(red) == nil)
        #expect(!menu.has(red) && menu.has(IndicatorMenu.root) && !menu.has(-1))
    }
}
