// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension HM10Reply {
  /// Reads one reply, as the codec delivers it. Every input is accepted: a reply of an unknown form becomes `text`.
  public init(decoding bytes: [UInt8]) {
    let line = WireText.withoutLineEnds(bytes[...])
    if let reply = Self.words.first(where: { $0.text.utf8.elementsEqual(line) })?.reply {
      self = reply
    } else if let rest = WireText.rest(of: bytes[...], behind: "OK+") {
      self = Self.record(rest) ?? Self.field(WireText.withoutLineEnds(rest)) ?? .text(bytes)
    } else if let rest = WireText.rest(of: line, behind: "+"), let (name, text) = Self.split(rest, at: ":=") {
      self = .clone(name: name, text: text)
    } else {
      self = .text(bytes)
    }
  }

  /// The replies in bytes that silence ended and that begin with something else: noise, or the rest of a reply that has
  /// lost bytes. The bytes in front of a known reply become a reply of their own.
  ///
  /// The name of another device can look like replies. So use this during a scan, and not for bytes that may be a
  /// user's data.
  public static func replies(inGarbled bytes: [UInt8]) -> [HM10Reply] {
    let first = HM10Reply(decoding: bytes)
    guard case .text = first else { return [first] }
    var replies: [HM10Reply] = []
    var rest = bytes[...]
    while let start = rest.dropFirst().indices.first(where: { rest[$0...].starts(with: "OK+".utf8) }) {
      var codec = HM10Dialect.genuine.codec
      var batch = FrameBatch<ReplyEnd>()
      codec.decode(Array(rest[start...]).span.bytes, into: &batch)
      codec.idle(into: &batch)
      let found = (0..<batch.count).filter { batch.outcome(at: $0) == .whole }.map { batch.payloadBytes(at: $0) }
      let known = found.map { HM10Reply(decoding: $0) }
      replies.append(HM10Reply(decoding: Array(rest[..<start])))
      guard let last = known.last, case .text = last else { return replies + known }
      // The last reply is garbled as well: search in the rest.
      replies += known.dropLast()
      rest = found[found.count - 1][...]
    }
    return replies + [.text(Array(rest))]
  }

  /// The bytes that a genuine module sends.
  public var encoded: [UInt8] {
    switch self {
    case .name(let name): Array("OK+NAME:\(name)".utf8) + WireText.lineEnd
    case .discovery(.advertisement(let advertisement)): Array("OK+DISA:".utf8) + advertisement.bytes
    case .text(let bytes): bytes
    default: Array(line.utf8)
    }
  }

  private var line: String {
    switch self {
    case .get(let text): "OK+Get:" + text
    case .set(let text): "OK+Set:" + text
    case .address(let address): "OK+ADDR:" + address.digits
    case .lastAddress(let address): "OK+RADD:" + address.digits
    case .battery(let percent): "OK+BATT:" + WireText.decimal(percent, digits: 3)
    case .signalStrength(let strength): "OK+RSSI:" + WireText.decimal(strength, digits: 3)
    case .connection(.made(.some(let address))): "OK+CONN:" + address.digits
    case .connection(.tryingIndex(let index)): "OK+CONN\(index)"
    case .discovery(.found(let address, let type)): "OK+DIS\(type.map { String($0) } ?? "C"):" + address.digits
    case .discovery(.beacon(let beacon)): "OK+DISC:" + beacon.text
    case .value(let name, let text): "OK+\(name):\(text)"
    case .clone(let name, let text): "+\(name)=\(text)"
    default: Self.words.first { $0.reply == self }?.text ?? ""
    }
  }

  /// Replies without variable parts.
  private static let words: [(text: String, reply: HM10Reply)] = {
    var words: [(text: String, reply: HM10Reply)] = [
      ("OK", .ok), ("OK+LOST", .lost), ("OK+CONN", .connection(.made(nil))), ("OK+CONNA", .connection(.accepted)),
      ("OK+CONNE", .connection(.error)), ("OK+CONNF", .connection(.failed)), ("OK+CONNL", .connection(.tryingLast)),
      ("OK+CONNN", .connection(.noAddress)), ("OK+DISCE", .discovery(.ended)),
    ]
    for word in Acknowledgement.allCases { words.append(("OK+" + word.rawValue, .acknowledged(word))) }
    for kind in Discovery.Kind.allCases { words.append(("OK+DIS\(kind.rawValue)S", .discovery(.began(kind)))) }
    for index in HM10Limits.indices { words.append(("OK+CONN\(index)", .connection(.tryingIndex(index)))) }
    return words
  }()

  /// Reads the bytes behind `OK+` as a reply that may contain line ends.
  private static func record(_ rest: ArraySlice<UInt8>) -> HM10Reply? {
    guard rest.starts(with: "DISA:".utf8) || rest.starts(with: "DISC:".utf8) else { return nil }
    return HM10Advertisement(decoding: rest.dropFirst(5)).map { .discovery(.advertisement($0)) }
  }

  /// Reads the bytes behind `OK+` as a name and a text.
  private static func field(_ rest: ArraySlice<UInt8>) -> HM10Reply? {
    guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let value = rest[(colon + 1)...]
    let text = String(decoding: value, as: UTF8.self)
    let name = String(decoding: rest[..<colon], as: UTF8.self)
    let known: HM10Reply? =
      switch name {
      case "Get": .get(text)
      case "Set", "SetName": .set(text)
      case "NAME": .name(text)
      case "ADDR": BluetoothAddress(digits: value).map { .address($0) }
      case "RADD": BluetoothAddress(digits: value).map { .lastAddress($0) }
      case "CONN": BluetoothAddress(digits: value).map { .connection(.made($0)) }
      case "BATT": percent(value).map { .battery($0) }
      case "RSSI": strength(value).map { .signalStrength($0) }
      case "DIS0", "DIS1", "DIS2":
        BluetoothAddress(digits: value).map { .discovery(.found($0, type: Int(name.suffix(1)))) }
      case "DISC":
        BluetoothAddress(digits: value).map { .discovery(.found($0, type: nil)) }
          ?? HM10Beacon(decoding: value).map { .discovery(.beacon($0)) }
      default: nil
      }
    return known ?? split(rest, at: ":").map { .value(name: $0.name, text: $0.text) }
  }

  /// Reads three digits, with an optional minus sign. Fewer digits mean that the rest was lost.
  private static func strength(_ digits: ArraySlice<UInt8>) -> Int? {
    digits.count == (digits.first == UInt8(ascii: "-") ? 4 : 3) ? WireText.signed(digits) : nil
  }

  /// Splits the bytes into a word of capitals and digits, one of `separators`, and a text.
  private static func split(_ bytes: ArraySlice<UInt8>, at separators: String) -> (name: String, text: String)? {
    guard let end = bytes.firstIndex(where: { separators.utf8.contains($0) }),
      (1...16).contains(end - bytes.startIndex),
      bytes[..<end].allSatisfy({ (0x41...0x5A).contains($0) || ReplyPattern.Element.digit.matches($0) })
    else { return nil }
    return (
      String(decoding: bytes[..<end], as: UTF8.self), String(decoding: bytes[(end + 1)...], as: UTF8.self)
    )
  }
}
