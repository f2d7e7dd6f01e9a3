import ArbiterProtocol
import CCamarb
import Glibc

extension SessionSignal {
    /// An event of libcamarb's, by way of the signal that it came as, or would have come as.
    /// - Throws: `.invalidArguments` for words that this library does not know.
    init(of event: camarb_event) throws(BrokerError) {
        var arguments: [WireValue] = [.uint64(event.sequence), .uint64(event.decision)]
        var place = 0
        while case let field = event_field(event.type, place), field != END {
            if let value = event.value(of: field) { arguments.append(value) }
            place += 1
        }
        let member = event_member(event.type).map { String(cString: $0) } ?? ""
        try self.init(
            signal: WireSignal(path: "", interface: InterfaceName.session, member: member, arguments: arguments))
    }
}

extension camarb_event {
    fileprivate func value(of field: field) -> WireValue? {
        switch field {
        case INTERRUPTION: .uint64(interruption)
        case RECORDING: .uint64(recording)
        case GRANT: .uint64(grant)
        case FRAMES: .uint64(frames)
        case BYTES: .uint64(bytes)
        case PHOTO: .uint64(photo)
        case FRAMES_LEFT_OUT: .uint64(frames_left_out)
        case DEADLINE: .int64(deadline)
        case DURATION: .int64(duration)
        case LAST_CAPTURE: .int64(last_capture)
        case WIDTH: .uint32(width)
        case HEIGHT: .uint32(height)
        case WILL_RESUME: .boolean(will_resume)
        case NUMBER: .double(number)
        case REASON: .string(String(cString: reason))
        case RULE: .string(String(cString: rule))
        case INTERRUPTER: .string(String(cString: interrupter))
        case NEXT_CHANCE: .string(String(cString: next_chance))
        case ERROR_TEXT: .string(String(cString: error))
        case ERROR_NAME: .string(String(cString: error_name))
        case BY: .string(String(cString: by))
        case CAMERA: .string(String(cString: camera))
        case CAUSE: .string(String(cString: cause))
        case MESSAGE: .string(String(cString: message))
        case CONTROLLER: .string(String(cString: controller))
        case CAUSES: .strings(Self.strings(causes))
        case ACCESS: .strings(Self.strings(access))
        case SHARERS: .strings(Self.strings(sharers))
        case REOPEN: .strings(Self.strings(reopen))
        case ASKED: .dictionary(asked.wire)
        case IN_FORCE: .dictionary(in_force.wire)
        case METADATA: .dictionary(metadata.wire)
        default: nil
        }
    }

    private static func strings(_ list: UnsafePointer<UnsafePointer<CChar>?>?) -> [String] {
        guard let list else { return [] }
        var strings: [String] = []
        while let text = list[strings.count] { strings.append(String(cString: text)) }
        return strings
    }
}

extension UnsafePointer<camarb_configuration>? {
    /// Numbers are doubles, whatever they are on the wire.
    fileprivate var wire: WireDictionary {
        var dictionary = WireDictionary()
        guard let found = self?.pointee else { return dictionary }
        for setting in UnsafeBufferPointer(start: found.settings, count: found.count) {
            let value: WireValue =
                switch UInt8(bitPattern: setting.kind) {
                case UInt8(ascii: "s"): .string(String(cString: setting.word))
                case UInt8(ascii: "d"): .double(setting.number)
                case UInt8(ascii: "b"): .boolean(setting.flag)
                default:
                    .structure(
                        of: Array(
                            [setting.numbers.0, setting.numbers.1, setting.numbers.2].prefix(setting.number_count)))
                }
            dictionary.append(String(cString: setting.key), value)
        }
        return dictionary
    }
}

extension UnsafeMutablePointer<camarb_configuration> {
    /// Sets the dictionary's values; a dictionary in it is flattened to keys such as `metadata.KIND`.
    func set(_ dictionary: WireDictionary, under prefix: String = "") {
        for entry in dictionary.entries {
            let key = prefix + entry.key
            if let word = entry.value.string {
                camarb_configuration_set_word(self, key, word)
            } else if let flag = entry.value.boolean {
                camarb_configuration_set_flag(self, key, flag)
            } else if let whole = entry.value.uint64 {
                // Not rounded up, which may be more than is allowed.
                let number = Double(whole)
                camarb_configuration_set_number(self, key, number >= 0x1p53 ? number.nextDown : number)
            } else if let number = entry.value.number {
                camarb_configuration_set_number(self, key, number)
            } else if let numbers = entry.value.numbers {
                camarb_configuration_set_numbers(self, key, numbers, numbers.count)
            } else if let kinds = entry.value.dictionary {
                set(kinds, under: key + ".")
            }
        }
    }
}

extension BrokerError {
    /// There is no broker, or it does not answer.
    package var isOfTheConnection: Bool { kind == .disconnected || kind == .noReply }

    /// The reason why libcamarb has not made a call.
    init(of client: ClientEngine.Client, _ number: Int32) {
        self.init(named: camarb_client_error_name(client), String(cString: camarb_client_error(client)), number)
    }

    init(of event: camarb_event) { self.init(named: event.error_name, String(cString: event.error), 0) }

    private init(named name: UnsafePointer<CChar>, _ sentence: String, _ number: Int32) {
        let name = String(cString: name)
        let kind: Kind? =
            switch -number {
            case EBADF: .unsuitableFile
            case EINVAL: .invalidValue
            case EAGAIN, E2BIG: .limitExceeded
            case ENOMEM: .outOfResources
            default: nil
            }
        if let known = Kind(rawValue: name) ?? kind {
            self.init(known, sentence)
        } else {
            self.init(.failed, name.isEmpty ? sentence : "\(sentence) (\(name))")
        }
    }
}

extension [String] {
    /// Lends them as C's strings.
    func withCStrings<Result>(_ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result) -> Result {
        let copies = map { UnsafePointer(strdup($0)) }
        defer { for copy in copies { free(UnsafeMutablePointer(mutating: copy)) } }
        return copies.withUnsafeBufferPointer { buffer in
            withUnsafePointer(to: UnsafePointer<CChar>?.none) { body(buffer.baseAddress ?? $0) }
        }
    }
}
