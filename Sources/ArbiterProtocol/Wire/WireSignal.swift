/// A method call on its way. Descriptors in `arguments` stay the caller's.
public struct WireCall: Hashable, Sendable {
    public var path: String
    public var interface: String
    public var member: String
    public var arguments: [WireValue]

    public init(path: String, interface: String, member: String, arguments: [WireValue] = []) {
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }
}

/// A signal that arrived.
public struct WireSignal: Hashable, Sendable {
    public var path: String
    public var interface: String
    public var member: String
    public var arguments: [WireValue]

    public init(path: String, interface: String, member: String, arguments: [WireValue]) {
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }
}
