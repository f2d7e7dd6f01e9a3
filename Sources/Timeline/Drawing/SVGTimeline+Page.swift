import ArbiterProtocol

/// The picture as a part of a page that has several of them.
extension Timeline {
    /// Where on the page stands why a span began.
    public struct Link: Sendable {
        /// The id of an element of the page.
        public var target: String
        public var words: String

        public init(target: String, words: String) {
            self.target = target
            self.words = words
        }
    }

    /// The picture as an element, without what all pictures of a page share (`svgShared`, `svgStyle`) and without the words
    /// beneath it, for which a page has better places.
    /// - Parameters:
    ///   - id: no other element's.
    ///   - link: why a span began; asked for each that is drawn. A link can be reached by keyboard, and needs no script.
    public func svgElement(
        id: String, title: String, link: @escaping (Lane, Span) -> Link? = { _, _ in nil }
    ) -> String { SVGDrawing(timeline: self, title: title, link: link).element(id: id) }

    /// The hatchings, once in a page, before the first picture.
    public static var svgShared: String {
        """
        <svg width="0" height="0" class="shared" aria-hidden="true" focusable="false"><defs>
        \(SVGPalette.patterns(causes: Cause.allCases))</defs></svg>

        """
    }

    /// The rules of a page's style sheet for its pictures.
    public static var svgStyle: String { "svg.timeline {\n\(SVGPalette.style)\n}\n" }
}

extension SVGDrawing {
    func element(id: String) -> String {
        let (body, height) = plot()
        // A page has its own heading where a document has its title, in as many px.
        let above = noteGroups.isEmpty ? 54.0 : 34.0
        return """
            <svg class="timeline" viewBox="0 \(above.px) \(width.px) \((height + 12 - above).px)" role="group" \
            aria-labelledby="\(id.xml)-title \(id.xml)-desc">
            <title id="\(id.xml)-title">\(title.xml)</title>
            <desc id="\(id.xml)-desc">\(description.xml)</desc>
            \(body)</svg>

            """
    }
}
