import TileStorage

/// Dates in the formats of cameras, programs and people.
extension ImageMetadata {
  /// Returns the date in ISO 8601, as precise as it is known; nil if the text is not a possible date.
  ///
  /// EXIF has colons and blanks for unknown parts (EXIF 2.32, section 4.6.5.4). IPTC has eight digits, with zeros for
  /// unknown parts (IIM 4.2, 2:55). XMP has a profile of ISO 8601 (XMP, part 1, section 8.2.1.1). People also write
  /// intervals, which ISO 8601 has. They write approximate years, too (EDTF's `1890~`); only the year is kept.
  static func isoDate(_ text: String) -> String? {
    // A camera without a clock leaves blanks between its colons.
    let blanks = text.reversed().prefix { " :".contains($0) }
    let text = String(text.dropLast(blanks.count))
    guard text.utf8.count <= maxDateLength else { return nil }
    if let date = calendarDate(text) { return date }
    let interval = text.split(separator: "/", omittingEmptySubsequences: false).map {
      calendarDate(String($0))
    }
    if interval.count == 2, let start = interval[0], let end = interval[1], start <= end {
      return "\(start)/\(end)"
    }
    let approximate = #/(?:(?:circa|ca?\.?|about|approximately|approx\.?|um|vers) ?)?(\d{4})[?~%]?/#
    return text.wholeMatch(of: approximate.asciiOnlyDigits().ignoresCase()).flatMap {
      calendarDate(String($0.output.1))
    }
  }

  /// The maximum length in bytes. Two dates with fractions of seconds have 70.
  private static let maxDateLength = 200

  /// Returns the offset from UTC in ISO 8601, at most 14 hours (XML Schema, part 2, section 3.3.7); nil if it is
  /// invalid.
  static func isoZone(_ text: some StringProtocol) -> String? {
    if text == "Z" { return "Z" }
    guard let match = String(text).wholeMatch(of: #/([+-])(\d\d):?(\d\d)/#.asciiOnlyDigits()) else {
      return nil
    }
    let (hours, minutes) = (Int(match.output.2)!, Int(match.output.3)!)
    guard minutes < 60, hours * 60 + minutes <= 14 * 60 else { return nil }
    return "\(match.output.1)\(match.output.2):\(match.output.3)"
  }

  /// Returns a single date that exists in the calendar, with its time, if any.
  private static func calendarDate(_ text: String) -> String? {
    // Every script has digits, but `Int` reads ASCII digits alone.
    let extended =
      #/(\d{4})(?:[-:/.](\d\d)(?:[-:/.](\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:\.\d{1,9})?))? ?(Z|[+-]\d\d:?\d\d)?)?)?)?/#
      .asciiOnlyDigits()
    let basic = #/(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?/#
      .asciiOnlyDigits()
    let parts:
      (
        year: Substring, month: Substring?, day: Substring?, hour: Substring?, minute: Substring?,
        second: Substring?, zone: Substring?
      )
    if let match = text.wholeMatch(of: extended) {
      let (_, year, month, day, hour, minute, second, zone) = match.output
      parts = (year, month, day, hour, minute, second, zone)
    } else if let match = text.wholeMatch(of: basic) {
      let (_, year, month, day, hour, minute, second, zone) = match.output
      parts = (year, month, day, hour, minute, second, zone)
    } else {
      return nil
    }
    guard let year = Int(parts.year), year > 0 else { return nil }
    let (month, day) = (parts.month ?? "00", parts.day ?? "00")
    // Zeros mean unknown, and everything finer is then unknown, too.
    if month == "00" { return day == "00" ? "\(parts.year)" : nil }
    guard let number = Int(month), (1...12).contains(number) else { return nil }
    if day == "00" { return "\(parts.year)-\(month)" }
    guard let dayNumber = Int(day), dayNumber <= days(ofMonth: number, year) else { return nil }
    let date = "\(parts.year)-\(month)-\(day)"
    guard let hour = parts.hour, let minute = parts.minute else { return date }
    guard Int(hour)! < 24, Int(minute)! < 60 else { return nil }
    var time = "T\(hour):\(minute)"
    if let second = parts.second {
      guard Int(second.prefix(2))! < 60 else { return nil }
      time += ":\(second)"
    }
    guard let zone = parts.zone else { return date + time }
    return isoZone(zone).map { date + time + $0 }
  }

  private static func days(ofMonth month: Int, _ year: Int) -> Int {
    switch month {
    case 2: (year.isMultiple(of: 4) && !year.isMultiple(of: 100)) || year.isMultiple(of: 400) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
