internal import Bytes
internal import Glibc

/// A converter of MS-DOS dates and times (APPNOTE 4.4.6), which are local time without a zone.
struct DOSClock: Sendable {
  // mktime is expensive and consecutive files often have the same hour, so the hour's start is cached.
  private var hour: UInt32 = .max
  private var hourStart: Int64 = 0

  mutating func timestamp(date: UInt16, time: UInt16) -> Timestamp {
    let key = UInt32(date) << 5 | UInt32(time >> 11)
    if key != hour {
      var parts = unsafe tm()
      unsafe parts.tm_year = Int32(date >> 9) + 80
      // Month and day 0 occur in archives made without a date. They mean the first.
      unsafe parts.tm_mon = max(0, Int32(date >> 5 & 15) - 1)
      unsafe parts.tm_mday = max(1, Int32(date & 31))
      unsafe parts.tm_hour = Int32(time >> 11)
      unsafe parts.tm_isdst = -1
      hourStart = unsafe Int64(mktime(&parts))
      hour = key
    }
    return Timestamp(seconds: hourStart + Int64(time >> 5 & 63) * 60 + Int64(time & 31) * 2)
  }
}
