import Arbiter
import TomlFile
import Vocabulary

extension PolicyReader {
    /// What stands for all formats that no key names.
    static let otherFormats = "other"

    /// A number, or numbers by format: `{ "1920x1080@30" = 60, "1280x720@30 YUYV" = 45, other = 25 }`.
    func cost(_ camera: TableReader) -> CameraCost {
        guard let entry = camera.entry("cost"), case .table(let table) = entry.node.value else {
            return CameraCost(camera.integer("cost", in: Bounds.cost) ?? 0)
        }
        let reader = TableReader(table, owner: "in the cost \(camera.owner)", problems: problems)
        var formats: [CameraCost.Format] = []
        var other: Int?
        guard table.entries.count <= Bounds.costFormatsMax + 1 else {
            problems.add(
                "\(camera.subject("cost")) has \(table.entries.count) keys; it takes at most \(Bounds.costFormatsMax) formats and \"\(Self.otherFormats)\"",
                at: entry.keyPlace)
            return 0
        }
        for member in table.entries {
            let cost = reader.integer(member.key, in: Bounds.cost)
            if member.key == Self.otherFormats {
                other = cost
                continue
            }
            guard var format = CameraCost.Format(key: member.key) else {
                problems.add(
                    "\(Wording.quoted(member.key)) in the cost \(camera.owner) is no format; it takes WIDTHxHEIGHT@FPS, a pixel format behind it if that matters, or \"\(Self.otherFormats)\"",
                    at: member.keyPlace, hint: Self.formatMeant(by: member.key))
                continue
            }
            format.cost = cost ?? 0
            if formats.contains(where: { $0.key == format.key }) {
                problems.add(
                    "the cost \(camera.owner) names the format \(Wording.quoted(format.key)) twice", at: member.keyPlace
                )
                continue
            }
            formats.append(format)
        }
        if table.entries.isEmpty {
            problems.add(
                "\(camera.subject("cost")) is an empty table; it takes a number, or formats such as \"1920x1080@30\"",
                at: entry.node.place)
        }
        return CameraCost(formats: formats, other: other)
    }

    /// `420v 1280x720@30` is what a camera calls it, with the pixel format first; and a rate is easily left out.
    private static func formatMeant(by key: String) -> String {
        let words = key.split(separator: " ")
        var tries = ["\(key)@30"]
        if words.count == 2 {
            tries = ["\(words[1]) \(words[0])", "\(words[1])@30 \(words[0])", "\(words[0])@30 \(words[1])"]
        }
        if let meant = tries.first(where: { CameraCost.Format(key: $0) != nil }) {
            return "did you mean \(Wording.quoted(meant))?"
        }
        let near = Wording.didYouMean(key, among: [otherFormats])
        return near.isEmpty ? "camclient formats CAMERA lists them" : near
    }
}

extension CameraCost.Format {
    /// - Returns: nil for what is no format's key.
    init?(key: String) {
        let words = key.split(separator: " ", omittingEmptySubsequences: false)
        guard (1...2).contains(words.count) else { return nil }
        let parts = words[0].split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let sides = parts[0].split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, let width = Self.side(sides[0]), let height = Self.side(sides[1]),
            let rate = Self.rate(parts[1])
        else { return nil }
        if words.count == 2 {
            // A code of four characters, as V4L2 and Apple have them.
            guard (1...4).contains(words[1].utf8.count), Bounds.isWord(String(words[1])) else { return nil }
        }
        self.init(
            width: width, height: height, frameRate: rate, pixelFormat: words.count == 2 ? String(words[1]) : nil,
            cost: 0)
    }

    private static func side(_ text: Substring) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let side = Int(text),
            Bounds.formatSide.contains(side)
        else { return nil }
        return side
    }

    private static func rate(_ text: Substring) -> Double? {
        let isPlain = text.utf8.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
        }
        guard isPlain, text.utf8.count <= Bounds.frameRateBytesMax, let rate = Double(text), rate > 0,
            rate <= Bounds.frameRateMax
        else { return nil }
        return rate
    }
}
