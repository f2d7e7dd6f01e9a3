/// A part of every week, in the machine's local time: `mon-fri 08:00-18:00`, or `22:00-06:00` of every night.
///
/// Pure arithmetic: the caller has the clock.
public struct CalendarSpan: Hashable, Sendable {
    /// The days on which it begins. A span that passes midnight ends on the next day, whether that is in the set or
    /// not.
    public var days: Set<Day>
    /// Minutes of the day, the first one included and the last one not; 24:00 is 1440. An end that is not after the
    /// beginning is on the next day.
    public var from: Int
    public var to: Int

    public enum Day: Int, Hashable, Sendable, Comparable, CaseIterable {
        case mon, tue, wed, thu, fri, sat, sun

        public static func < (a: Day, b: Day) -> Bool { a.rawValue < b.rawValue }
        public var name: String { "\(self)" }
    }

    public static let minutesOfDay = 24 * 60
    public static let minutesOfWeek = 7 * minutesOfDay

    public init(days: Set<Day> = Set(Day.allCases), from: Int, to: Int) {
        (self.days, self.from, self.to) = (days, from, to)
    }

    /// Begins and ends at the same minute, or has no day.
    public var neverHolds: Bool { from == to || days.isEmpty }

    /// In minutes.
    private var length: Int { to > from ? to - from : to + Self.minutesOfDay - from }

    /// - Parameter minute: of the week, from 0, Monday's midnight.
    public func holds(at minute: Int) -> Bool {
        guard !neverHolds else { return false }
        return days.contains { day in
            let begin = day.rawValue * Self.minutesOfDay + from
            // From Sunday into Monday the week begins anew.
            return (minute - begin + Self.minutesOfWeek) % Self.minutesOfWeek < length
        }
    }
}

extension CalendarSpan {
    /// The problem of a text, as the end of a sentence that begins with the text.
    public struct Mistake: Error, Hashable {
        public var complaint: String
        public var hint = ""
    }

    /// Reads `mon-fri 08:00-18:00`, `sat,sun 10:00-16:00` or `22:00-06:00`.
    public init(_ text: String) throws(Mistake) {
        let words = text.split(separator: " ")
        guard (1...2).contains(words.count), let span = words.last else {
            throw Mistake(complaint: "is not a time of the week", hint: Self.examples)
        }
        let times = span.split(separator: "-", omittingEmptySubsequences: false)
        guard times.count == 2 else { throw Mistake(complaint: "has no beginning and end", hint: Self.examples) }
        let from = try Self.minute(times[0], last: Self.minutesOfDay - 1)
        let to = try Self.minute(times[1], last: Self.minutesOfDay)
        self.init(days: words.count == 2 ? try Self.days(words[0]) : Set(Day.allCases), from: from, to: to)
    }

    private static let examples = "write \"22:00-06:00\", or \"mon-fri 08:00-18:00\""

    private static func minute(_ text: Substring, last: Int) throws(Mistake) -> Int {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let digits = parts.allSatisfy { $0.utf8.count == 2 && $0.utf8.allSatisfy { (48...57).contains($0) } }
        guard parts.count == 2, digits, let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60,
            hour * 60 + minute <= last
        else { throw Mistake(complaint: "has \"\(text)\" in it, which is not a time of a day", hint: Self.examples) }
        return hour * 60 + minute
    }

