import ArbiterProtocol
import RecorderCore
import Testing

@Suite struct MetadataGroupsTests {
    private static let tracks = [
        MetadataTrack(kind: "location", type: .iso6709), MetadataTrack(kind: "note", type: .text),
        MetadataTrack(kind: "orientation", type: .orientation), MetadataTrack(kind: "speed", type: .number),
    ]

    /// One group alone.
    private func take(_ kind: String, _ items: [String]) throws(BrokerError) -> String {
        var groups = MetadataGroups(Self.tracks)
        return try groups.take(kind: kind, time: 5, items: items, arrivedAt: 0)
    }

    private func refused(_ kind: String, _ items: [String]) -> BrokerError? {
        #expect(throws: BrokerError.self) { try take(kind, items) }
    }

    @Test(
        "A group becomes a sample: texts and places in quotes, numbers as numbers, and nothing for none from here on",
        arguments: [
            ("note", [], #"{"items":[]}"#),
            ("note", ["a \"b\"\n", "ä"], #"{"items":["a \"b\"\n","ä"]}"#),
            ("location", ["+48.2082+016.3738/"], #"{"items":["+48.2082+016.3738/"]}"#),
            ("speed", ["1", "-2.5", "3e2"], #"{"items":[1,-2.5,300]}"#),
        ])
    func samples(_ kind: String, _ items: [String], _ sample: String) throws {
        #expect(try take(kind, items) == sample)
    }

    @Test(
        "A place is written as ISO 6709 says",
        arguments: [
            "+48.2082+016.3738/", "+00-025/", "-90+180/", "+4812.5+01622.4/", "+481229+0162226/",
            "+481229.5-0162226.1+151.3/", "+27.5916+086.5640+8850CRSWGS_84/", "+90.000+000/",
        ])
    func places(_ place: String) throws {
        #expect(try take("location", [place]) == #"{"items":[""# + place + #""]}"#)
    }

    @Test(
        "What is no place of ISO 6709 is refused, and the sentence has it",
        arguments: [
            "", "/", "48.2082+016.3738/", "+48.2082+016.3738", "+48.2082 +016.3738/", "+48.2082+16.3738/",
            "+91+000/", "+90.1+000/", "+48+181/", "+4860+000/", "+48+000+/", "+48.+016/", "+48+016+151m/",
            "+48+016CRS/", "+48+016/ ", "+٤٨+016/", "+481+016/", "+48+016+151.CRSX/",
        ])
    func noPlaces(_ text: String) {
        let error = refused("location", [text])
        #expect(error?.kind == .invalidValue)
        #expect(error?.message.contains("location has the item \(text.quotedShort)") == true)
    }

    @Test(
        "What is no finite decimal number is refused",
        arguments: ["", "x", "nan", "inf", "1e999", " 1", "1 ", "0x10", "1,5", "true", "null", "[1]", "--1"])
    func noNumbers(_ text: String) {
        let error = refused("speed", ["1", text])
        #expect(error?.kind == .invalidValue)
        #expect(error?.message.contains("finite decimal number") == true)
    }

    @Test("A kind that was not declared, and the recorder core's own, take no groups")
    func kinds() {
        let unknown = refused("nose", ["x"])
        #expect(unknown?.kind == .invalidValue)
        #expect(unknown?.message == "kind is “nose”; the recording was started with location, note, speed.")
        let own = refused("orientation", ["6"])
        #expect(own?.kind == .invalidValue)
        #expect(own?.message == "The recorder core itself writes orientation, and it takes no groups.")
        var none = MetadataGroups([])
        let error = #expect(throws: BrokerError.self) {
            _ = try none.take(kind: "note", time: 0, items: [], arrivedAt: 0)
        }
        #expect(error?.message.contains("with no kind that takes groups") == true)
    }

    @Test(
        "A group before the last of its kind is refused, of another kind it is not, and the same time is no time before"
    )
    func order() throws {
        var groups = MetadataGroups(Self.tracks)
        _ = try groups.take(kind: "note", time: 100, items: ["a"], arrivedAt: 0)
        _ = try groups.take(kind: "speed", time: 50, items: ["1"], arrivedAt: 0)
        _ = try groups.take(kind: "note", time: 100, items: [], arrivedAt: 0)
        let error = #expect(throws: BrokerError.self) {
            _ = try groups.take(kind: "note", time: 99, items: ["b"], arrivedAt: 0)
        }
        #expect(error?.kind == .invalidValue)
        #expect(error?.message.contains("before that of its last group, 100") == true)
    }

    @Test("A group has at most 64 KiB, however many items they are in")
    func bytes() throws {
        let most = MetadataGroups.groupBytesMax
        _ = try take("note", Array(repeating: String(repeating: "x", count: most / 4), count: 4))
        let error = refused("note", [String(repeating: "x", count: most), "y"])
        #expect(error?.kind == .limitExceeded)
        #expect(error?.message == "The group of note has 65537 bytes; a group has at most 65536.")
    }

    @Test("A hundred groups may come in a second, by when they arrive; a refused one counts for nothing")
    func rate() throws {
        var groups = MetadataGroups(Self.tracks)
        for number in 0..<MetadataGroups.perSecondMax {
            _ = try groups.take(kind: number % 2 == 0 ? "note" : "speed", time: 7, items: [], arrivedAt: Int64(number))
        }
        for _ in 0..<3 {
            let error = #expect(throws: BrokerError.self) {
                _ = try groups.take(kind: "note", time: 8, items: [], arrivedAt: 999_999_999)
            }
            #expect(error?.kind == .limitExceeded)
        }
        // The first of them is a second old; the refused ones' time was none.
        _ = try groups.take(kind: "note", time: 7, items: [], arrivedAt: 1_000_000_000)
        #expect(throws: BrokerError.self) {
            _ = try groups.take(kind: "note", time: 7, items: [], arrivedAt: 1_000_000_000)
        }
    }
}
