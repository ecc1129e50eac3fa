import Foundation
package import ZigguratFiles

extension ImageID {
  /// The same name in Unicode's other normal forms, composed and decomposed. macOS and other systems write one name in
  /// different forms.
  package var otherForms: [ImageID] {
    guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return [] }
    return [text.precomposedStringWithCanonicalMapping, text.decomposedStringWithCanonicalMapping]
      .filter { !$0.utf8.elementsEqual(text.utf8) }.compactMap(ImageID.init)
  }
}
