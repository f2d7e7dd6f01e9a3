import Timeline

/// The style sheet and the scripts, as they stand in the folder `Page`.
enum PageFiles {
    static let style = text(PackageResources.page_css) + Timeline.svgStyle
    static let reportScript = text(PackageResources.report_js)
    static let playScript = text(PackageResources.play_js)
    static let sharedDrawing = Timeline.svgShared

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
