// SPDX-License-Identifier: Apache-2.0

import AccessoryExport

/// A strict reader of Prometheus text 0.0.4 and of OpenMetrics 1.0: stricter than scrapers are, which let much pass.
struct ExpositionParser {
  struct Sample: Hashable {
    var name: String
    var labels: [String: String]
    var value: Double
  }

  struct Problem: Error, CustomStringConvertible {
    var description: String
  }

  private let format: MetricsFormat
  private(set) var samples: [Sample] = []
  private var kinds: [String: String] = [:]
  private var helps: Set<String> = []
  private var family: String?
  private var finished: Set<String> = []
  private var series: Set<String> = []

  /// Reads a text; throws what is wrong with it.
  init(_ text: String, _ format: MetricsFormat) throws(Problem) {
    self.format = format
    guard text.isEmpty || text.hasSuffix("\n") else { throw Problem(description: "the last line has no end") }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    if format == .openMetrics {
      guard lines.last == "# EOF" else { throw Problem(description: "there is no # EOF at the end") }
      lines.removeLast()
    }
    for line in lines {
      do throws(Problem) {
        if line.hasPrefix("# ") { try metadata(line) } else { try sample(line) }
      } catch {
        throw Problem(description: "\(error): \(line)")
      }
    }
  }

  private mutating func metadata(_ line: Substring) throws(Problem) {
    let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
    guard words.count == 4 else { throw Problem(description: "metadata has a word, a name and a text") }
    let name = String(words[2])
    guard Self.isName(name, colons: true) else { throw Problem(description: "no name") }
    switch words[1] {
    case "HELP":
      if let family { finished.insert(family) }
      guard helps.insert(name).inserted, !finished.contains(name) else { throw Problem(description: "a second family") }
      family = name
      _ = try Self.unescaped(words[3], quotes: format == .openMetrics)
    case "TYPE":
      let known = format == .openMetrics ? ["gauge", "counter", "info"] : ["gauge", "counter"]
      guard family == name, kinds[name] == nil, known.contains(String(words[3])) else {
        throw Problem(description: "TYPE")
      }
      kinds[name] = String(words[3])
      if format == .openMetrics, name.hasSuffix("_total") || name.hasSuffix("_info") {
        throw Problem(description: "the suffix belongs to the samples")
      }
    case "UNIT":
      guard format == .openMetrics, family == name, name.hasSuffix("_" + words[3]) else {
        throw Problem(description: "UNIT")
      }
    default: throw Problem(description: "no metadata")
    }
  }

  private mutating func sample(_ line: Substring) throws(Problem) {
    let name = line.prefix { $0 != "{" && $0 != " " }
    guard Self.isName(String(name), colons: true), let family, let kind = kinds[family] else {
      throw Problem(description: "a sample without a family")
    }
    let suffix = kind == "counter" ? "_total" : kind == "info" ? "_info" : ""
    let expected = format == .openMetrics ? family + suffix : family
    guard name == expected, format == .openMetrics || name.hasSuffix(suffix) else {
      throw Problem(description: "a name of another family")
    }
    var rest = line.dropFirst(name.count)
    var labels: [String: String] = [:]
    if rest.first == "{" {
      rest = rest.dropFirst()
      while true {
        let label = String(rest.prefix { $0 != "=" })
        rest = rest.dropFirst(label.count)
        // Not by characters: a value may begin with a combining mark, which would be one character with the quotation mark.
        guard Self.isName(label, colons: false), rest.utf8.starts(with: "=\"".utf8) else {
          throw Problem(description: "a label")
        }
        rest = Substring(rest.unicodeScalars.dropFirst(2))
        var raw = ""
        var isEscaped = false
        while let scalar = rest.unicodeScalars.first, isEscaped || scalar != "\"" {
          raw.unicodeScalars.append(scalar)
          isEscaped = !isEscaped && scalar == "\\"
          rest = Substring(rest.unicodeScalars.dropFirst())
        }
        guard rest.unicodeScalars.first == "\"" else { throw Problem(description: "a label without end") }
        rest = Substring(rest.unicodeScalars.dropFirst())
        guard labels.updateValue(try Self.unescaped(raw[...], quotes: true), forKey: label) == nil else {
          throw Problem(description: "a label twice")
        }
        if rest.first == "," {
          rest = rest.dropFirst()
        } else if rest.first == "}" {
          rest = rest.dropFirst()
          break
        } else {
          throw Problem(description: "what follows a label")
        }
      }
    }
    guard rest.first == " ", let value = Double(rest.dropFirst()), value.isFinite, kind == "gauge" || value >= 0 else {
      throw Problem(description: "a number")
    }
    guard kind != "info" || value == 1 else { throw Problem(description: "an info that is not 1") }
    let key = String(name) + labels.sorted { $0.key < $1.key }.map { "\u{0}\($0.key)\u{0}\($0.value)" }.joined()
    guard series.insert(key).inserted else { throw Problem(description: "a series twice") }
    samples.append(Sample(name: String(name), labels: labels, value: value))
  }

  private static func isName(_ text: String, colons: Bool) -> Bool {
    guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
    return text.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
        || colons && byte == 0x3A
    }
  }

  private static func unescaped(_ text: Substring, quotes: Bool) throws(Problem) -> String {
    var result = ""
    var isEscaped = false
    for scalar in text.unicodeScalars {
      if isEscaped {
        isEscaped = false
        switch scalar {
        case "n": result += "\n"
        case "\\": result += "\\"
        case "\"" where quotes: result += "\""
        default: throw Problem(description: "an escape that there isn't")
        }
      } else if scalar == "\\" {
        isEscaped = true
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    if isEscaped { throw Problem(description: "half an escape") }
    return result
  }
}
