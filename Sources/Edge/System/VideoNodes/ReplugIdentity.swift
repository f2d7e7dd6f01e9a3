/// Recognizes a camera that is plugged in anew, at the same port or at another one.
extension VideoNodes {
    /// The node of an identity; `nil` when it is not plugged in.
    ///
    /// Two devices of one make may have one serial number: then the first by place is meant, others by their places.
    public func node(_ identity: String) -> VideoNode? { all.first { $0.answers(to: identity) } }

    /// The name of a node: its serial number, which it takes along to another port; its place where it has none, or
    /// where another node has the same.
    public func identity(of node: VideoNode) -> String {
        guard let serial = node.serial, all.first(where: { $0.serial == serial })?.place == node.place else {
            return node.place
        }
        return serial
    }
}
