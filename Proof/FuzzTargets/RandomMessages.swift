import Bus

/// Messages of all types that D-Bus has, written by the `Marshaller`, and the same with bytes changed.
package struct RandomMessages {
    private var state: UInt64
    private var changedCount = 0
    private var takenCount = 0

    package init(_ seed: UInt64) { state = seed }

    private mutating func number(below most: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(truncatingIfNeeded: (state >> 33) % UInt64(most))
    }

    private mutating func type(_ depth: Int) -> String {
        let basic = Array("ybnqiuxtdsog")
        switch number(below: depth > 3 ? 6 : 10) {
        case 0..<6: return String(basic[number(below: basic.count)])
        case 6: return "v"
        case 7: return "a" + type(depth + 1)
        case 8: return "a{\(basic[number(below: basic.count)])\(type(depth + 1))}"
        default: return "(\((0...number(below: 3)).map { _ in type(depth + 1) }.joined()))"
        }
    }

    package mutating func next() -> [UInt8] {
        let isBig = number(below: 2) == 1
        let types = (0..<number(below: 4)).map { _ in type(0) }
        var body = Marshaller(bigEndian: isBig)
        for type in types { body.append(type) { most in number(below: most) } }
        let kind = [1, 1, 4][number(below: 3)]
        return Marshaller.message(
            kind: UInt8(kind), flags: UInt8(number(below: 4)), serial: UInt32(1 + number(below: 1 << 20)),
            path: ["/", "/a", "/org/camarb/session_7"][number(below: 3)],
            interface: kind == 1 && number(below: 3) == 0 ? "" : "org.camarb.Test", member: "Take",
            signature: types.joined(), body: body.bytes, bigEndian: isBig)
    }

    /// Whether both readers take it, as the same, with its body.
    package func isTaken(_ message: [UInt8]) -> Bool {
        SecondReader.compare(message)
        guard var reader = (try? MessageHead(message))?.reader else { return false }
        while reader.letter != nil { guard (try? reader.skip()) != nil else { return false } }
        return true
    }

    package mutating func changed(_ message: [UInt8]) -> [UInt8] {
        var message = message
        for _ in 0...number(below: 2) {
            let place = number(below: message.count)
            // Lengths stay as they are: the message would end elsewhere.
            if (4..<8).contains(place) || (12..<16).contains(place) { continue }
            let values = [
                0, 1, 255, message[number(below: message.count)], message[place] ^ 1, UInt8(number(below: 256)),
            ]
            message[place] = values[number(below: values.count)]
        }
        changedCount += 1
        if (try? MessageHead(message)) != nil { takenCount += 1 }
        return message
    }

    package var takenShare: Double { Double(takenCount) / Double(max(1, changedCount)) }
}
