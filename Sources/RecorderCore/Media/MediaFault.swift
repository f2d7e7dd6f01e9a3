import ArbiterProtocol
import CLibav

/// A fault of a media library: what was tried, and its error in words.
package struct MediaFault: Error, Hashable {
    var operation: String
    var code: Int32

    init(_ operation: String, _ code: Int32) {
        self.operation = operation
        self.code = code
    }

    var description: String {
        // libav's longest message has 64 bytes.
        var text = [CChar](repeating: 0, count: 128)
        camarb_av_error(code, &text, text.count)
        let end = text.firstIndex(of: 0) ?? text.endIndex
        return "\(operation): \(String(decoding: text[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self))"
    }
}

/// Checks a libav answer: below 0 is an error.
@discardableResult
func checked(_ operation: String, _ result: Int32) throws(MediaFault) -> Int32 {
    guard result >= 0 else { throw MediaFault(operation, result) }
    return result
}

/// Checks a libav allocation.
func allocated<T>(_ operation: String, _ pointer: T?) throws(MediaFault) -> T {
    guard let pointer else { throw MediaFault(operation, camarb_AVERROR_ENOMEM) }
    return pointer
}

extension Array where Element == UInt8 {
    /// The bytes, for a body that throws media faults (the standard library's own forms lose the type).
    func withMediaBytes<R>(_ body: (UnsafeRawBufferPointer) throws(MediaFault) -> R) throws(MediaFault) -> R {
        try withUnsafeBytes { bytes in Result { () throws(MediaFault) in try body(bytes) } }.get()
    }

    mutating func withMutableMediaBytes<R>(
        _ body: (UnsafeMutableRawBufferPointer) throws(MediaFault) -> R
    ) throws(MediaFault) -> R {
        try withUnsafeMutableBytes { bytes in Result { () throws(MediaFault) in try body(bytes) } }.get()
    }
}
