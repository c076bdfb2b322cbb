// SPDX-License-Identifier: Apache-2.0

// A target for libFuzzer: the YAML reader of profiles. Compiled together with the reader's own sources, and with libyaml
// as the system has it.

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  do throws(YAMLError) {
    var nodes = 0
    check(try YAMLReader.read(bytes), depth: 0, &nodes)
    precondition(nodes <= YAMLReader.nodeLimit)
  } catch {
    precondition(error.mark.line >= 1 && error.mark.column >= 1 && !error.message.isEmpty)
    // A line has at least an end, which may be one byte; libyaml may be at the beginning of the line behind the last.
    precondition(error.mark.line <= count + 2 && error.mark.column <= count + 2, "the place is in the text")
  }
  return 0
}

/// Every value has a place, and no key is twice in a mapping.
private func check(_ node: YAMLNode, depth: Int, _ nodes: inout Int) {
  nodes += 1
  precondition(depth <= YAMLReader.depthLimit)
  precondition(node.mark.line >= 1 && node.mark.column >= 1)
  switch node.content {
  case .scalar(let text):
    // What is shown of it acts on no terminal and ends no line.
    precondition(Quoted.whole(text).unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
  case .sequence(let elements):
    for element in elements { check(element, depth: depth + 1, &nodes) }
  case .mapping(let entries):
    precondition(Set(entries.map(\.key)).count == entries.count, "no key is twice")
    for entry in entries { check(entry.value, depth: depth + 1, &nodes) }
  }
}
