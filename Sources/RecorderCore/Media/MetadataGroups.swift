import ArbiterProtocol
struct MetadataGroups {
    init(_ tracks: [MetadataTrack]) {}
    mutating func take(kind: String, time: Int64, items: [String], arrivedAt: Int64) throws(BrokerError) -> String { "{}" }
}
