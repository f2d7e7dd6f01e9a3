extension FrameSender {
    /// Reads what the client returned. Call it when the descriptor is readable.
    /// - Returns: false when the stream is over: the client closed it, or broke the protocol.
    public func takeReleases() -> Bool {
        guard isOpen else { return false }
        // One more than there are buffers: an honest client cannot have sent more, and a flood is met in slices.
        for _ in 0...pool.count {
            switch receive() {
            case .nothing:
                sendWaiting()
                return true
            case .release(let index):
                if index < base, staleReleasesMax > 0 {
                    staleReleasesMax -= 1
                    continue
                }
                let local = index - base
                guard states.indices.contains(local), states[local] == .withClient else { return fail() }
                free(local)
            case .end: return fail()
            }
        }
        sendWaiting()
        return isOpen
    }
}
