import CLinux
public import Loop

/// Two connected Unix stream sockets.
public enum UnixPair {
    /// Close-on-exec and non-blocking; both are the caller's.
    public static func make() throws(SystemFault) -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        try check(camarb_unix_pair(&ends), "make a pair of sockets")
        return (ends[0], ends[1])
    }
}
