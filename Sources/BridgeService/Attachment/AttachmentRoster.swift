// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

/// All attachments, indexed by key, identity and place, and counted by state. Lookups don't visit every attachment, because thousands
/// of devices may come and go at once. Used on the service's actor only.
final class AttachmentRoster {
  /// An attachment as it is listed.
  private struct Entry {
    let attachment: Attachment
    let id: String
    /// All paths and addresses by which another device can be seen to be the same one, or on the same line.
    let places: Set<String>
    let profile: String?
    var state: AttachmentMachine.State
    /// Whether it waits for a free place among the attached accessories.
    var isRefused: Bool

    init(_ attachment: Attachment) {
      self.attachment = attachment
      id = attachment.device.id
      places = attachment.device.places.union([attachment.target.address.ofAnyAdapter.description])
      profile = attachment.profile?.name
      (state, isRefused) = (attachment.machine.state, attachment.machine.awaitsPlace)
    }
  }

  private var lastKey = 0
  private var entries: [Int: Entry] = [:]
  /// The keys in the order of arrival, in which they increase.
  private var keys: [Int] = []
  private var byID: [String: Set<Int>] = [:]
  private var byPlace: [String: Set<Int>] = [:]
  private var byState: [AttachmentMachine.State: Int] = [:]
  /// The number of attachments that have a place among the attached accessories, by the names of their profiles.
  private var holding: [String?: Int] = [:]
  /// The keys of those that wait for a place, in the order of arrival, by the names of their profiles.
  private var refused: [String?: [Int]] = [:]
  private var taps: [ObjectIdentifier: Int] = [:]

  // MARK: - Changes

  /// The key of the next attachment: they increase in the order of arrival.
  func nextKey() -> Int {
    lastKey += 1
    return lastKey
  }

  func add(_ attachment: Attachment) {
    entries[attachment.key] = Entry(attachment)
    Self.insert(attachment.key, into: &keys)
    taps[ObjectIdentifier(attachment.contact.taps), default: 0] += 1
    list(attachment.key)
    attachment.roster = self
  }

  func remove(_ attachment: Attachment) {
    unlist(attachment.key)
    guard entries.removeValue(forKey: attachment.key) != nil else { return }
    attachment.roster = nil
    Self.remove(attachment.key, from: &keys)
    Self.take(ObjectIdentifier(attachment.contact.taps), from: &taps)
  }

  /// Updates the index after an attachment's device or profile has changed.
  func placeChanged(of attachment: Attachment) {
    guard entries[attachment.key] != nil else { return }
    unlist(attachment.key)
    entries[attachment.key] = Entry(attachment)
    list(attachment.key)
  }

  /// Updates the counts after an attachment's state has changed.
  func stateChanged(of attachment: Attachment) {
    let (state, isRefused) = (attachment.machine.state, attachment.machine.awaitsPlace)
    guard let entry = entries[attachment.key], entry.state != state || entry.isRefused != isRefused else { return }
    count(entry, false)
    entries[attachment.key]?.state = state
    entries[attachment.key]?.isRefused = isRefused
    if let entry = entries[attachment.key] { count(entry, true) }
  }

  private func list(_ key: Int) {
    guard let entry = entries[key] else { return }
    byID[entry.id, default: []].insert(key)
    for place in entry.places { byPlace[place, default: []].insert(key) }
    count(entry, true)
  }

  private func unlist(_ key: Int) {
    guard let entry = entries[key] else { return }
    Self.remove(key, from: &byID, entry.id)
    for place in entry.places { Self.remove(key, from: &byPlace, place) }
    count(entry, false)
  }

  private func count(_ entry: Entry, _ isListed: Bool) {
    let change = isListed ? 1 : -1
    byState[entry.state, default: 0] += change
    if entry.state != .failed { holding[entry.profile, default: 0] += change }
    guard entry.isRefused else { return }
    if isListed {
      Self.insert(entry.attachment.key, into: &refused[entry.profile, default: []])
    } else {
      Self.remove(entry.attachment.key, from: &refused[entry.profile, default: []])
      if refused[entry.profile] == [] { refused[entry.profile] = nil }
    }
  }

