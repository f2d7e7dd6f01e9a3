/// Whether two arrays are one in memory, so that neither has changed since.
@inlinable @inline(__always) package func isSame<Element>(_ a: borrowing [Element], _ b: borrowing [Element]) -> Bool {
    let (first, second) = (a.withUnsafeBufferPointer { $0.baseAddress }, b.withUnsafeBufferPointer { $0.baseAddress })
    return first == second && a.count == b.count
}

/// For short arrays that nearly always differ.
@inlinable @inline(__always) package func copyEach<Element>(_ target: inout [Element], _ source: borrowing [Element]) {
    if isSame(target, source) { return }
    guard target.count == source.count else {
        target.removeAll(keepingCapacity: true)
        for index in source.indices { target.append(source[index]) }
        return
    }
    for index in source.indices { target[index] = source[index] }
}