    private static func days(_ text: Substring) throws(Mistake) -> Set<Day> {
        var days: Set<Day> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            guard (1...2).contains(ends.count) else {
                throw Mistake(complaint: "has \"\(part)\" in it, which are not days", hint: "write \"mon-fri\"")
            }
            let first = try day(ends[0])
            let last = try day(ends[ends.count - 1])
            // From Saturday to Monday the week begins anew.
            let count = (last.rawValue - first.rawValue + 7) % 7
            for step in 0...count { days.insert(Day.allCases[(first.rawValue + step) % 7]) }
        }
        return days
    }

    private static func day(_ text: Substring) throws(Mistake) -> Day {
        if let day = Day.allCases.first(where: { $0.name == text }) { return day }
        let near = Day.allCases.first { text.lowercased().hasPrefix($0.name) }
        throw Mistake(
            complaint: "has \"\(text)\" in it, a day that no week has; the days are "
                + Day.allCases.map(\.name).joined(separator: ", "),
            hint: near.map { "did you mean \"\($0.name)\"?" } ?? "")
    }

    /// A text that reads back equal.
    public var written: String {
        let time = "\(Self.clock(from))-\(Self.clock(to))"
        let sorted = days.sorted()
        if sorted.count == Day.allCases.count { return time }
        guard let first = sorted.first, let last = sorted.last else { return time }
        let isRun = last.rawValue - first.rawValue == sorted.count - 1 && sorted.count > 2
        let names = isRun ? "\(first.name)-\(last.name)" : sorted.map(\.name).joined(separator: ",")
        return "\(names) \(time)"
    }

    private static func clock(_ minute: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(minute / 60)):\(two(minute % 60))"
    }
}

extension Policy {
    /// The first mode whose calendar holds.
    /// - Parameter minute: of the week, from 0, Monday's midnight, in local time.
    public func calendarMode(at minute: Int) -> Mode? {
        modes.first { $0.at.contains { $0.holds(at: minute) } }
    }

    public var hasCalendar: Bool { modes.contains { !$0.at.isEmpty } }
}

/// A policy's calendar from some moment on, in a zone whose clocks may be put forward and back.
public struct CalendarClock {
    /// Zones change their clocks at whole quarters of an hour of UTC: within one, local time goes on evenly.
    public static let quarter: Int64 = 15 * 60
    /// A week, and a day for clocks that are put forward and back: a calendar repeats after it.
    private static let quartersMax = 8 * 24 * 4

    public let policy: Policy
    /// Seconds that local time is ahead of UTC, at a moment of UTC.
    public let offset: (Int64) -> Int64

    public init(_ policy: Policy, offset: @escaping (Int64) -> Int64) {
        self.policy = policy
        self.offset = offset
    }

    /// - Parameter moment: seconds since 1970, UTC.
    public func mode(at moment: Int64) -> Mode? { policy.calendarMode(at: Self.minuteOfWeek(moment + offset(moment))) }

    /// The calendar's next change after a moment; `nil`: never.
    public func change(after moment: Int64) -> Int64? {
        let before = mode(at: moment)
        var begin = moment
        for _ in 0..<Self.quartersMax {
            let end = (begin / Self.quarter + 1) * Self.quarter
            let ahead = offset(begin)
            // The next whole minute of local time, and each one after it within the quarter.
            var next = begin + (begin == moment ? 60 - Self.remainder(begin + ahead, 60) : 0)
            while next < end {
                if policy.calendarMode(at: Self.minuteOfWeek(next + ahead)) != before { return next }
                next += 60
            }
            begin = end
        }
        return nil
    }

    /// The first of January 1970 was a Thursday.
    static func minuteOfWeek(_ local: Int64) -> Int {
        let minutes = (local - remainder(local, 60)) / 60 + 3 * Int64(CalendarSpan.minutesOfDay)
        return Int(remainder(minutes, Int64(CalendarSpan.minutesOfWeek)))
    }

    private static func remainder(_ a: Int64, _ b: Int64) -> Int64 { (a % b + b) % b }
}

/// A day and a minute of it, as people write them.
public struct LocalDate {
    public let words: String

    /// - Parameter local: seconds since 1970, in local time.
    public init(_ local: Int64) {
        let days = (local - (local % 86400 + 86400) % 86400) / 86400
        let minute = Int((local - days * 86400) / 60)
        let (year, month, day) = Self.civil(days)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        words = "\(year)-\(two(month))-\(two(day)) \(two(minute / 60)):\(two(minute % 60))"
    }

    /// The Gregorian calendar from the number of days since 1970, by eras of 400 years that begin in March.
    private static func civil(_ days: Int64) -> (year: Int, month: Int, day: Int) {
        let shifted = Int(days) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
