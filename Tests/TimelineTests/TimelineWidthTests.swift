import ArbiterProtocol
import Testing
import Workbench

@Suite("Timelines of any width")
struct TimelineWidthTests {
    private static let widths = Array(20...400)

    /// Every cause, long and alike and wide names, graces, recordings, deadlines, and more changes than columns.
    private static func everything() -> Timeline {
        var story = handover()
        for (index, cause) in Cause.allCases.enumerated() {
            let name = "org.example.a-rather-long-name-\(index)"
            story.runs(name, 6000)
            story.interrupt(name, cause, 6000 + Int64(index) * 50, by: .app("照相机アプリ"))
        }
        story.runs("照相机アプリ", 6500)
        story.fact(.holder(camera: "back", "照相机アプリ"), 6500)
        story.event("照相机アプリ", .runtimeError(code: "device-stalled", message: "m"), 6600)
        story.builder.note(
            .deadline(camera: "back", .lease, due: Moment(nanoseconds: 18_000_000_000)),
            at: Moment(nanoseconds: 16_500_000_000))
        for step in 0..<200 {
            let at = 7000 + Int64(step) * 2
            story.interrupt("photos", .systemSleep, at, id: UInt64(2 + step))
            story.runs("photos", at + 1, grant: 9)
        }
        story.builder.note(
            .deadline(camera: "back", .lease, due: nil), at: Moment(nanoseconds: 18_000_000_000))
        return story.timeline(until: 8500)
    }

    @Test("No line is wider than asked, from 20 columns to 400, and colours change no width")
    func widths() {
        let timeline = Self.everything()
        for width in Self.widths {
            let lines = timeline.terminalLines(width: width, style: .plain)
            let tooWide = lines.first { shownColumns($0) > width }
            #expect(tooWide == nil, "at \(width): \(tooWide ?? "")")
            guard width % 20 == 0 else { continue }
            let coloured = timeline.terminalLines(width: width, style: TerminalStyle(hasColour: true))
            #expect(width < 60 || coloured.joined().contains("\u{1b}[32m━"), "at \(width)")
            #expect(coloured.map(withoutEscapes) == lines, "at \(width)")
        }
    }

    @Test("What is shortened in the picture is whole beneath it, at every width")
    func nothingIsLost() throws {
        let timeline = Self.everything()
        for width in Self.widths {
            let lines = timeline.terminalLines(width: width, style: .plain)
            let legend = try #require(lines.firstIndex(of: ""), "at \(width): no legend")
            // A name that is broken over lines is whole again without the line ends and indentation.
            let words = lines[legend...].joined().filter { $0 != " " }
            for lane in timeline.lanes where lane.kind == .app {
                #expect(words.contains(lane.name.filter { $0 != " " }), "at \(width): “\(lane.name)” is nowhere whole")
            }
            for cause in Cause.allCases
            where timeline.lanes.contains(where: { $0.spans.contains { $0.state.reason == cause } }) {
                #expect(words.contains(cause.shortName), "at \(width): \(cause.shortName) is not explained")
            }
            // Each lane of the picture can be told from the others.
            let labels = lines[1..<legend].map { $0.prefix { $0 != " " } }.filter { !$0.isEmpty }
            #expect(Set(labels).count == labels.count, "at \(width): two lanes have one name among \(labels)")
        }
    }

    @Test("Causes are told apart without colours: each has a letter, and the legend has them all")
    func letters() {
        let lines = eachCause().terminalLines(width: 30, style: .plain)
        let letters = lines[1...Cause.allCases.count].compactMap { $0.split(separator: " ").dropFirst().first?.first }
        #expect(Set(letters).count == Cause.allCases.count)
        for (letter, cause) in zip(letters, Cause.allCases) {
            let explained = lines.firstIndex { $0.contains("\(letter)░ interrupted:") }
            #expect(explained != nil, "\(letter) is not explained")
            let words = explained.map { lines[$0..<min($0 + 2, lines.count)].joined(separator: " ") } ?? ""
            #expect(words.contains(cause.shortName), "“\(words)” does not name \(cause.shortName)")
        }
    }

    @Test("Something short at the beginning of an interruption leaves its letter where it shows")
    func coveredLetter() {
        var story = LiveStory()
        story.runs("photos")
        story.interrupt("photos", .systemSleep, 1)
        let lines = story.timeline(until: 1000).terminalLines(width: 20, style: .plain)
        #expect(lines[1] == "phot… ━Z░░░░░░░░░░░░")
    }

    @Test("A deadline is drawn while it runs, and its end says whether it ran out")
    func deadlines() {
        var story = LiveStory()
        story.runs("booth")
        let begin = Moment(nanoseconds: 10_000_000_000)
        story.builder.note(.deadline(camera: "front", .lease, due: begin + .seconds(4)), at: begin)
        story.builder.note(.deadline(camera: "front", .lease, due: nil), at: begin + .seconds(4))
        story.builder.note(
            .deadline(camera: "front", .confirmation, due: begin + .seconds(9)), at: begin + .seconds(5))
        story.builder.note(.deadline(camera: "front", .confirmation, due: nil), at: begin + .seconds(6))
        story.fact(.holder(camera: "front", "booth"), 6000)
        let lines = story.timeline(until: 8000).terminalLines(width: 55, style: .plain)
        #expect(lines[3] == "  lease         ╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍┫")
        #expect(lines[4] == "  confirmation                          ╍╍╍╍╍")
        #expect(lines.contains("  front lease  0s  due 4s, ran out"))
        #expect(lines.contains("  front confirmation  5s  due 9s, confirmed at 6s"))
    }

    /// Chinese and Japanese characters are two columns wide.
    private func shownColumns(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + ((0x3041...0x9FFF).contains($1.value) ? 2 : 1) }
    }
}
