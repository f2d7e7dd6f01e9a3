import ArbiterProtocol
import Foundation
import FoundationXML
import Testing
import Workbench

@Suite("Timelines as SVG")
struct SVGTests {
    /// A life of so many events, on so many lanes, each with a long name.
    private func life(_ events: Int, lanes: Int) -> Timeline {
        var story = LiveStory()
        let causes = Cause.allCases
        for index in 0..<events {
            let name = "org.example.app-number-\(index % lanes)"
            let at = Int64(index) * 100
            switch index / lanes % 4 {
            case 0: story.builder.note(.didStartRunning(GrantID(1)), lane: name, at: moment(at))
            case 1: story.builder.note(.recordingStarted(UInt64(index)), lane: name, at: moment(at))
            case 2:
                story.builder.note(
                    .wasInterrupted(
                        Interruption(
                            id: UInt64(index), causes: CauseSet([causes[index % causes.count]]),
                            interrupter: .app("call & co"),
                            recording: UInt64(index), rule: "r")), lane: name, at: moment(at))
            default: story.builder.note(.note("place <somebody> \(index)"), at: moment(at))
            }
        }
        return story.builder.timeline(until: moment(Int64(events) * 100))
    }

    private func moment(_ milliseconds: Int64) -> Moment {
        Moment(nanoseconds: 10_000_000_000 + milliseconds * 1_000_000)
    }

    @Test(
        "It is valid XML with a title, a description, and no text over another, however much happened",
        arguments: [(1, 1), (40, 3), (400, 5), (10_000, 8), (10_000, 100), (60, 60)])
    func whole(events: Int, lanes: Int) throws {
        let svg = life(events, lanes: lanes).svg(title: "A & B <C>, \"quoted\"")
        let reader = try SVGReader(svg)
        #expect(reader.texts.contains { $0.text == "A & B <C>, \"quoted\"" })
        #expect(svg.contains("<title id=\"title\">A &amp; B &lt;C&gt;, &quot;quoted&quot;</title>"))
        #expect(svg.contains("<desc id=\"desc\">"))
        let overlap = reader.overlap()
        #expect(overlap == nil, "\(overlap ?? "")")
        let outside = reader.texts.first { $0.left < 0 || $0.right > 1000 }
        #expect(outside == nil, "“\(outside?.text ?? "")” leaves the picture")
    }

    @Test("It names every lane, cause, recording and note, is white on paper, and fetches and runs nothing")
    func parts() throws {
        let svg = handover().timeline(until: 6000).svg()
        for part in [
            ">photos</text>", ">call</text>", ">front</text>", "interrupted #1: device-in-use by call, 2s to 4s",
            "interrupted: device-in-use</text>", "restricted: multiple-foreground-apps</text>",
            "recording 1: interrupted after 1.5s, 45 frames", "told to yield: device-in-use, due 2.5s, over at 2s",
            "2  5s  place notes slide-over", "<rect class=\"paper\" width=\"1000\"",
            "@media screen and (prefers-color-scheme: dark)", "@media print { .paper { fill: #ffffff; } }",
        ] { #expect(svg.contains(part), "\(part)") }
        for foreign in ["<script", "@import", "href", "url(http"] { #expect(!svg.contains(foreign), "\(foreign)") }
    }

    @Test("Ten thousand events make no more than a few megabytes, and what is left out is counted")
    func bounded() throws {
        let svg = life(10_000, lanes: 100).svg()
        #expect(svg.utf8.count < 4_000_000)
        let texts = try SVGReader(svg).texts.map(\.text)
        #expect(texts.contains("… and 40 more lanes, which are not drawn"))
        #expect(texts.contains { $0.hasPrefix("… and ") && $0.hasSuffix(" more") })
    }

    @Test("Each cause has a hatching of its own, beside its colour and its letter")
    func hatchings() throws {
        let svg = eachCause().svg()
        let patterns = svg.split(separator: "\n").filter { $0.hasPrefix("<pattern") }
        let shapes = patterns.map { pattern in
            // The colour and the name do not count.
            pattern.replacing(/fill="#[0-9a-f]+"/, with: "").replacing(/id="[a-z0-9-]+"/, with: "")
        }
        #expect(patterns.count == Cause.allCases.count + 1)
        #expect(Set(shapes).count == shapes.count)
        let texts = try SVGReader(svg).texts.map(\.text)
        for cause in Cause.allCases { #expect(texts.contains("interrupted: \(cause.shortName)")) }
        #expect(Set(texts.filter { $0.count == 1 }).count >= Cause.allCases.count)
    }

}

/// The texts of an SVG document, with the room that they take.
final class SVGReader: NSObject, XMLParserDelegate {
    struct Text {
        var text = ""
        var left = 0.0
        var right = 0.0
        var baseline = 0.0
        var size = 12.0
        var anchor = ""
    }
    private(set) var texts: [Text] = []
    private var open: Text?
    private var isInTitle = false

    /// A character of the sans fonts, on average, as a share of its size.
    private static let narrow = 0.58

    init(_ svg: String) throws {
        super.init()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = self
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.formatting) }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        if name == "title" { isInTitle = true }
        guard name == "text" else { return }
        let style = attributes["class"] ?? ""
        let x = Double(attributes["x"] ?? "") ?? 0
        let anchors = ["lane": "end", "tick": "middle", "label": "middle", "number": "middle"]
        open = Text(
            left: x, right: x, baseline: Double(attributes["y"] ?? "") ?? 0,
            size: ["small": 10, "number": 10, "tick": 11][style] ?? 12, anchor: anchors[style] ?? "start")
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if !isInTitle { open?.text += string }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        if name == "title" { isInTitle = false }
        guard name == "text", var text = open else { return }
        let width = Double(text.text.count) * text.size * Self.narrow
        switch text.anchor {
        case "end": text.left -= width
        case "middle": (text.left, text.right) = (text.left - width / 2, text.left + width / 2)
        default: text.right += width
        }
        texts.append(text)
        open = nil
    }

    /// Two texts that lie over each other.
    func overlap() -> String? {
        let sorted = texts.sorted { ($0.baseline, $0.left) < ($1.baseline, $1.left) }
        for (index, one) in sorted.enumerated() {
            for other in sorted[(index + 1)...] {
                // Lines of one size whose baselines are this far apart do not touch.
                if other.baseline - one.baseline >= other.size * 0.8 { break }
                if one.left < other.right - 0.5, other.left < one.right - 0.5 {
                    return "“\(one.text)” and “\(other.text)” at \(one.left), \(one.baseline)"
                }
            }
        }
        return nil
    }
}
