// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads framings: the format of frames.
extension DescriptionReader {
  static let framingLimit = 8

  mutating func framings(_ node: YAMLNode?, _ mark: YAMLMark) {
    guard let node else {
      report(mark, "framings are missing: the description of its frames")
      return
    }
    let all = entries(node, "framings", limit: Self.framingLimit) ?? []
    for entry in all {
      let before = problems.count
      _ = isPlainName(entry, "a framing's name")
      let framing = framing(entry)
      if case .window = framing?.form, all.count > 1 {
        report(entry.mark, "a window must be the only framing of its protocol: nothing marks where such a frame begins")
      }
      if problems.count > before || framing == nil { brokenFramings.insert(description.framings.count) }
      description.framings.append(framing ?? ProtocolDescription.Framing(name: entry.key, form: .layout([])))
    }
  }

  private mutating func framing(_ entry: YAMLNode.Entry) -> ProtocolDescription.Framing? {
    guard let fields = keys(entry.value, DescriptionKeys.framing) else { return nil }
    let forms = ["layout", "window", "pairs"].filter { fields[$0] != nil }
    guard forms.count == 1 else {
      report(
        entry.mark, "a framing must have one of layout, window and pairs, not \(forms.isEmpty ? "none" : "several")")
      return nil
    }
    var limit = 512
    set(&limit, number(fields, "max"))
    let digits = hexadecimalForm(fields, isLayout: forms == ["layout"])
    let form: ProtocolDescription.Form?
    switch forms[0] {
    case "layout": form = fields["layout"].flatMap { layout($0, digits, limit: limit) }
    case "window": form = fields["window"].flatMap { window($0, limit: limit) }
    default: form = fields["pairs"].flatMap { pairsFraming($0) }
    }
    guard let form else { return nil }
    var framing = ProtocolDescription.Framing(name: entry.key, form: form)
    framing.limit = limit
    if let node = fields["ignore"] { ignored(node, isLayout: forms == ["layout"] && digits == nil, &framing) }
    set(&framing.direction, choice(fields, "direction"))
    set(&framing.interrupts, flag(fields, "interrupts"))
    return framing
  }

  /// Reads the bytes and texts to remove from the data of frames.
  private mutating func ignored(_ node: YAMLNode, isLayout: Bool, _ framing: inout ProtocolDescription.Framing) {
    guard isLayout else { return report(node.mark, "ignore is only for framings with a layout, without digits: hex") }
    guard let fields = keys(node, DescriptionKeys.ignore) else { return }
    if fields.isEmpty {
      report(node.mark, "ignore must have bytes, or texts, or both: {bytes: 00, texts: [\"SEARCHING...\"]}")
    }
    set(&framing.ignoredBytes, bytes(fields, "bytes"))
    guard let texts = fields["texts"] else { return }
    framing.ignoredTexts = oneOrMore(texts, "texts", limit: 8).compactMap { bytes($0, "each of texts", limit: 32) }
  }

  /// Reads how the part between start and end is encoded in hexadecimal digits; nil when it isn't.
  private mutating func hexadecimalForm(
    _ fields: KeyedNodes, isLayout: Bool
  ) -> ProtocolDescription.Hexadecimal? {
    var form = ProtocolDescription.Hexadecimal()
    form.beginsWithOneDigit = word(fields, "first_digit") != nil
    form.checksCoverDigits = word(fields, "checks") == "digits"
    form.lengthCountsDigits = word(fields, "length") == "digits"
    guard let node = fields["digits"] else {
      for key in ["first_digit", "checks", "length"] {
        if let node = fields[key] { report(node.mark, "\(key) is only for framings with digits: hex") }
      }
      return nil
    }
    if !isLayout { report(node.mark, "digits is only for framings with a layout") }
    return word(fields, "digits").map { _ in form }
  }

  private mutating func window(_ node: YAMLNode, limit: Int) -> ProtocolDescription.Form? {
    guard let fields = keys(node, DescriptionKeys.window), let first = fields["pattern"], let second = fields["mask"]
    else { return nil }
    let pattern = bytes(first, "pattern", limit: limit)
    let mask = bytes(second, "mask", limit: limit)
    guard let pattern, let mask else { return nil }
    guard pattern.count == mask.count else {
      report(second.mark, "mask must have as many bytes as pattern, which has \(pattern.count), not \(mask.count)")
      return nil
    }
    guard mask.contains(where: { $0 != 0 }) else {
      report(second.mark, "mask has no bit that is 1, so any bytes would be a frame")
      return nil
    }
    guard zip(pattern, mask).allSatisfy({ $0 & ~$1 == 0 }) else {
      report(first.mark, "pattern has a bit that is 1 where mask is 0: it would never be compared")
      return nil
    }
    return .window(pattern: pattern, mask: mask)
  }

  private mutating func pairsFraming(_ node: YAMLNode) -> ProtocolDescription.Form? {
    guard let fields = keys(node, DescriptionKeys.pairs) else { return nil }
    let begin = bytes(fields, "begin")
    let separator = bytes(fields, "separator")?.first
    // A label is text, whether it is in quotes or not.
    let close = fields["close"].flatMap { label($0, "close") }
    guard let begin, let separator, let close else { return nil }
    if close.contains(separator) || begin.contains(separator) {
      report(fields["separator"]?.mark ?? node.mark, "separator must be a byte that is in neither begin nor close")
      return nil
    }
    return .pairs(ProtocolDescription.Pairs(begin: begin, separator: separator, close: close))
  }

  /// Reads a label. With `mayHaveBlanks` it may have blanks inside, but never at its ends.
  mutating func label(_ node: YAMLNode, _ what: String, mayHaveBlanks: Bool = false) -> [UInt8]? {
    guard let text = text(node, what, limit: 64) else { return nil }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) || mayHaveBlanks && $0 == 0x20 }), text.first != " ",
      text.last != " "
    else {
      let blanks = mayHaveBlanks ? "blanks around it" : "blanks"
      report(node.mark, "\(what) must be printable ASCII without \(blanks), not \(Quoted.text(text))")
      return nil
    }
    return Array(text.utf8)
  }
}
