// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import CommandOutput
import Glibc
import SystemPackage

/// A recording in a file.
struct RecordingFile: Sendable {
  private let descriptor: CInt
  private let path: String

  /// Opens a file for appending, and creates it if it doesn't exist. Writes the header of a trace that began at
  /// `began`, in seconds since 1970, UTC.
  init(
    appendingTo path: String, silence: Duration, framing: TraceFraming, began: Double
  ) throws(AccessoryError) {
    self.path = path
    // Beyond a file size limit write(2) fails with an error, in place of a signal that ends the process.
    Glibc.signal(SIGXFSZ, SIG_IGN)
    descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw AccessoryError(errno: Errno(rawValue: errno), "opening \(path)") }
    do throws(AccessoryError) {
      try repair()
      let moment = Duration.milliseconds(Int64((began * 1_000).rounded()))
      try write(Recording.start(silence: silence, framing: framing) + Recording.began(moment))
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  /// Removes an incomplete record at the end, so that it doesn't corrupt the header of the next trace. Throws
  /// `misconfigured` when the file isn't a recording.
  private func repair() throws(AccessoryError) {
    let size = lseek(descriptor, 0, SEEK_END)
    guard size > 0 else { return }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    let signature = Array(Recording.signature.utf8)
    guard pread(descriptor, &buffer, signature.count, 0) == signature.count, buffer.starts(with: signature) else {
      throw AccessoryError(
        .misconfigured, code: .errno(EEXIST), "\(path) exists and is not a recording: choose another file")
    }
    let start = max(0, size - off_t(buffer.count))
    let count = pread(descriptor, &buffer, buffer.count, start)
    guard count > 0, let end = buffer[..<count].lastIndex(of: UInt8(ascii: "\n")) else { return }
    _ = ftruncate(descriptor, start + off_t(end) + 1)
  }

  /// Appends a record with one call of write(2). Throws `ioFailure` when it can't be written whole.
  func append(_ record: TraceRecord) throws(AccessoryError) { try write(Recording.line(record)) }

  /// Says that the accessory was unplugged, at this time since the trace began. Throws as `append` does.
  func unplugged(_ time: Duration) throws(AccessoryError) { try write(Recording.unplugged(time)) }

  /// Says that the accessory was plugged in again, at this time since the trace began. Throws as `append` does.
  func plugged(_ time: Duration) throws(AccessoryError) { try write(Recording.plugged(time)) }

  private func write(_ text: String) throws(AccessoryError) {
    var text = text
    guard !text.isEmpty else { return }
    var count: Int
    repeat {
      count = text.withUTF8 { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    } while count < 0 && errno == EINTR
    guard count == text.utf8.count else { throw failure(count < 0 ? Errno(rawValue: errno) : .noSpace) }
  }

  private func failure(_ error: Errno) -> AccessoryError {
    AccessoryError(
      .ioFailure, code: .errno(error.rawValue), "can't write to \(path): \(error); the recording ends here")
  }

  /// Closes the file. Throws `ioFailure` when a write error is reported only now.
  func close() throws(AccessoryError) {
    guard Glibc.close(descriptor) == 0 || errno == EINTR else { throw failure(Errno(rawValue: errno)) }
  }

  /// Whether `path` is a regular file.
  static func isRegular(_ path: String) -> Bool {
    var file = stat()
    return stat(path, &file) == 0 && file.st_mode & S_IFMT == S_IFREG
  }

  /// Decodes a recording and calls `show` with each entry. `began` is when the entry's trace began, in seconds since
  /// 1970, UTC, if the recording contains it. `framing` replaces the one that the recording names. Throws `badData`
  /// with the invalid line.
  static func decode(
    _ path: String, as framing: TraceFraming? = nil, into capture: CaptureFile? = nil,
    _ show: (TraceEntry, _ began: Double?) -> Void
  ) throws(AccessoryError) {
    var tracer: FrameTracer?
    var began: Double?
    var pending: TraceFraming?
    var failure: AccessoryError?
    /// Writes what a line says into the capture. A trace begins there with what follows `#began`.
    func keep(_ line: Recording.Line) throws(AccessoryError) {
      guard let capture else { return }
      if let framing = pending, line.isTimed {
        pending = nil
        try capture.begin(name: path, framing: framing, began: began)
      }
      switch line {
      case .record(let record): try capture.add(record)
      case .unplugged(let time): try capture.plug(false, at: time)
      case .plugged(let time): try capture.plug(true, at: time)
      case .start, .began, .comment: break
      }
    }
    func showAll(_ entries: [TraceEntry]?) { for entry in entries ?? [] { show(entry, began) } }
    // A file may contain several traces, each of another driver.
    var noted: Set<TraceFraming> = []
    try read(path) { line in
      switch line {
      case .start(let silence, let recorded):
        showAll(tracer?.finish())
        began = nil
        let framing = framing ?? recorded
        if noted.insert(framing).inserted { framing.noteIfUnknown(in: path) }
        tracer = FrameTracer(silence: silence, reader: framing.reader)
        pending = framing
      case .began(let time): began = time / .seconds(1)
      case .record(let record): showAll(tracer?.add(record))
      case .unplugged, .plugged, .comment: break
      }
      do throws(AccessoryError) { try keep(line) } catch { failure = error }
      return failure == nil
    }
    if let failure { throw failure }
    showAll(tracer?.finish())
  }

  /// Reads a recording's lines while `take` returns true. Throws `badData` with the invalid line.
  static func read(_ path: String, _ take: (Recording.Line) -> Bool) throws(AccessoryError) {
    // Opening a named pipe would wait for a program that writes to it.
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw AccessoryError(errno: Errno(rawValue: errno), "opening \(path)") }
    defer { Glibc.close(descriptor) }
    let isFile = isRegular(path)
    var reader = RecordingReader()
    var lines: [Recording.Line] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      if !isFile { try Interruption.waitUntilReadable(descriptor, path) }
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      guard count >= 0 else { throw AccessoryError(errno: Errno(rawValue: errno), "reading \(path)") }
      if count == 0 { break }
      do throws(AccessoryError) {
        try reader.read(buffer[..<count], into: &lines)
      } catch {
        throw AccessoryError(error.kind, "\(path), \(error.message)")
      }
      for line in lines where !take(line) { return }
      lines.removeAll(keepingCapacity: true)
    }
    if reader.isCutOff { Output.note("\(path) is cut off: its last record is incomplete") }
  }
}

extension Recording.Line {
  /// Whether it says what happened at some time.
  fileprivate var isTimed: Bool {
    switch self {
    case .record, .unplugged, .plugged: true
    case .start, .began, .comment: false
    }
  }
}
