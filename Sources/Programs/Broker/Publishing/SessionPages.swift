import ArbiterProtocol
import Bus

/// Pages of sessions that were made since the last step: many clients that ask for a status cost one of them. A page
/// depends on nothing but the core's state and on what the asker may know, so that it holds until the next step.
struct SessionPages {
    /// Sessions of a page: one or two milliseconds to make and to send (256 took ten under load), and more than a desktop has.
    static let sessionsMax = 64
    /// Pages that are kept. Enough for the status lines of a few users, or one client that reads all pages.
    static let pagesMax = 8

    enum Audience: Hashable {
        case everything
        case user(UInt32)
    }

    final class Page {
        let sessions: [SessionStatus]
        let hasMore: Bool
        /// The sessions as they lie in a message; there from the first one on.
        private var written: MessageWriter.Part?

        init(sessions: [SessionStatus], hasMore: Bool) {
            self.sessions = sessions
            self.hasMore = hasMore
        }

        func write(to writer: inout MessageWriter) {
            writer.append(kept: &written) { writer in writer.append(each: sessions) }
        }
    }

    private struct Key: Hashable {
        var audience: Audience
        var last: SessionID
    }

    private var pages: [(key: Key, page: Page)] = []
    private var step: UInt64 = 0

    func find(_ audience: Audience, after last: SessionID, step: UInt64) -> Page? {
        guard step == self.step else { return nil }
        let key = Key(audience: audience, last: last)
        return pages.first { $0.key == key }?.page
    }

    mutating func keep(_ page: Page, _ audience: Audience, after last: SessionID, step: UInt64) {
        if step != self.step {
            pages = []
            self.step = step
        }
        // The oldest goes: nobody comes back to a page.
        if pages.count >= Self.pagesMax { pages.removeFirst() }
        pages.append((Key(audience: audience, last: last), page))
    }
}