  // MARK: - Sorted keys and counts

  private static func place(of key: Int, in keys: [Int]) -> Int {
    var range = 0..<keys.count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range = keys[middle] < key ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  private static func insert(_ key: Int, into keys: inout [Int]) { keys.insert(key, at: place(of: key, in: keys)) }

  private static func remove(_ key: Int, from keys: inout [Int]) {
    let index = place(of: key, in: keys)
    if index < keys.count, keys[index] == key { keys.remove(at: index) }
  }

  private static func remove(_ key: Int, from index: inout [String: Set<Int>], _ name: String) {
    index[name]?.remove(key)
    if index[name]?.isEmpty == true { index[name] = nil }
  }

  private static func take<Name: Hashable>(_ name: Name, from counts: inout [Name: Int]) {
    let count = counts[name, default: 0] - 1
    counts[name] = count > 0 ? count : nil
  }

  // MARK: - Finding

  subscript(key: Int) -> Attachment? { entries[key]?.attachment }

  /// Whether the attachment wasn't released.
  func contains(_ attachment: Attachment) -> Bool { self[attachment.key] === attachment }

  var count: Int { entries.count }

  /// The attachments in the order of arrival.
  var ordered: [Attachment] { attachments(keys) }

  private func attachments(_ keys: some Sequence<Int>) -> [Attachment] { keys.compactMap { self[$0] } }

  /// The attachments that share an address with a device, in the order of arrival. They include all on its line.
  private func near(_ places: Set<String>, _ isMeant: (Attachment) -> Bool) -> [Attachment] {
    attachments(places.reduce(into: Set()) { $0.formUnion(byPlace[$1] ?? []) }.sorted()).filter(isMeant)
  }

  /// The attachment of this device if the device is present.
  func holding(_ device: Device) -> Attachment? {
    near(device.places) { $0.machine.isPresent && $0.isSame(device) }.first
  }

  /// The attachment of an unplugged accessory with the identity of `device`.
  func awaiting(_ device: Device) -> Attachment? {
    attachments((byID[device.id] ?? []).sorted()).first { !$0.machine.isPresent }
  }

  /// The attachments of present accessories on a line, in the order of arrival.
  func held(on line: Device) -> [Attachment] { near(line.places) { $0.machine.isPresent && $0.device.line == line } }

  /// The units on a device's line, in the order of arrival.
  func units(onLineOf device: Device) -> [Attachment] {
    near(device.places) { $0.device.unit != nil && $0.device.isOnLine(of: device) }
  }

  /// The other units on an attachment's line, in the order of arrival.
  func others(onLineOf attachment: Attachment) -> [Attachment] {
    near(Entry(attachment).places) { $0 !== attachment && $0.sharesLine(with: attachment) }
  }

  /// Whether an accessory on a device's line is lent.
  func isLent(onLineOf line: Device) -> Bool {
    !near(line.places) { $0.machine.state == .lent && $0.device.isOnLine(of: line) }.isEmpty
  }

  /// Whether an attachment uses the hub.
  func uses(_ hub: TapHub) -> Bool { taps[ObjectIdentifier(hub)] != nil }

  // MARK: - Counting

  /// The number of attachments in a state.
  func count(_ state: AttachmentMachine.State) -> Int { byState[state] ?? 0 }

  /// The number of those that have a place among the attached accessories.
  var holdingCount: Int { count - count(.failed) }

  /// The number of those of a profile that have such a place.
  func holdingCount(_ profile: String) -> Int { holding[profile] ?? 0 }

  /// The first of those that wait for a place, of a profile for which `hasRoom` is true.
  func firstRefused(_ hasRoom: (Attachment) -> Bool) -> Attachment? {
    refused.values.compactMap { keys in keys.first.flatMap { self[$0] } }.filter(hasRoom).min { $0.key < $1.key }
  }
}
