import TestSupport
import Testing

@Suite struct ConformanceTests {
  @Test(arguments: Conformance.cases) func treeMeetsTheConformanceRules(_ rule: ConformanceCase) throws {
    try check(rule) { source, rule in
      try TreeInProcess(source, file: rule.file, options: rule.options, keepsNodes: true)
    }
  }

  @Test(arguments: Conformance.cases) func treeMeetsTheConformanceRulesWithLittleMemory(_ rule: ConformanceCase) throws
  {
    try check(rule) { source, rule in
      try TreeInProcess(source, file: rule.file, options: rule.options, descriptors: 1, keepsNodes: false)
    }
  }

  private func check(
    _ rule: ConformanceCase, mount: @escaping (SourceFolder, ConformanceCase) throws -> any FileTree
  ) throws {
    do { try rule.run(mount: mount) } catch let missing as CannotBeShown {
      try Test.cancel("\(skipped(missing.reason))")
    }
  }
}
