// SPDX-License-Identifier: Apache-2.0

/// Parses YAML texts that users write, within limits.
///
/// Accepts one document of mappings with text as keys, sequences and scalars. Anchors, aliases, tags, merge keys,
/// further documents and duplicate keys are errors.
package enum YAMLReader {
  /// The size of the largest text, in bytes.
  package static let sizeLimit = 65_536
  /// The most values in a text.
  package static let nodeLimit = 4_096
  /// The deepest nesting of mappings and sequences.
  package static let depthLimit = 16

  /// Parses the document in a text.
  package static func read(_ bytes: [UInt8]) throws(YAMLError) -> YAMLNode {
    let start = YAMLMark(line: 1, column: 1)
    guard bytes.count <= sizeLimit else {
      throw YAMLError(mark: start, message: "it is larger than \(sizeLimit / 1024) KiB")
    }
    // Editors on Windows write a byte order mark first, which libyaml would count as indentation of the first key.
    let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    var tree = try Tree(YAMLEvents(hasMark ? Array(bytes.dropFirst(3)) : bytes))
    var (event, mark) = try tree.events.next()
    if event == .streamStart { (event, mark) = try tree.events.next() }
    guard event == .documentStart else { throw YAMLError(mark: mark, message: "there is nothing in it") }
    let node = try tree.value()
    _ = try tree.events.next()
    (event, mark) = try tree.events.next()
    guard event == .streamEnd else {
      throw YAMLError(mark: mark, message: "a second document begins here: a file can have only one")
    }
    return node
  }

  private struct Tree {
    let events: YAMLEvents
    var nodes = 0

    init(_ events: YAMLEvents) { self.events = events }

    mutating func value() throws(YAMLError) -> YAMLNode {
      let (event, mark) = try events.next()
      return try value(event, mark, depth: 0)
    }

    private mutating func value(
      _ event: YAMLEvents.Event, _ mark: YAMLMark, depth: Int
    ) throws(YAMLError) -> YAMLNode {
      nodes += 1
      guard nodes <= nodeLimit else { throw YAMLError(mark: mark, message: "it has more than \(nodeLimit) values") }
      if case .scalar(let text, let style) = event { return YAMLNode(content: .scalar(text), mark: mark, style: style) }
      guard depth < depthLimit else {
        throw YAMLError(mark: mark, message: "values are nested more than \(depthLimit) deep")
      }
      return YAMLNode(
        content: event == .mappingStart ? .mapping(try entries(depth)) : .sequence(try elements(depth)), mark: mark)
    }

    private mutating func elements(_ depth: Int) throws(YAMLError) -> [YAMLNode] {
      var elements: [YAMLNode] = []
      while true {
        let (event, mark) = try events.next()
        if event == .sequenceEnd { return elements }
        elements.append(try value(event, mark, depth: depth + 1))
      }
    }

    private mutating func entries(_ depth: Int) throws(YAMLError) -> [YAMLNode.Entry] {
      var entries: [YAMLNode.Entry] = []
      var lines: [String: Int] = [:]
      while true {
        let (event, mark) = try events.next()
        if event == .mappingEnd { return entries }
        guard case .scalar(let key, _) = event else {
          throw YAMLError(mark: mark, message: "a key is text, not a mapping or a sequence")
        }
        if key == "<<" { throw YAMLError(mark: mark, message: "merge keys (<<) are not supported: write the values") }
        if let line = lines.updateValue(mark.line, forKey: key) {
          throw YAMLError(mark: mark, message: "the key \(Quoted.text(key)) is already defined in line \(line)")
        }
        let (valueEvent, valueMark) = try events.next()
        let node = try value(valueEvent, valueMark, depth: depth + 1)
        entries.append(YAMLNode.Entry(key: key, mark: mark, value: node))
      }
    }
  }
}
