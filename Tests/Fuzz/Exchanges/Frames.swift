// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import AccessoryLink

extension Family {
  /// Shows the input as a trace of this family would: pieces of it pass both ways, with pauses and gaps. Whatever passes,
  /// nothing traps, nothing is left in the end, and nothing is said that a terminal would act on.
  func trace(_ input: [UInt8]) {
    guard let driver = DriverLibrary.builtIn.driver(named: name) else { return }
    var tracer = FrameTracer(silence: .milliseconds(50), reader: driver.frames?())
    var time = Duration.zero
    var rest = input[...]
    while let choice = rest.popFirst() {
      // Five bits of the choice are the length of the piece: the rest says what else happens.
      let piece = Array(rest.prefix(1 + Int(choice & 31)))
      rest = rest.dropFirst(piece.count)
      time += choice & 64 == 0 ? .milliseconds(1) : .seconds(1)
      let record = TraceRecord(
        time: time, direction: choice & 128 == 0 ? .fromDevice : .toDevice, bytes: piece,
        lostBytes: choice & 32 == 0 ? 0 : 1)
      tracer.add(record).forEach(check)
    }
    tracer.finish().forEach(check)
    precondition(tracer.deadline == nil, "something is left")
  }

  private func check(_ entry: TraceEntry) {
    switch entry.content {
    case .noise(let count), .lost(let count): precondition(count > 0)
    case .bytes(let bytes): precondition(!bytes.isEmpty)
    case .note: preconditionFailure("what passes has no notes")
    case .frame(let words):
      let text = words.title + words.summary + words.kind + words.protocol
      precondition(text.unicodeScalars.allSatisfy(SafeText.isHarmless), "a terminal would act on a frame's words")
      precondition(Set(words.fields.map(\.name)).count == words.fields.count, "a field is there twice")
      for field in words.fields { if case .number(let number) = field.value { precondition(number.isFinite) } }
    }
  }
}
