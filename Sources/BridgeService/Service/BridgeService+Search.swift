// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

// Searching for units on lines whose profile says `units: scan`. All numbers are asked once, then one number at a time,
// with pauses.

extension BridgeService {
  /// The accessories that were found on a line. Begins a search, unless one is running.
  func searched(_ line: Device, _ profile: Profile, isByHand: Bool, chosen: String? = nil) -> [Device] {
    let target = profile.choosingTransport(line)
    if let search = searches[target.address], search.line == line { return search.accessories }
    guard let units = drivers.driver(for: line, profile)?.units else { return [] }
    endSearch(line)
    nextKey += 1
    searches[target.address] = UnitSearch(
      nextKey, line, units.scan, taps: taps(for: line), chosenProfile: chosen, isByHand: isByHand)
    log.info("\(SafeText.escape(line.id)): looking for units \(units.scan.lowerBound) to \(units.scan.upperBound)")
    continueSearch(target.address)
    return []
  }

  /// Ends the search on a line. Returns the tasks that still ask; they end soon, and then the line is free.
  @discardableResult
  func endSearch(_ line: Device) -> [Task<Void, Never>] {
    var asking: [Task<Void, Never>] = []
    for (address, search) in searches where search.line == line {
      search.task?.cancel()
      asking += [search.task].compactMap { $0 }
      if let timer = search.timer { clock.cancel(timer) }
      searches[address] = nil
      if !isUsed(search.taps) { search.taps.end() }
    }
    return asking
  }

  /// Interrupts the search on a line that is needed for something else; it continues later. Returns when the line is
  /// free.
  func pauseSearch(_ line: Device) async {
    for search in searches.values where search.line == line {
      search.task?.cancel()
      await search.task?.value
    }
  }

  /// Ends all searches.
  func endSearches() { for search in searches.values { endSearch(search.line) } }

  private func continueSearch(_ address: DeviceAddress) {
    guard !isClosing, let search = searches[address] else { return }
    let (key, line) = (search.key, search.line)
    guard let profile = profile(of: search), profile.units == .scan else {
      endSearch(line)
      return
    }
    guard !attachments.values.contains(where: { $0.machine.state == .lent && $0.device.isOnLine(of: line) }) else {
      return pause(address, UnitSearch.retry)
    }
    var opener = DeviceOpener(
      profile.choosingTransport(line), profile: profile, isChosen: true, drivers: drivers)
    opener.tap = search.taps
    (opener.io, opener.clock) = (io, clock)
    guard let numbers = searches[address]?.take(), !numbers.isEmpty else { return pause(address, UnitSearch.pause) }
    searches[address]?.task = run { [opener] in
      var failure: AccessoryError?
      do throws(AccessoryError) {
        try await opener.search(numbers) { await self.found($0, address, key) }
      } catch {
        failure = error
      }
      await self.searchEnded(address, key, failure)
    }
  }

  private func found(_ unit: Int, _ address: DeviceAddress, _ key: Int) {
    guard !isClosing, searches[address]?.key == key, searches[address]?.add(unit) == true,
      let search = searches[address]
    else { return }
    let device = search.line.onLine(unit: unit)
    log.notice("\(SafeText.escape(search.line.id)): found unit \(unit)")
    guard search.isByHand else { return take(found: device) }
    if attachment(holding: device) == nil {
      attach(device, profile(of: search), isByHand: true, chosenProfile: search.chosenProfile)
    }
  }

  private func profile(of search: UnitSearch) -> Profile? {
    search.chosenProfile.map { profiles.profile(named: $0) } ?? profiles.profile(for: search.line)
  }

  private func searchEnded(_ address: DeviceAddress, _ key: Int, _ error: AccessoryError?) {
    guard !isClosing, var search = searches[address], search.key == key else { return }
    let line = search.line
    let wasComplete = search.isComplete
    search.ended(error)
    searches[address] = search
    if let error {
      log.debug(
        "\(SafeText.escape(line.id)): the search for units failed: \(SafeText.escape(error.message, limit: 300))")
      return pause(address, UnitSearch.retry)
    }
    if !wasComplete {
      let units = search.found.isEmpty ? "none" : search.found.map(String.init).joined(separator: ", ")
      log.notice("\(SafeText.escape(line.id)): the search for units has ended; found: \(units)")
    }
    pause(address, UnitSearch.pause)
  }

  private func pause(_ address: DeviceAddress, _ time: Duration) {
    searches[address]?.timer = clock.schedule(at: clock.now + time) { [weak self] in
      self?.post { $0.continueSearch(address) }
    }
  }
}
