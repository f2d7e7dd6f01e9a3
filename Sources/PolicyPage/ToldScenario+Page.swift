import ArbiterProtocol
import Timeline

extension ToldScenario {
    /// The picture, its reasons, and the text, as a part of a page.
    /// - Parameter id: no other's on the page.
    func shown(id: String, heading: String? = nil) -> Markup {
        html("div", .style("told"), .id(id)) {
            if let heading { html("h4") { heading } }
            if !broken.isEmpty {
                html("ul", .style("marks bad")) { broken.map { words in html("li") { "Broken: \(words)" } } }
            }
            picture(id: id, label: heading ?? title)
            reasonList(id: id)
            html("details") {
                html("summary") { "The scenario, with what it leads to" }
                html("pre", .set("tabindex", "0"), .set("aria-label", "The scenario")) {
                    lines.joined(separator: "\n")
                }
            }
        }
    }

    func picture(id: String, label: String) -> Markup {
        let svg = timeline.svgElement(id: "\(id)-picture", title: "\(label), under \(policy)") { lane, span in
            guard let (reason, words) = reason(of: lane.name, at: span.begin) else { return nil }
            return Timeline.Link(target: "\(id)-decision-\(reason.decision)", words: words)
        }
        return markup {
            if timeline.lanes.isEmpty {
                html("p", .style("soft")) { "Nobody asked for a camera, so there is nothing to draw." }
            } else {
                // Wider than a telephone: it scrolls by itself, by keyboard as well.
                html("div", .style("wide"), .set("role", "region"), .set("tabindex", "0"), .set("aria-label", label)) {
                    Markup(drawn: svg)
                }
                html(
                    "p", .style("why"),
                    .set("data-hint", "Point at a span, or go to it by Tab: why it began stands here.")
                ) {
                    ""
                }
            }
        }
    }

    func reasonList(id: String) -> Markup {
        markup {
            if !reasons.isEmpty {
                html("details", .style("reasons")) {
                    html("summary") { "Why: \(count(reasons.count, "decision")), one by one" }
                    html("ol") { reasons.map { item($0, id) } }
                    if reasonsLeftOut > 0 {
                        html("p", .style("soft")) { "\(count(reasonsLeftOut, "more decision")) left out." }
                    }
                }
            }
        }
    }

    private func item(_ reason: Reason, _ id: String) -> Markup {
        html("li", .id("\(id)-decision-\(reason.decision)"), .set("tabindex", "-1")) {
            html("p") {
                html("b") { "at \(TimeText.write(reason.moment))" }
                " "
                html("code") { reason.event }
            }
            reason.verdicts.map { verdict in
                html("div", .style("verdict")) {
                    html("p") { verdict.words }
                    if !verdict.read.isEmpty {
                        html("p", .style("soft")) { "Facts read: \(verdict.read.joined(separator: ", "))" }
                    }
                    if verdict.changes.isEmpty {
                        html("p", .style("soft")) {
                            "Nothing found that would have changed it; tried: \(verdict.searched)."
                        }
                    } else {
                        html("p", .style("soft")) {
                            "It would have gone the other way with: \(verdict.changes.joined(separator: "; or "))"
                        }
                    }
                }
            }
            if reason.verdictsLeftOut > 0 {
                html("p", .style("soft")) { "And \(count(reason.verdictsLeftOut, "more session"))." }
            }
        }
    }
}

/// `1 decision`, `1,234 decisions`.
func count(_ number: Int, _ what: String) -> String { "\(grouped(number)) \(what)\(number == 1 ? "" : "s")" }

/// `1234567` as `1,234,567`.
func grouped(_ number: Int) -> String {
    var text = ""
    for (place, digit) in String(number).reversed().enumerated() {
        if place > 0, place % 3 == 0, digit != "-" { text.append(",") }
        text.append(digit)
    }
    return String(text.reversed())
}
