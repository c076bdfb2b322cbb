// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import CommandOutput
import Glibc
import SystemPackage

/// A recording on disk.
struct RecordingFile: Sendable {
  private let descriptor: CInt
  private let path: String

  /// Opens a file, or makes one, to write a new trace behind what is there, which began at `began`, in seconds since 1970, UTC.
  init(
    appendingTo path: String, silence: Duration, framing: TraceFraming, began: Double
  ) throws(AccessoryError) {
    self.path = path
    // A file that may not grow is an error to tell of, not the command's death.
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

  /// Takes a record off the end that was cut off, so that it doesn't swallow the line that begins the next trace. Throws
  /// `misconfigured` when the file is something else than a recording.
  private func repair() throws(AccessoryError) {
    let size = lseek(descriptor, 0, SEEK_END)
    guard size > 0 else { return }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    let signature = Array(Recording.signature.utf8)
    guard pread(descriptor, &buffer, signature.count, 0) == signature.count, buffer.starts(with: signature) else {
      throw AccessoryError(
        .misconfigured, code: .errno(EEXIST), "\(path) exists and is no recording: choose another file")
    }
    let start = max(0, size - off_t(buffer.count))
    let count = pread(descriptor, &buffer, buffer.count, start)
    guard count > 0, let end = buffer[..<count].lastIndex(of: UInt8(ascii: "\n")) else { return }
    _ = ftruncate(descriptor, start + off_t(end) + 1)
  }

  /// Adds a record, with one call of write(2). Throws `ioFailure` when that can't be written whole.
  func append(_ record: TraceRecord) throws(AccessoryError) { try write(Recording.line(record)) }

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
      .ioFailure, code: .errno(error.rawValue), "writing to \(path): \(error): the recording ends here")
  }

  /// Closes it. Throws `ioFailure` when only now it shows that something was not written.
  func close() throws(AccessoryError) {
    guard Glibc.close(descriptor) == 0 || errno == EINTR else { throw failure(Errno(rawValue: errno)) }
  }

  /// Whether there is an ordinary file at `path`.
  static func isRegular(_ path: String) -> Bool {
    var file = stat()
    return stat(path, &file) == 0 && file.st_mode & S_IFMT == S_IFREG
  }

  /// Reads a recording and shows its entries, with when their trace began where it says that, in seconds since 1970, UTC; as those of `framing` where it is given, whatever the recording says. Throws
  /// `badData` with the line that is wrong.
  static func decode(
    _ path: String, as framing: TraceFraming? = nil, _ show: (TraceEntry, _ began: Double?) -> Void
  ) throws(AccessoryError) {
    var tracer: FrameTracer?
    var began: Double?
    func showAll(_ entries: [TraceEntry]?) { for entry in entries ?? [] { show(entry, began) } }
    // A file may have any number of traces, of any number of drivers.
    var noted: Set<TraceFraming> = []
    try read(path) { line in
      switch line {
      case .start(let silence, let recorded):
        showAll(tracer?.finish())
        began = nil
        let framing = framing ?? recorded
        if noted.insert(framing).inserted { framing.noteIfUnknown(in: path) }
        tracer = FrameTracer(silence: silence, reader: framing.reader)
      case .began(let time): began = time / .seconds(1)
      case .record(let record): showAll(tracer?.add(record))
      case .remark: break
      }
      return true
    }
    showAll(tracer?.finish())
  }

  /// Reads a recording's lines, as long as `take` wants more. Throws `badData` with the line that is wrong.
  static func read(_ path: String, _ take: (Recording.Line) -> Bool) throws(AccessoryError) {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw AccessoryError(errno: Errno(rawValue: errno), "opening \(path)") }
    defer { Glibc.close(descriptor) }
    var reader = RecordingReader()
    var lines: [Recording.Line] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
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
    if reader.isCutOff { Output.note("\(path) was cut off: its last record is not whole") }
  }
}
