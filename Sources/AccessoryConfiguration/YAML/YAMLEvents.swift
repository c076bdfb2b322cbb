// SPDX-License-Identifier: Apache-2.0

import CLibyaml

/// The events that libyaml parses from a text. All unsafe use of libyaml is in this file.
///
/// Anchors, aliases and tags are errors: with aliases, a few lines of text can expand to gigabytes.
final class YAMLEvents {
  enum Event: Hashable {
    case streamStart, streamEnd
    case documentStart, documentEnd
    case scalar(String, YAMLNode.Style)
    case sequenceStart, sequenceEnd
    case mappingStart, mappingEnd
  }

  /// Allocated, because libyaml keeps pointers to both.
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let text: UnsafeMutableBufferPointer<UInt8>

  /// Throws when libyaml can't allocate memory, for which `initialize` returns 0.
  init(
    _ bytes: [UInt8], initialize: (UnsafeMutablePointer<yaml_parser_t>) -> CInt = { yaml_parser_initialize($0) }
  ) throws(YAMLError) {
    let text = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    _ = text.initialize(fromContentsOf: bytes)
    let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    guard initialize(parser) != 0 else {
      text.deallocate()
      parser.deallocate()
      throw YAMLError(mark: YAMLMark(line: 1, column: 1), message: "there is no memory to read it")
    }
    // Sets the encoding, because otherwise the first two bytes could select UTF-16.
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, text.baseAddress, text.count)
    // Last, because when an initializer throws after this, `deinit` runs as well and would free both again.
    (self.parser, self.text) = (parser, text)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
    text.deallocate()
  }

  /// The next event and its position. Don't call this again after it has thrown, or after the end of the stream.
  func next() throws(YAMLError) -> (event: Event, mark: YAMLMark) {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) != 0 else { throw failure() }
    defer { yaml_event_delete(&event) }
    let mark = YAMLMark(event.start_mark)
    switch event.type {
    case YAML_STREAM_START_EVENT: return (.streamStart, mark)
    case YAML_STREAM_END_EVENT: return (.streamEnd, mark)
    case YAML_DOCUMENT_START_EVENT: return (.documentStart, mark)
    case YAML_DOCUMENT_END_EVENT: return (.documentEnd, mark)
    case YAML_SEQUENCE_START_EVENT:
      try refuse(event.data.sequence_start.anchor, event.data.sequence_start.tag, mark)
      return (.sequenceStart, mark)
    case YAML_SEQUENCE_END_EVENT: return (.sequenceEnd, mark)
    case YAML_MAPPING_START_EVENT:
      try refuse(event.data.mapping_start.anchor, event.data.mapping_start.tag, mark)
      return (.mappingStart, mark)
    case YAML_MAPPING_END_EVENT: return (.mappingEnd, mark)
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      try refuse(scalar.anchor, scalar.tag, mark)
      let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
      return (.scalar(text, YAMLNode.Style(scalar.style)), mark)
    default:
      throw YAMLError(mark: mark, message: "aliases (*name) are not supported: write the value")
    }
  }

  private func refuse(
    _ anchor: UnsafeMutablePointer<yaml_char_t>?, _ tag: UnsafeMutablePointer<yaml_char_t>?, _ mark: YAMLMark
  ) throws(YAMLError) {
    if anchor != nil { throw YAMLError(mark: mark, message: "anchors (&name) are not supported: write the value") }
    if tag != nil { throw YAMLError(mark: mark, message: "tags (!name) are not supported: leave them out") }
  }

  private func failure() -> YAMLError {
    let parser = parser.pointee
    let problem = parser.problem.map { String(cString: $0) } ?? "there is no memory to read it"
    if parser.error == YAML_READER_ERROR {
      // For bytes that aren't UTF-8 libyaml has no line number, only the offset of a byte, which may be a few bytes too small.
      return YAMLError(mark: mark(atByte: parser.problem_offset), message: "\(problem): it must be UTF-8 text")
    }
    let mark = YAMLMark(parser.problem_mark)
    if let fault = YAMLIndentation.fault(ofLine: mark.line, in: text) { return YAMLError(mark: mark, message: fault) }
    let context = parser.context.map { ", " + String(cString: $0) } ?? ""
    return YAMLError(mark: mark, message: "this is not valid YAML: \(problem)\(context)")
  }

  private func mark(atByte offset: Int) -> YAMLMark {
    let before = text.prefix(offset)
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    // Continuation bytes of a character don't count.
    return YAMLMark(line: line, column: before[start...].count { $0 & 0xC0 != 0x80 } + 1)
  }
}

extension YAMLNode.Style {
  fileprivate init(_ style: yaml_scalar_style_t) {
    self =
      switch style {
      case YAML_PLAIN_SCALAR_STYLE: .plain
      case YAML_DOUBLE_QUOTED_SCALAR_STYLE: .doubleQuoted
      default: .literal
      }
  }
}

extension YAMLMark {
  /// libyaml counts from 0.
  fileprivate init(_ mark: yaml_mark_t) { self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1) }
}
