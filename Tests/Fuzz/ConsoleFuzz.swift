// SPDX-License-Identifier: Apache-2.0

// A target for libFuzzer: what a person types, and what an accessory sends to a console. The first byte decides where the
// stream is cut. Built together with the sources of both.

private func keys(_ bytes: [UInt8], cutEvery size: Int) -> [Key] {
  var decoder = KeyDecoder()
  var keys: [Key] = []
  for start in stride(from: 0, to: bytes.count, by: size) {
    decoder.decode(bytes[start..<min(bytes.count, start + size)], into: &keys)
  }
  decoder.flush(into: &keys)
  precondition(!decoder.isPending, "a flush leaves nothing")
  return keys
}

private func pieces(_ bytes: [UInt8], cutEvery size: Int) -> String {
  var text = ReceivedText()
  var all = ""
  func add(_ pieces: [ReceivedText.Piece]) {
    for piece in pieces {
      switch piece {
      case .text(let text): all += text
      case .newline: all += "\n"
      }
    }
  }
  for start in stride(from: 0, to: bytes.count, by: size) {
    add(text.take(Array(bytes[start..<min(bytes.count, start + size)])))
  }
  add(text.flush())
  return all
}

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let data, count > 1 else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: data + 1, count: count - 1))
  let size = 1 + Int(data[0]) % 7

  let typed = keys(bytes, cutEvery: bytes.count)
  precondition(keys(bytes, cutEvery: size) == typed, "cuts matter")
  precondition(typed.count <= bytes.count, "a key is at least a byte")
  var editor = LineEditor()
  for key in typed {
    _ = editor.handle(key)
    let columns = 1 + Int(data[0]) % 40
    let view = editor.view(columns: columns)
    precondition(view.cursor < columns && TextWidth.of(view.text) <= columns, "the line leaves its place")
  }

  let shown = pieces(bytes, cutEvery: bytes.count)
  precondition(pieces(bytes, cutEvery: size) == shown, "cuts matter")
  for scalar in shown.unicodeScalars where scalar != "\n" {
    precondition(scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value), "a terminal would act on this")
  }

  var screen = ConsoleScreen(columns: 2 + Int(data[0]) % 30)
  _ = screen.setInput(("> ", "", 0))
  for line in shown.split(separator: "\n", omittingEmptySubsequences: false) {
    _ = screen.write(String(line)) + screen.newline()
  }
  _ = screen.resize(columns: size) + screen.finish()
  return 0
}
