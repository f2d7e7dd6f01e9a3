/// HTML that is safe to show. Text becomes markup only by being escaped, so that no name in a policy, a scenario or a
/// trace is ever more than words on the page.
public struct Markup: Sendable {
    public let html: String

    /// Words, escaped; control characters as pictures of themselves.
    init(_ words: String) { html = words.escaped }

    init(drawn svg: String) { html = svg }

    fileprivate init(_ parts: [Markup]) { html = parts.map(\.html).joined() }
}

@resultBuilder enum MarkupBuilder {
    static func buildExpression(_ words: String) -> Markup { Markup(words) }
    static func buildExpression(_ markup: Markup) -> Markup { markup }
    static func buildExpression(_ markup: [Markup]) -> Markup { Markup(markup) }
    static func buildBlock(_ parts: Markup...) -> Markup { Markup(parts) }
    static func buildOptional(_ part: Markup?) -> Markup { part ?? Markup("") }
    static func buildEither(first: Markup) -> Markup { first }
    static func buildEither(second: Markup) -> Markup { second }
    static func buildArray(_ parts: [Markup]) -> Markup { Markup(parts) }
}

func markup(@MarkupBuilder _ content: () -> Markup) -> Markup { content() }

/// An element's attributes; one without a value is nil.
typealias Attributes = KeyValuePairs<StaticString, String?>

func html(
    _ name: StaticString, _ attributes: Attributes = [:], @MarkupBuilder content: () -> Markup = { Markup("") }
) -> Markup { markup { Markup(drawn: "\(html(empty: name, attributes).html)\(content().html)</\(name)>") } }

func html(empty name: StaticString, _ attributes: Attributes) -> Markup {
    let words = attributes.map { name, value in value.map { " \(name)=\"\($0.escaped)\"" } ?? " \(name)" }
    return Markup(drawn: "<\(name)\(words.joined())>")
}

func table(_ caption: String, _ names: [String], numbers: [String] = [], rows: [Markup]) -> Markup {
    html("table") {
        html("caption") { caption }
        html("thead") {
            html("tr") {
                names.map { name in html("th", ["scope": "col"]) { name } }
                numbers.map { name in html("th", ["scope": "col", "class": "number"]) { name } }
            }
        }
        html("tbody") { rows }
    }
}

func row(_ attributes: Attributes = [:], head: Markup, _ cells: [Markup] = [], numbers: [String] = []) -> Markup {
    html("tr", attributes) {
        html("th", ["scope": "row"]) { head }
        cells.map { cell in html("td") { cell } }
        numbers.map { number in html("td", ["class": "number"]) { number } }
    }
}

func list<Items: Sequence>(
    _ items: Items, _ style: String? = nil, @MarkupBuilder item: (Items.Element) -> Markup
) -> Markup {
    html("ul", style.map { ["class": $0] } ?? [:]) { items.map { one in html("li") { item(one) } } }
}

func soft(_ words: String) -> Markup { html("p", ["class": "soft"]) { words } }

func details(_ summary: String, _ style: String? = nil, @MarkupBuilder content: () -> Markup) -> Markup {
    let content = content()
    return html("details", style.map { ["class": $0] } ?? [:]) {
        html("summary") { summary }
        content
    }
}

/// Lines as they are, which scroll by keyboard as well.
func listing(_ lines: [String], _ label: String? = nil) -> Markup {
    html("pre", label.map { ["tabindex": "0", "aria-label": $0] } ?? ["tabindex": "0"]) {
        lines.joined(separator: "\n")
    }
}

/// Content that may be wider than a telephone: it scrolls by itself, by keyboard as well.
func region(_ label: String, _ style: String = "wide", @MarkupBuilder content: () -> Markup) -> Markup {
    html("div", ["class": style, "role": "region", "tabindex": "0", "aria-label": label], content: content)
}

extension Markup {
    /// The style sheet and scripts of this program; the page's security policy lets them run by `nonce`.
    static func style(_ text: String, nonce: String) -> Markup {
        Markup(drawn: "<style nonce=\"\(nonce.escaped)\">\n\(text)</style>\n")
    }

    static func script(_ text: String, nonce: String) -> Markup {
        Markup(drawn: "<script nonce=\"\(nonce.escaped)\">\n\(text)</script>\n")
    }

    static func document(title: String, head: Markup, body: Markup) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title.escaped)</title>
        \(head.html)</head>
        \(body.html)
        </html>

        """
    }
}

extension String {
    fileprivate var escaped: String {
        var safe = ""
        safe.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            switch scalar {
            case "&": safe += "&amp;"
            case "<": safe += "&lt;"
            case ">": safe += "&gt;"
            case "\"": safe += "&quot;"
            case "'": safe += "&#39;"
            case "\n", "\t": safe.unicodeScalars.append(scalar)
            // The control pictures stand in the same order.
            case "\0"..."\u{1f}": safe.unicodeScalars.append(Unicode.Scalar(0x2400 + scalar.value) ?? "?")
            // The other controls, the marks that turn the direction of text around, and two that are no characters.
            case "\u{7f}"..."\u{9f}", "\u{200e}", "\u{200f}", "\u{202a}"..."\u{202e}", "\u{2066}"..."\u{2069}",
                "\u{fffe}", "\u{ffff}":
                safe += "\u{fffd}"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }
}

enum PageFiles {
    static let style = text(PackageResources.page_css) + Timeline.svgStyle
    static let reportScript = text(PackageResources.report_js)
    static let playScript = text(PackageResources.play_js)
    static let sharedDrawing = Timeline.svgShared

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
