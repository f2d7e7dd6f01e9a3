import CToml

/// A place in a policy's files: lines and columns from 1, columns in Unicode scalars.
package struct Place: Hashable, Comparable {
    package var file: Int
    /// 0 where the file as a whole is meant.
    package var line: Int
    package var column: Int
    /// Scalars on that line; at least 1, so that there is always a caret.
    package var length: Int

    package static func whole(_ file: Int) -> Place { Place(file: file, line: 0, column: 0, length: 1) }
    package static func < (a: Place, b: Place) -> Bool { (a.file, a.line, a.column) < (b.file, b.line, b.column) }
}

extension Place {
    init(_ region: ctoml_region, file: Int) {
        self.file = file
        line = max(1, Int(region.line))
        column = max(1, Int(region.column))
        let end = region.end_line == region.line ? Int(region.end_column) : 0
        length = max(1, end - column)
    }
}

package struct TomlNode {
    package enum Value {
        case table(TomlTable)
        case array([TomlNode])
        case string(String)
        case integer(Int64)
        case float(Double)
        case boolean(Bool)
        case date
    }

    package var value: Value
    package var place: Place

    package init(value: Value, place: Place) { (self.value, self.place) = (value, place) }
}

/// A table with its keys in the order of the file.
package struct TomlTable {
    package struct Entry {
        package var key: String
        package var keyPlace: Place
        package var node: TomlNode

        package init(key: String, keyPlace: Place, node: TomlNode) {
            (self.key, self.keyPlace, self.node) = (key, keyPlace, node)
        }
    }

    package var entries: [Entry]
    package var place: Place

    package init(entries: [Entry], place: Place) { (self.entries, self.place) = (entries, place) }
}

package struct TomlError: Error {
    package var place: Place
    package var message: String
}

package enum TomlDocument {
    package static func parse(_ bytes: [UInt8], file: Int) throws(TomlError) -> TomlTable {
        let document = bytes.withUnsafeBytes { raw in
            ctoml_parse(raw.baseAddress?.assumingMemoryBound(to: CChar.self), raw.count)
        }
        guard let document else { throw TomlError(place: .whole(file), message: "there is no memory to read it") }
        defer { ctoml_free(document) }

        var region = ctoml_region()
        var why = ctoml_text()
        if ctoml_failed(document, &region, &why) {
            throw TomlError(place: Place(region, file: file), message: String(why))
        }

        // Children come after their parent, so from the back every node is complete when it is reached.
        let count = ctoml_row_count(document)
        var children = [[TomlTable.Entry]](repeating: [], count: count)
        for index in stride(from: count - 1, through: 0, by: -1) {
            let row = ctoml_row_at(document, index)
            let place = Place(row.where, file: file)
            let value: TomlNode.Value
            switch row.kind {
            case CTOML_TABLE:
                // toml++ sorts by name; people read from top to bottom, and so do rules.
                value = .table(TomlTable(entries: children[index].sorted { $0.keyPlace < $1.keyPlace }, place: place))
            case CTOML_ARRAY: value = .array(children[index].reversed().map(\.node))
            case CTOML_STRING: value = .string(String(row.string))
            case CTOML_INTEGER: value = .integer(row.integer)
            case CTOML_FLOAT: value = .float(row.floating)
            case CTOML_BOOLEAN: value = .boolean(row.boolean)
            default: value = .date
            }
            children[index] = []
            let node = TomlNode(value: value, place: place)
            if index == 0 {
                guard case .table(let root) = value else { break }
                return root
            }
            children[row.parent].append(
                TomlTable.Entry(key: String(row.key), keyPlace: Place(row.key_where, file: file), node: node))
        }
        return TomlTable(entries: [], place: Place(file: file, line: 1, column: 1, length: 1))
    }
}

extension String {
    /// The parser returns UTF-8 alone.
    fileprivate init(_ text: ctoml_text) {
        let bytes = UnsafeRawBufferPointer(start: text.bytes, count: text.length)
        self = String(decoding: bytes, as: UTF8.self)
    }
}
