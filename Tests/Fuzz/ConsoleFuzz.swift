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

private func pieces(_ bytes: [UInt8], cutEvery size: Int, _ colours: ReceivedText.Colours = .none) -> String {
  var text = ReceivedText(colours: colours)
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

/// What a terminal shows that knows colours, and nothing else: each character with the sequences that are in force.
private struct Shown {
  var cells: [String] = []
  var isPlain = true

  init(_ text: String) {
    var (colour, rest) = ("", Array(text.unicodeScalars)[...])
    while let scalar = rest.popFirst() {
      if scalar == "\u{1B}" {
        let sequence = rest.prefix { "[0123456789;".unicodeScalars.contains($0) }
        rest = rest.dropFirst(sequence.count)
        if rest.popFirst() != "m" || sequence.first != "[" || sequence.count > ReceivedText.colourLimit {
          isPlain = false
        }
        let words = sequence.reduce(into: "") { $0.unicodeScalars.append($1) }
        colour = words == "[0" ? "" : colour + words
      } else if scalar == "\n" {
        if !colour.isEmpty { isPlain = false }
        cells.append("end")
      } else {
        if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) { isPlain = false }
        cells.append(colour + "|" + String(scalar))
      }
    }
    if !colour.isEmpty { isPlain = false }
  }
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

  for colours in [ReceivedText.Colours.alone, .all] {
    let coloured = pieces(bytes, cutEvery: bytes.count, colours)
    let cut = pieces(bytes, cutEvery: size, colours)
    precondition(Shown(cut).cells == Shown(coloured).cells, "cuts matter")
    precondition(Shown(coloured).isPlain, "colours end with their line, and nothing else passes")
  }

  var screen = ConsoleScreen(columns: 2 + Int(data[0]) % 30)
  _ = screen.setInput(("> ", "", 0))
  for line in shown.split(separator: "\n", omittingEmptySubsequences: false) {
    _ = screen.write(String(line)) + screen.newline()
  }
  for line in pieces(bytes, cutEvery: size, .all).split(separator: "\n", omittingEmptySubsequences: false) {
    _ = screen.write(String(line)) + screen.newline()
  }
  _ = screen.resize(columns: size) + screen.finish()
  return 0
}
