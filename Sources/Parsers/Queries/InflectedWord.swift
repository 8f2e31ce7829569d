/// The inflected forms of an English word, such as plural and past.
///
/// The query is expanded to all forms, so the index is independent of this. Only spelling rules are applied: irregular
/// forms are unknown. A form that is not a word matches nothing.
package enum InflectedWord {
  /// Returns `word`, followed by its other forms: `underrun` yields `underruns`, and vice versa.
  package static func forms(of word: String) -> [String] {
    let word = word.lowercased()
    guard word.utf8.count >= 3, word.utf8.allSatisfy({ (0x61...0x7a).contains($0) }) else { return [word] }
    var forms = [word]
    for base in bases(of: word) {
      for form in inflections(of: base) where !forms.contains(form) { forms.append(form) }
    }
    return forms
  }

  /// Returns the words that this may be a form of, including itself.
  private static func bases(of word: String) -> [String] {
    var bases = [word]
    func add(_ base: String) { if base.utf8.count >= 3, !bases.contains(base) { bases.append(base) } }
    func stem(_ ending: String) -> String? { word.hasSuffix(ending) ? String(word.dropLast(ending.count)) : nil }
    if let stem = stem("ies") ?? stem("ied") { add(stem + "y") }
    if !word.hasSuffix("ss"), let stem = stem("s") { add(stem) }
    if let stem = stem("es"), ["s", "x", "z", "ch", "sh", "o"].contains(where: { stem.hasSuffix($0) }) { add(stem) }
    for ending in ["ed", "ing"] {
      guard let stem = stem(ending), stem.contains(where: { "aeiouy".contains($0) }) else { continue }
      if let last = stem.last, stem.dropLast().last == last, !"aeioulsz".contains(last) {
        add(String(stem.dropLast()))
      } else {
        add(stem)
        add(stem + "e")
      }
    }
    return bases
  }

  private static func inflections(of base: String) -> [String] {
    guard let last = base.last else { return [] }
    let isVowel: (Character) -> Bool = { "aeiou".contains($0) }
    let before = base.dropLast().last
    if last == "y", let before, !isVowel(before) {
      let stem = base.dropLast()
      return [base, stem + "ies", stem + "ied", base + "ing"].map { String($0) }
    }
    if last == "e" { return [base, base + "s", base + "d", String(base.dropLast()) + "ing"] }
    let isHissing = ["s", "x", "z", "ch", "sh"].contains { base.hasSuffix($0) }
    var forms = [base, base + (isHissing ? "es" : "s"), base + "ed", base + "ing"]
    // Run, running.
    if !isVowel(last), !"wxy".contains(last), let before, isVowel(before),
      !(base.dropLast(2).last.map(isVowel) ?? false)
    {
      forms += [base + "\(last)ed", base + "\(last)ing"]
    }
    return forms
  }
}
