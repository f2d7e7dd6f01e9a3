/// Names of apps and cameras as a desktop shows them. They come from programs, which may call themselves what they like.
enum ShownText {
    /// A line of a menu or a notification has room for this, and a name that is longer hides what comes behind it.
    static let nameLengthMax = 60

    /// The name on one line: without what a terminal or a text's direction could be changed with, and cut.
    static func name(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            // Among the formats are those that reverse a text's direction.
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: shown.append(" ")
            default: shown.append(scalar)
            }
        }
        let name = String(shown)
        guard name.count > nameLengthMax else { return name }
        return name.prefix(nameLengthMax - 1) + "…"
    }

    /// For tooltips and notifications, whose text may have markup.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
