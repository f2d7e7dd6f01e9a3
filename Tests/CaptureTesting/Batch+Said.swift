import ArbiterProtocol

extension CaptureTable.Batch {
    /// For a failure's sentence.
    package var said: String {
        "{\(keys.sorted().map { "\($0)=\(self[$0]?.description ?? "")" }.joined(separator: " "))}"
    }
}
