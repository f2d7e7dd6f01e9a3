/// Text from outside, made fit to show: programs choose their names freely.
extension String {
    /// Without characters that steer a terminal, which could move a cursor, and those that turn a text's direction
    /// around.
    /// - Parameter mark: in the place of each of these.
    package func printable(_ mark: Unicode.Scalar) -> String {
        // Nearly every name, of which a table of traces has millions.
        if utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return self }
        var safe = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: safe.append(mark)
            default: safe.append(scalar)
            }
        }
        return String(safe)
    }

    package var printable: String { printable("?") }

    /// For XML and its like: the signs of markup by their names.
    /// - Parameter inAttribute: within double quotes, too.
    package func markupEscaped(inAttribute: Bool = false) -> String {
        var safe = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": safe += "&amp;"
            case "<": safe += "&lt;"
            case ">": safe += "&gt;"
            case "\"" where inAttribute: safe += "&quot;"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }
}
