// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

// Lines whose profiles say `units: scan`: all numbers are asked once, then one now and then.

extension BridgeService {
  /// What is known of the accessories on a line; a search for them begins, unless there is one.
  func searched(_ line: Device, _ profile: Profile, isByHand: Bool, chosen: String? = nil) -> [Device] {
    let target = profile.choosingTransport(line)
    if let search = searches[target.address], search.line == line { return search.accessories }
    guard let units = drivers.driver(for: line, profile)?.units else { return [] }
    endSearch(line)
    searches[target.address] = UnitSearch(
      line, units.scan, taps: taps(for: line), chosenProfile: chosen, isByHand: isByHand)
    log.info("\(SafeText.escape(line.id)): looking for units \(units.scan.lowerBound) to \(units.scan.upperBound)")
    goOn(target.address)
    return []
  }

  /// The line is gone.
  func endSearch(_ line: Device) {
    for (address, search) in searches where search.line == line {
      search.task?.cancel()
      if let timer = search.timer { clock.cancel(timer) }
      searches[address] = nil
      if !attachments.values.contains(where: { $0.taps === search.taps }) { search.taps.end() }
    }
  }

  /// Nothing is searched for any more.
  func endSearches() { for search in searches.values { endSearch(search.line) } }

  private func goOn(_ address: DeviceAddress) {
    guard !isClosing, let search = searches[address] else { return }
    let line = search.line
    guard let profile = profile(of: search), profile.units == .scan else { return endSearch(line) }
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
        try await opener.search(numbers) { await self.found($0, address, line) }
      } catch {
        failure = error
      }
      await self.searchEnded(address, line, failure)
    }
  }

  private func found(_ unit: Int, _ address: DeviceAddress, _ line: Device) {
    guard !isClosing, searches[address]?.line == line, searches[address]?.add(unit) == true else { return }
    log.notice("\(SafeText.escape(line.id)): there is a unit \(unit)")
    guard let search = searches[address], search.isByHand else { return take(found: line.onLine(unit: unit)) }
    let device = line.onLine(unit: unit)
    if attachment(holding: device) == nil {
      attach(device, profile(of: search), isByHand: true, chosenProfile: search.chosenProfile)
    }
  }

  private func profile(of search: UnitSearch) -> Profile? {
    search.chosenProfile.map { profiles.profile(named: $0) } ?? profiles.profile(for: search.line)
  }

  private func searchEnded(_ address: DeviceAddress, _ line: Device, _ error: AccessoryError?) {
    guard !isClosing, var search = searches[address], search.line == line else { return }
    let wasComplete = search.isComplete
    search.ended(error)
    searches[address] = search
    if let error {
      log.debug("\(SafeText.escape(line.id)): looking for units: \(SafeText.escape(error.message, limit: 300))")
      return pause(address, UnitSearch.retry)
    }
    if !wasComplete {
      let units = search.found.isEmpty ? "none" : search.found.map(String.init).joined(separator: ", ")
      log.notice("\(SafeText.escape(line.id)): all units were asked; there are: \(units)")
    }
    pause(address, UnitSearch.pause)
  }

  private func pause(_ address: DeviceAddress, _ time: Duration) {
    searches[address]?.timer = clock.schedule(at: clock.now + time) { [weak self] in self?.post { $0.goOn(address) } }
  }
}
