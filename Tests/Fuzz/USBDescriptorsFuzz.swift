// SPDX-License-Identifier: Apache-2.0

// A target for libFuzzer: USB descriptors, which are a device's word. Compiled together with the reader's own sources.

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: data, count: count)
  guard let device = USBDescriptorReader.read(bytes) else {
    precondition(count < 18 || bytes[0] < 18 || bytes[1] != 1, "a device descriptor is a device")
    return 0
  }
  // Everything that was read came from bytes of its own.
  var used = 18
  for configuration in device.configurations {
    used += 9
    precondition(configuration.interfaces.count <= USBDescriptorReader.interfaceLimit)
    let settings = Set(configuration.interfaces.map { Int($0.number) << 8 | Int($0.alternateSetting) })
    precondition(settings.count == configuration.interfaces.count, "no setting is there twice")
    for interface in configuration.interfaces {
      used += 9 + 7 * interface.endpoints.count
      precondition(interface.endpoints.count <= USBDescriptorReader.endpointLimit)
      precondition(Set(interface.endpoints.map(\.address)).count == interface.endpoints.count)
      for endpoint in interface.endpoints {
        precondition((1...15).contains(endpoint.number) && endpoint.maxPacketSize <= 0x7FF)
        precondition((1...3).contains(endpoint.packetsPerInterval))
      }
      precondition(!interface.hasPair || interface.endpoint(.in)!.direction == .in)
    }
  }
  precondition(used <= count, "nothing is made up")
  return 0
}
