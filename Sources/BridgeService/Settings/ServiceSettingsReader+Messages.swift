// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore

// The ways to tell people of alarms.
extension ServiceSettingsReader {
  mutating func messages(_ node: YAMLNode) -> [MessageWay] {
    var ways: [MessageWay] = []
    for element in list(node, "messages", limit: ServiceSettings.messageLimit) ?? [] {
      guard let way = way(element) else { continue }
      if ways.contains(where: { $0.name == way.name }) {
        report(element.mark, "there are two ways with the name \(Quoted.text(way.name))")
      }
      ways.append(way)
    }
    return ways
  }

  private mutating func way(_ node: YAMLNode) -> MessageWay? {
    guard let fields = fields(node, "an entry of messages", Self.messageKeys) else { return nil }
    let given = Self.wayKeys.filter { fields[$0] != nil }
    guard given.count == 1, let key = given.first, let target = fields[key] else {
      report(node.mark, "an entry names its way by one of \(Self.wayKeys.joined(separator: ", "))")
      return nil
    }
    let isOnNetwork = key == "ntfy" || key == "webhook"
    for (other, isFitting) in [("token_file", isOnNetwork), ("from", key == "mail")] where !isFitting {
      if let field = fields[other] { report(field.mark, "\(other) doesn't belong to \(key)") }
    }
    let tokenFile = fields["token_file"].flatMap { path($0, "token_file") }
    let repetition = fields["repeat"].flatMap { time($0, "repeat", .seconds(60)...(.seconds(604_800))) }
    let name = fields["name"].map { text($0, "a way's name", limit: 64) } ?? key
    guard let kind = kind(key, target, fields), let name else { return nil }
    if name == "none" { report(node.mark, "no way can have the name none") }
    return MessageWay(name, kind, tokenFile: tokenFile, repetition: repetition)
  }

  private mutating func kind(_ key: String, _ node: YAMLNode, _ fields: [String: YAMLNode]) -> MessageWay.Kind? {
    switch key {
    case "ntfy":
      guard let url = url(node, "ntfy", fields) else { return nil }
      let parts = url.split(separator: "/", omittingEmptySubsequences: false)
      let topic = parts.count > 3 ? parts[parts.count - 1] : ""
      guard !topic.isEmpty, topic.utf8.allSatisfy({ Self.isTopic($0) }), topic.utf8.count <= 64 else {
        report(node.mark, "ntfy must end with the topic, of letters, digits, - and _: https://ntfy.sh/my-topic")
        return nil
      }
      return .ntfy(url: url)
    case "webhook": return url(node, "webhook", fields).map { .webhook(url: $0) }
    case "mail":
      let sender = fields["from"].map { address($0, "from") }
      guard let address = address(node, "mail") else { return nil }
      return .mail(to: address, from: sender ?? nil)
    default: return path(node, "run").map { .run(program: $0) }
    }
  }

  private static func isTopic(_ byte: UInt8) -> Bool { byte.isLetterOrDigit(or: "-_") }

  private mutating func url(_ node: YAMLNode, _ key: String, _ fields: [String: YAMLNode]) -> String? {
    guard let url = text(node, "a URL", limit: 1_024) else { return nil }
    guard let problem = MessageWay.problem(ofURL: url, hasToken: fields["token_file"] != nil) else { return url }
    // The URL itself may be a secret, as a webhook's often is.
    report(node.mark, "\(key) can't use this URL: \(problem)")
    return nil
  }

  private mutating func address(_ node: YAMLNode, _ key: String) -> String? {
    guard let text = text(node, "a mail address", limit: 254) else { return nil }
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    let isFine = text.utf8.allSatisfy { byte in
      byte > 0x20 && byte < 0x7F && !#"<>(),;:\""#.utf8.contains(byte)
    }
    // A user of this machine has no domain.
    guard isFine, parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }), !text.hasPrefix("-") else {
      report(node.mark, "\(key) must be one mail address, like owner@example.org, not \(Quoted.text(text))")
      return nil
    }
    return text
  }

  private mutating func path(_ node: YAMLNode, _ key: String) -> String? {
    guard let path = text(node, "a path", limit: 1_024) else { return nil }
    guard path.hasPrefix("/") else {
      report(node.mark, "\(key) must be a path from the root, not \(Quoted.text(path))")
      return nil
    }
    return path
  }
}
