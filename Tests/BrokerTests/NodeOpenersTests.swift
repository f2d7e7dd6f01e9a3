import Broker
import System
import Testing

@Suite("How many programs have a camera's node open")
struct NodeOpenersTests {
    private func check(_ begun: NodeOpeners, _ steps: (OpenNews, atMost: Int?, others: Int)...) {
        var openers = begun
        for (news, atMost, others) in steps {
            openers.take(news, atMost: atMost)
            #expect(openers.others == others, "\(news)")
        }
    }

    @Test("A program that opens it counts until it closes it, also one that had it open before the watch began")
    func counted() {
        check(
            NodeOpeners(), (OpenNews(opened: 2), atMost: nil, others: 2), (OpenNews(opened: 1, closed: 2), nil, 1),
            (OpenNews(closed: 2), nil, 0),
            (OpenNews(opened: 1), nil, 1))
    }

    @Test("What our own recorder core has open is nobody else's")
    func ours() {
        var openers = NodeOpeners()
        openers.isOurs = true
        openers.take(OpenNews(opened: 1), atMost: nil)
        #expect(openers.others == 0)
        openers.take(OpenNews(opened: 1), atMost: nil)
        #expect(openers.others == 1)
        openers.take(OpenNews(closed: 1), atMost: nil)
        openers.isOurs = false
        #expect(openers.others == 1, "it is not known whose was closed; ours is open no more")
        // Our own file that was open before the watch began hides no other.
        check(NodeOpeners(isOurs: true), (OpenNews(), nil, 0), (OpenNews(opened: 1), nil, 1))
    }

    @Test("Two closes that the kernel told as one, and news that it did not keep, leave as many as there can be")
    func merged() {
        check(NodeOpeners(), (OpenNews(opened: 2), 2, 2), (OpenNews(closed: 1), 0, 0))
        check(
            NodeOpeners(), (OpenNews(opened: 40, isIncomplete: true), 3, 3), (OpenNews(isIncomplete: true), nil, 0))
    }

    @Test("News that come in parts are held against what is so now when the last part is there")
    func parts() {
        var openers = NodeOpeners()
        openers.take(OpenNews(opened: 2, isIncomplete: true, hasMore: true), atMost: 1)
        #expect(openers.others == 2)
        openers.bound(atMost: 1)
        openers.take(OpenNews(closed: 1), atMost: 1)
        #expect(openers.others == 1, "as many as there can be, since some were lost")
        // A look's own opening and closing, with a part's end between them.
        openers.take(OpenNews(opened: 1, hasMore: true), atMost: 1)
        openers.bound(atMost: 1)
        openers.take(OpenNews(closed: 1), atMost: 1)
        #expect(openers.others == 1)
    }
}
