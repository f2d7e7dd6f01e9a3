/// HTML that is safe to show. Text becomes markup only by being escaped, so that no name in a policy, a scenario or a
/// trace is ever more than words on the page.
public struct Markup: Sendable {
    public private(set) var html: String

    /// Words, escaped; control characters as pictures of themselves.
    init(_ words: String) { html = words.escaped }

    init(drawn svg: String) { html = svg }

    fileprivate init(parts: [Markup]) { html = parts.map(\.html).joined() }

    fileprivate init(html: String) { self.html = html }
}

struct MarkupAttribute {
    private let name: StaticString
    private let value: String?

    static func set(_ name: StaticString, _ value: String? = nil) -> MarkupAttribute {
        MarkupAttribute(name: name, value: value)
    }
    static func id(_ value: String) -> MarkupAttribute { set("id", value) }
    static func style(_ names: String) -> MarkupAttribute { set("class", names) }
    /// Only within the page: it leads nowhere else.
    static func to(_ id: String) -> MarkupAttribute { set("href", "#\(id)") }

    fileprivate var html: String { value.map { " \(name)=\"\($0.escaped)\"" } ?? " \(name)" }
}

@resultBuilder enum MarkupBuilder {
    static func buildExpression(_ words: String) -> Markup { Markup(words) }
    static func buildExpression(_ markup: Markup) -> Markup { markup }
    static func buildExpression(_ markup: [Markup]) -> Markup { Markup(parts: markup) }
    static func buildBlock(_ parts: Markup...) -> Markup { Markup(parts: parts) }
    static func buildOptional(_ part: Markup?) -> Markup { part ?? Markup(html: "") }
    static func buildEither(first: Markup) -> Markup { first }
    static func buildEither(second: Markup) -> Markup { second }
    static func buildArray(_ parts: [Markup]) -> Markup { Markup(parts: parts) }
}

func html(
    _ name: StaticString, _ attributes: MarkupAttribute..., @MarkupBuilder content: () -> Markup = { Markup("") }
) -> Markup { html(name, attributes, content: content) }

private func html(
    _ name: StaticString, _ attributes: [MarkupAttribute], @MarkupBuilder content: () -> Markup
) -> Markup {
    Markup(html: "<\(name)\(attributes.map(\.html).joined())>\(content().html)</\(name)>")
}

func html(empty name: StaticString, _ attributes: MarkupAttribute...) -> Markup {
    Markup(html: "<\(name)\(attributes.map(\.html).joined())>")
}

func table(_ caption: String, _ names: [String], numbers: [String] = [], rows: [Markup]) -> Markup {
    html("table") {
        html("caption") { caption }
        html("thead") {
            html("tr") {
                names.map { name in html("th", .set("scope", "col")) { name } }
                numbers.map { name in html("th", .set("scope", "col"), .style("number")) { name } }
            }
        }
        html("tbody") { rows }
    }
}

func row(
    _ attributes: MarkupAttribute..., head: Markup, _ cells: [Markup] = [], numbers: [String] = []
) -> Markup {
    html("tr", attributes) {
        html("th", .set("scope", "row")) { head }
        cells.map { cell in html("td") { cell } }
        numbers.map { number in html("td", .style("number")) { number } }
    }
}

func list<Items: Sequence>(
    _ items: Items, _ attributes: MarkupAttribute..., @MarkupBuilder item: (Items.Element) -> Markup
) -> Markup {
    html("ul", attributes) { items.map { one in html("li") { item(one) } } }
}

func soft(_ words: String) -> Markup { html("p", .style("soft")) { words } }

func details(_ summary: String, _ attributes: MarkupAttribute..., @MarkupBuilder content: () -> Markup) -> Markup {
    let content = content()
    return html("details", attributes) {
        html("summary") { summary }
        content
    }
}

/// Lines as they are, which are scrolled by keyboard as well.
func listing(_ lines: [String], _ label: String? = nil) -> Markup {
    html("pre", [.set("tabindex", "0")] + (label.map { [.set("aria-label", $0)] } ?? [])) {
        lines.joined(separator: "\n")
    }
}

/// What may be wider than a telephone: it scrolls by itself, by keyboard as well.
func region(_ label: String, _ style: String = "wide", @MarkupBuilder content: () -> Markup) -> Markup {
    html(
        "div", .style(style), .set("role", "region"), .set("tabindex", "0"), .set("aria-label", label),
        content: content)
}

func markup(@MarkupBuilder _ content: () -> Markup) -> Markup { content() }

extension Markup {
    /// The style sheet and scripts of this program; `nonce` is what the page's security policy lets them run by.
    static func style(_ text: String, nonce: String) -> Markup {
        Markup(html: "<style nonce=\"\(nonce.escaped)\">\n\(text)</style>\n")
    }

    static func script(_ text: String, nonce: String) -> Markup {
        Markup(html: "<script nonce=\"\(nonce.escaped)\">\n\(text)</script>\n")
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
            // The control pictures stand in the same order; a page shows what is there and does not obey it.
            case "\0"..."\u{1f}": safe.unicodeScalars.append(Unicode.Scalar(0x2400 + scalar.value) ?? "?")
            // The other controls, the marks that turn the direction of text around, and what is no character.
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
