import Arbiter
import TomlFile
import Vocabulary

extension Kind<CameraCost> {
    private static let otherFormats = "other"

    /// A number, or numbers by format: `{ "1920x1080@30" = 60, "1280x720@30 YUYV" = 45, other = 25 }`.
    static let cost = Kind(
        takes: "`0` to `1000000`, or `{ \"1920x1080@30\" = 60, \"1280x720@30 YUYV\" = 45, other = 90 }`",
        read: { reader, key, _ in
            guard let entry = reader.entry(key), case .table(let table) = entry.node.value else {
                return reader.integer(key, in: Bounds.cost).map { CameraCost($0) }
            }
            return costs(of: key, entry, table, reader)
        },
        // Always with the cost of other formats, so that nobody has to look for the dearest.
        write: { cost, _ in
            if !cost.isByFormat { return "\(cost.other)" }
            let formats = cost.formats.map { "\(TomlText.quoted($0.key)) = \($0.cost)" }
            return TomlText.inline(formats + ["\(otherFormats) = \(cost.other)"])
        },
        fewer: { cost in
            cost.formats.withoutOne.map { formats in
                formats.isEmpty ? CameraCost(cost.other) : CameraCost(formats: formats, other: cost.other)
            }
        })

    private static func costs(
        of key: String, _ entry: TomlTable.Entry, _ table: TomlTable, _ camera: TableReader
    ) -> CameraCost {
        let reader = TableReader(table, owner: "in the \(key) \(camera.owner)", problems: camera.problems)
        var formats: [CameraCost.Format] = []
        var other: Int?
        guard table.entries.count <= Bounds.costFormatsMax + 1 else {
            camera.complain(
                key,
                "has \(table.entries.count) keys; it takes at most \(Bounds.costFormatsMax) formats and \"\(otherFormats)\"",
                atKey: true)
            return 0
        }
        for member in table.entries {
            let cost = reader.integer(member.key, in: Bounds.cost)
            if member.key == otherFormats {
                other = cost
            } else if var format = format(member, reader) {
                format.cost = cost ?? 0
                if formats.contains(where: { $0.key == format.key }) {
                    reader.problems.add(
                        "the \(key) \(camera.owner) names the format \(Wording.quoted(format.key)) twice",
                        at: member.keyPlace)
                } else {
                    formats.append(format)
                }
            }
        }
        if table.entries.isEmpty {
            camera.complain(key, "is an empty table; it takes a number, or formats such as \"1920x1080@30\"")
        }
        return CameraCost(formats: formats, other: other)
    }

    private static func format(_ member: TomlTable.Entry, _ reader: TableReader) -> CameraCost.Format? {
        if let format = CameraCost.Format(key: member.key) { return format }
        reader.problems.add(
            "\(Wording.quoted(member.key)) \(reader.owner) is not a format; it takes WIDTHxHEIGHT@FPS, a pixel format behind it if that matters, or \"\(otherFormats)\"",
            at: member.keyPlace, hint: formatMeant(by: member.key))
        return nil
    }

    /// `420v 1280x720@30` is a camera's name for it, with the pixel format first; and a rate is easily left out.
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
