import ArbiterProtocol
import RecorderCore
import Testing

@Suite struct MetadataGroupsTests {
    private static let tracks = [
        MetadataTrack(kind: "location", type: .iso6709), MetadataTrack(kind: "note", type: .text),
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

    @Test("A group has at most 64 KiB, however many items they are in")
    func bytes() throws {
        let most = MetadataGroups.groupBytesMax
        _ = try take("note", Array(repeating: String(repeating: "x", count: most / 4), count: 4))
        let error = refused("note", [String(repeating: "x", count: most), "y"])
        #expect(error?.kind == .limitExceeded)
        #expect(error?.message == "The group of note has 65537 bytes; a group has at most 65536.")
    }
}
