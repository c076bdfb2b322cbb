// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc

@testable import BridgeService

// What a long history costs: days of readings of some accessories made up, written hour by hour, and read as the page and
// `battery --history 30d` read them. usage: history [DAYS [ACCESSORIES]]

/// A file as the service's own, without its lock.
final class DiskFile: HistoryFile {
  let path: String

  init(_ path: String) { self.path = path }

  func prepare() throws(AccessoryError) {}

  func read(limit: Int) throws(AccessoryError) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var information = stat()
    guard fstat(descriptor, &information) == 0 else { return nil }
    let count = min(Int(information.st_size), limit)
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = max(0, Glibc.read(descriptor, buffer.baseAddress, count))
    }
  }

  func append(_ bytes: [UInt8]) throws(AccessoryError) { write(bytes, O_WRONLY | O_APPEND | O_CREAT) }
  func replace(_ bytes: [UInt8]) throws(AccessoryError) { write(bytes, O_WRONLY | O_TRUNC | O_CREAT) }

  private func write(_ bytes: [UInt8], _ flags: CInt) {
    let descriptor = open(path, flags | O_CLOEXEC, 0o600)
    precondition(descriptor >= 0 && Glibc.write(descriptor, bytes, bytes.count) == bytes.count, "writing \(path)")
    close(descriptor)
  }
}

/// The processor's time, on which other work of the machine has little influence.
func milliseconds(_ body: () -> Void) -> Double {
  func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
  }
  let begin = now()
  body()
  return now() - begin
}

@main struct HistoryBenchmark {
  static func main() throws {
    let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
    let (days, count) = (numbers.first ?? 30, numbers.dropFirst().first ?? 8)
    var template = Array("/tmp/accessory-bridge-history-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("no folder") }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    func files(_ name: String, _ part: HistoryPart) -> [DiskFile] {
      (0..<part.fileCount).map { DiskFile("\(folder)/\(name)-\($0)") }
    }
    let (dayFiles, monthFiles) = (files("days", .days), files("months", .months))
    defer {
      for file in dayFiles + monthFiles { unlink(file.path) }
      rmdir(folder)
    }
    let history = HistoryDisk(DiskFile("\(folder)/history"), days: dayFiles, months: monthFiles)
    let ids = (1...count).map { "HOUSE-\($0)" }
    let begin = 1_793_491_200.0
    let end = begin + Double(days) * 86_400
    // A battery with three numbers and five values, each minute, with as many decimals as accessories send. They always differ, so
    // nothing is kept as one number.
    var store = HistoryStore()
    var seed: UInt64 = 1
    func noise() -> Double {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (Double(seed >> 40) / Double(1 << 24) * 1_000).rounded() / 1_000
    }
    var (writing, longest) = (0.0, 0.0)
    for hour in 0..<(days * 24) {
      let start = begin + Double(hour) * 3_600
      for id in ids {
        for minute in 0..<60 {
          let time = start + Double(minute) * 60
          store.add(id, ReadingSeries.percent, unit: "%", (40 + 50 * noise()).rounded(), at: time)
          store.add(id, ReadingSeries.voltage, unit: "V", 52 + noise(), at: time)
          store.add(id, ReadingSeries.current, unit: "A", (200 * noise()).rounded() / 10 - 10, at: time)
          for value in 0..<5 { store.add(id, "value_\(value)", unit: "W", (1_000 * noise()).rounded() / 10, at: time) }
        }
      }
      let taken = milliseconds { try? history.note(store, offset: 0, wall: start + 3_600 + HistoryDisk.patience) }
      writing += taken
      longest = max(longest, taken)
    }
    var size = 0
    for file in dayFiles + monthFiles { size += (try? file.read(limit: .max))??.count ?? 0 }
    print(
      "written: \(days) days of \(count) accessories, 8 series each: \(size / count / 1_000) KB an accessory, "
        + "\(text(writing / Double(days * 24))) ms an hour, at most \(text(longest)) ms")
    for (seconds, name) in [(7 * 86_400.0, "7 days"), (30 * 86_400.0, "30 days"), (400 * 86_400.0, "400 days")] {
      var (least, points) = (Double.infinity, 0)
      for _ in 0..<10 {
        points = 0
        let taken = milliseconds {
          for id in ids {
            guard let long = try? history.extract(of: id, since: end - seconds, now: end) else { continue }
            let answer = HistoryAnswer(
              recent: store.accessories[id], offset: 0, seconds: seconds, now: end, long: long)
            points += answer.series(nil).reduce(0) { $0 + $1.points.count }
          }
        }
        least = min(least, taken)
      }
      print("read: \(name) of \(count) accessories: \(text(least)) ms, \(points) points")
    }
  }

  private static func text(_ number: Double) -> String { "\((number * 100).rounded() / 100)" }
}
