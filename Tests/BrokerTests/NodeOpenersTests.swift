import Broker
import Loop
import Testing

@Suite("How many programs have a camera's node open")
struct NodeOpenersTests {
    @Test("A program that opens it counts until it closes it, also one that had it open before the watch began")
    func counted() {
        var openers = NodeOpeners()
        openers.take(OpenNews(opened: 2), atMost: nil)
        #expect(openers.others == 2)
        openers.take(OpenNews(opened: 1, closed: 2), atMost: nil)
        #expect(openers.others == 1)
        openers.take(OpenNews(closed: 2), atMost: nil)
        #expect(openers.others == 0)
        openers.take(OpenNews(opened: 1), atMost: nil)
        #expect(openers.others == 1, "a close too many is forgotten")
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
    }

    @Test("Ours that was open before the watch began hides nobody")
    func before() {
        var openers = NodeOpeners(isOurs: true)
        #expect(openers.others == 0)
        openers.take(OpenNews(opened: 1), atMost: nil)
        #expect(openers.others == 1)
    }

    @Test("Two closes that the kernel told as one leave nobody behind where the driver says how many users it has")
    func merged() {
        var openers = NodeOpeners()
        openers.take(OpenNews(opened: 2), atMost: 2)
        openers.take(OpenNews(closed: 1), atMost: 0)
        #expect(openers.others == 0)
    }

    @Test("After news that the kernel did not keep, as many are there as there can be")
    func overflow() {
        var openers = NodeOpeners()
        openers.take(OpenNews(opened: 40, isIncomplete: true), atMost: 3)
        #expect(openers.others == 3)
        openers.take(OpenNews(isIncomplete: true), atMost: nil)
        #expect(openers.others == 0)
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
