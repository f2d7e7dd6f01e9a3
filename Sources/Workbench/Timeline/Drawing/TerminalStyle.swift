/// Colours for a terminal, or none. Shapes say the same without colour.
public struct TerminalStyle: Hashable, Sendable {
    public var hasColour: Bool
    public init(hasColour: Bool) { self.hasColour = hasColour }

    /// SGR codes of the sixteen colours every terminal has, so that a user's theme stays in force.
    enum Ink: String {
        case green = "32"
        case yellow = "33"
        case red = "31"
        case blue = "34"
        case magenta = "35"
        case cyan = "36"
        case brightRed = "91"
        case faint = "2"
        case bold = "1"
    }

    func paint(_ text: String, _ ink: Ink?) -> String {
        guard hasColour, let ink, !text.isEmpty else { return text }
        return "\u{1b}[\(ink.rawValue)m\(text)\u{1b}[0m"
    }
}
