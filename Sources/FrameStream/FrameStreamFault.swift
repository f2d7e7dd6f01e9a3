/// A fault of the world on a preview stream: which operation, and the system's error number.
public struct FrameStreamFault: Error, Hashable, Sendable {
    public var operation: String
    /// A positive `errno`, or 0 where the peer broke the protocol.
    public var code: Int32

    public init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    public var description: String {
        code == 0 ? operation : "\(operation): system error \(code)"
    }
}
