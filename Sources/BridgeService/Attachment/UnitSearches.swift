// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

/// The searches for units on lines whose profile says `units: scan`. All numbers are asked once, then one number at a time,
/// with pauses. Used on the service's actor only.
final class UnitSearches {
  /// By the address of the line.
  private var searches: [DeviceAddress: UnitSearch] = [:]
  private var nextKey = 0

  /// Whether a search uses the hub.
  func uses(_ hub: TapHub) -> Bool { searches.values.contains { $0.taps === hub } }

  /// The hub for the traffic of a device's line; nil where no search runs on it.
  func taps(for device: Device) -> TapHub? { searches.values.first { $0.line.isOnLine(of: device) }?.taps }

  /// Whether a search runs on this line.
  func contains(_ line: Device) -> Bool { searches.values.contains { $0.line == line } }

  /// Returns when all numbers of the line at this address were asked once, with the accessories that were found.
  func finish(at address: DeviceAddress, on service: isolated BridgeService) async -> [Device] {
    await searches[address]?.task?.value
    return searches[address]?.accessories ?? []
  }

  /// The accessories that were found on a line. Begins a search, unless one is running.
  func accessories(
    on line: Device, _ profile: Profile, isByHand: Bool, chosen: String? = nil, on service: isolated BridgeService
  ) -> [Device] {
    let target = profile.choosingTransport(line)
    if let search = searches[target.address], search.line == line { return search.accessories }
    guard let units = service.drivers.driver(for: line, profile)?.units else { return [] }
    end(line, on: service)
    nextKey += 1
    searches[target.address] = UnitSearch(
      nextKey, line, units.scan, taps: service.taps(for: line), chosenProfile: chosen, isByHand: isByHand)
    service.log.info(
      "\(SafeText.escape(line.id)): looking for units \(units.scan.lowerBound) to \(units.scan.upperBound)")
    next(target.address, on: service)
    return []
  }

  /// Ends the search on a line. Returns the tasks that still ask; they end soon, and then the line is free.
  @discardableResult
  func end(_ line: Device, on service: isolated BridgeService) -> [Task<Void, Never>] {
    var asking: [Task<Void, Never>] = []
    for (address, search) in searches where search.line == line {
      search.task?.cancel()
      asking += [search.task].compactMap { $0 }
      if let timer = search.timer { service.clock.cancel(timer) }
      searches[address] = nil
      if !service.isUsed(search.taps) { search.taps.end() }
    }
    return asking
  }

  /// Interrupts the search on a line that is needed for something else; it continues later. Returns when the line is
  /// free.
  func pause(_ line: Device, on service: isolated BridgeService) async {
    for search in searches.values where search.line == line {
      search.task?.cancel()
      await search.task?.value
    }
  }

  func end(on service: isolated BridgeService) { for search in searches.values { end(search.line, on: service) } }

  private func next(_ address: DeviceAddress, on service: isolated BridgeService) {
    guard !service.isClosing, let search = searches[address] else { return }
    let (key, line) = (search.key, search.line)
    guard let profile = profile(of: search, on: service), profile.units == .scan else {
      end(line, on: service)
      return
    }
    guard !service.attachments.isLent(onLineOf: line) else {
      return wait(address, UnitSearch.retry, on: service)
    }
    var opener = DeviceOpener(
      profile.choosingTransport(line), profile: profile, isChosen: true, drivers: service.drivers)
    opener.tap = search.taps
    (opener.io, opener.clock) = (service.io, service.clock)
    guard let numbers = searches[address]?.take(), !numbers.isEmpty else {
      return wait(address, UnitSearch.pause, on: service)
    }
    searches[address]?.task = service.run { [opener] in
      var failure: AccessoryError?
      do throws(AccessoryError) {
        try await opener.search(numbers) { unit in
          await service.enter { $0.found.searches.found(unit, address, key, on: $0) }
        }
      } catch {
        failure = error
      }
      await service.enter { [failure] in $0.found.searches.ended(address, key, failure, on: $0) }
    }
  }

  private func found(_ unit: Int, _ address: DeviceAddress, _ key: Int, on service: isolated BridgeService) {
    guard !service.isClosing, searches[address]?.key == key, searches[address]?.add(unit) == true,
      let search = searches[address]
    else { return }
    let device = search.line.onLine(unit: unit)
    service.log.notice("\(SafeText.escape(search.line.id)): found unit \(unit)")
    guard search.isByHand else { return service.take(found: device) }
    if service.attachments.holding(device) == nil {
      service.attach(device, profile(of: search, on: service), isByHand: true, chosenProfile: search.chosenProfile)
    }
  }

  private func profile(of search: UnitSearch, on service: isolated BridgeService) -> Profile? {
    search.chosenProfile.map { service.profiles.profile(named: $0) } ?? service.profiles.profile(for: search.line)
  }

  private func ended(
    _ address: DeviceAddress, _ key: Int, _ error: AccessoryError?, on service: isolated BridgeService
  ) {
    guard !service.isClosing, var search = searches[address], search.key == key else { return }
    let line = search.line
    let wasComplete = search.isComplete
    search.ended(error)
    searches[address] = search
    if let error {
      service.log.debug(
        "\(SafeText.escape(line.id)): the search for units failed: \(SafeText.escape(error.message, limit: 300))")
      return wait(address, UnitSearch.retry, on: service)
    }
    if !wasComplete {
      let units = search.found.isEmpty ? "none" : search.found.map(String.init).joined(separator: ", ")
      service.log.notice("\(SafeText.escape(line.id)): the search for units has ended; found: \(units)")
    }
    wait(address, UnitSearch.pause, on: service)
  }

  private func wait(_ address: DeviceAddress, _ time: Duration, on service: isolated BridgeService) {
    searches[address]?.timer = service.clock.schedule(at: service.clock.now + time) { [weak service] in
      service?.post { $0.found.searches.next(address, on: $0) }
    }
  }
}
