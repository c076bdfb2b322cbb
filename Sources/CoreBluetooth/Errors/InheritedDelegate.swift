// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Notices delegates whose methods Swift doesn't call. A class that inherits the conformance to a delegate's protocol has the methods
/// that its superclass has; for the others the protocol's defaults are called, even if the class has methods with their names.
/// Objective-C would call those, so programs that come from there may rely on it.
enum InheritedDelegate {
  /// A class, by its identity, and a method of the protocol, by the place of its name.
  private struct Miss: Hashable {
    let type: ObjectIdentifier
    let method: UInt
  }

  /// The most remembered pairs, so that memory stays bounded. Others aren't looked at.
  private static let limit = 1_024
  private static let seen = Locked<Set<Miss>>([])

  /// The default of a delegate's method was called. Where the superclass of the delegate is one, too, which `isDelegate` says, the class
  /// may have such a method. Logged once for a class and a method.
  static func calledDefault(of method: StaticString, _ delegate: AnyObject, _ isDelegate: (Any.Type) -> Bool) {
    let type: AnyObject.Type = Swift.type(of: delegate)
    let miss = Miss(type: ObjectIdentifier(type), method: UInt(bitPattern: method.utf8Start))
    guard seen.withLock({ $0.count < limit && $0.insert(miss).inserted }),
      let parent = Mirror(reflecting: delegate).superclassMirror?.subjectType, isDelegate(parent)
    else { return }
    Misuse.log(
      "\(parent) is a delegate without \(method). If \(type) has it, it isn't called: declare it in \(parent), too, and write override "
        + "in \(type)")
  }
}
