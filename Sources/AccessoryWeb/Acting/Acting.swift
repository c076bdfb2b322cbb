// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryExport
import AccessoryIO

/// The state of a site that performs commands.
struct Acting: Sendable {
  /// The most outcomes that are kept for the page after a form.
  private static let outcomeLimit = 64

  /// A secret in every form. Pages of other sites don't know it, because they can't read this site's pages.
  let secret: WebToken
  /// The rate limit for forms from one address.
  private var pace = Pace(10, every: .seconds(1))
  private var outcomes: [(number: UInt64, key: UInt64, outcome: CommandOutcome)] = []
  private var lastNumber: UInt64 = 0

  init() { secret = .random() }

  /// Throws unless a browser sent this form from a page of this site.
  mutating func check(
    _ request: HTTPRequest, _ body: [UInt8], from origin: FairPlaces.Origin, _ hosts: HostNames, now: MonotonicTime
  ) throws(HTTPRequest.Refusal) -> FormFields {
    guard request.isOfSameOrigin(hosts) else { throw .forbidden }
    guard pace.allows(origin, now: now) else { throw .tooManyRequests }
    pace.count(origin, now: now)
    let type = request.contentType.prefix { $0 != ";" && $0 != " " }
    guard type.lowercased() == "application/x-www-form-urlencoded" else { throw .unsupportedMediaType }
    guard let fields = FormFields(body) else { throw .badRequest }
    guard let shown = fields[CommandForm.form], secret.isEqual(Array(shown.utf8)) else { throw .forbidden }
    return fields
  }

  /// Stores an outcome, and returns its number.
  mutating func keep(_ outcome: CommandOutcome, of key: UInt64) -> UInt64 {
    lastNumber += 1
    outcomes.append((lastNumber, key, outcome))
    if outcomes.count > Self.outcomeLimit { outcomes.removeFirst() }
    return lastNumber
  }

  /// The outcome named by the query `outcome=7` of an accessory's page.
  func outcome(_ query: String, of key: UInt64) -> CommandOutcome? {
    guard query.hasPrefix("outcome="), let number = UInt64(query.dropFirst("outcome=".count)) else { return nil }
    return outcomes.first { $0.number == number && $0.key == key }?.outcome
  }
}
