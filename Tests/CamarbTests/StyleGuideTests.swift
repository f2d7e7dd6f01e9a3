import Camarb
import Foundation
import Testing

/// The example of `docs/style.md` §6, as the compiler sees it: it imports the client library and nothing else.
private struct Example {
    func show(_ reason: Cause?, until interrupter: Interrupter?) {}
    func hideBanner() {}
    func keep(_ recording: RecordingFinished) {}

    func run() async throws {
        // From here on it is the page's.
        try await CameraClient.connect().withSession(camera: "front") { session in
            try await session.startRunning()
            for await event in session.events {
                switch event {
                case .wasInterrupted(let interruption): show(interruption.reason, until: interruption.interrupter)
                case .interruptionEnded: hideBanner()
                case .recordingFinished(let recording): keep(recording)
                case .ended(let error): throw error
                default: break
                }
            }
        }
        // Up to here.
    }
}

@Suite struct StyleGuideTests {
    @Test("The example in docs/style.md §6 is the one that is compiled here")
    func theExampleIsTrue() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let here = try Self.lines(#filePath)
        let first = try #require(here.firstIndex { $0.hasSuffix("// From here on it is the page's.") })
        let last = try #require(here.firstIndex { $0.hasSuffix("// Up to here.") })
        let compiled = here[(first + 1)..<last].map { String($0.dropFirst(8)) }

        let page = try Self.lines(root.appending(path: "docs/style.md").path)
        let section = try #require(page.firstIndex(of: "## 6. The client library"))
        let begin = try #require(page[section...].firstIndex(of: "```swift"))
        let end = try #require(page[begin...].firstIndex(of: "```"))
        #expect(Array(page[(begin + 1)..<end]) == compiled)
    }

    private static func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n")
    }
}
