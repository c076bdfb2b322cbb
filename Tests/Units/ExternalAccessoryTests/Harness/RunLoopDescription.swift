// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Foundation

/// All that is in the current run loop, as it describes itself.
func runLoopDescription() -> String {
  let text = CFCopyDescription(CFRunLoopGetCurrent())
  let length = CFStringGetLength(text)
  var units = [UniChar](repeating: 0, count: length)
  CFStringGetCharacters(text, CFRange(location: 0, length: length), &units)
  return String(decoding: units, as: UTF16.self)
}

/// Has the current run loop return from `run(mode:before:)`, which a timer alone doesn't.
func stopRunLoop() { CFRunLoopStop(CFRunLoopGetCurrent()) }
