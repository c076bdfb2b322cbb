// SPDX-License-Identifier: Apache-2.0

/// The service's clients, and what they have open beside their loans. Used on the service's actor only.
struct ServiceClients {
  var count = 0
  /// Those who are told of events.
  var events: EventHub
  /// Files that they supply, by the names of the transfers.
  var supplies: [String: SuppliedFile] = [:]
}
